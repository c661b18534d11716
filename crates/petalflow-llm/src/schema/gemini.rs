//! The schema dialect of Gemini's `parameters`: a subset of OpenAPI 3.0.

use serde_json::{Map, Value};

use super::hints::hint;
use super::simple::{simple, types};

/// Moved to the description, because Gemini does not support or ignores them.
const HINTS: &[&str] = &[
    "default",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
];

/// Converts a schema for Gemini's `parameters`: no references, `nullable` instead of `null`, and `enum` of texts only.
/// `None` without arguments: `parameters` is then omitted.
///
/// What the dialect cannot express, such as a recursive type, is left open.
///
/// ```
/// use petalflow_llm::schema;
/// use serde_json::json;
///
/// let neutral = json!({
///     "type": "object",
///     "properties": { "size": { "enum": ["s", "m", null] } },
///     "additionalProperties": false,
/// });
/// let size = json!({ "type": "string", "enum": ["s", "m"], "nullable": true });
/// assert_eq!(schema::gemini(&neutral), Some(json!({ "type": "object", "properties": { "size": size } })));
/// assert_eq!(schema::gemini(&json!({ "type": "object" })), None);
/// ```
pub fn gemini(schema: &Value) -> Option<Value> {
    let mut schema = simple(schema).schema;
    // Arguments are one object, in all alternatives.
    schema
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    let schema = written(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .is_some_and(|properties| !properties.is_empty())
        .then(|| schema.into())
}

fn written(mut schema: Map<String, Value>) -> Map<String, Value> {
    let mut types = types(&schema);
    let mut nullable = types.iter().any(|name| name == "null");
    types.retain(|name| name != "null");
    let mut ways = Vec::new();
    if let Some(Value::Array(all)) = schema.remove("anyOf") {
        for way in all {
            match way {
                Value::Object(way) if way.get("type") == Some(&"null".into()) => nullable = true,
                Value::Object(way) => ways.push(written(way)),
                _ => {}
            }
        }
    }
    if !ways.is_empty() && schema.contains_key("properties") {
        unite(&mut schema, std::mem::take(&mut ways));
        types = vec!["object".into()];
    }
    values(&mut schema, &mut types, &mut nullable);
    schema.remove("type");
    match (ways.len(), types.len()) {
        (0, 0) => ways = anything(),
        (0, 1) => {
            schema.insert("type".into(), types.remove(0).into());
        }
        (0, _) => ways = types.iter().map(|name| of_type(name)).collect(),
        // A single remaining alternative replaces `anyOf`.
        (1, _) => {
            for (keyword, value) in ways.remove(0) {
                schema.entry(keyword).or_insert(value);
            }
        }
        _ => {}
    }
    if !ways.is_empty() {
        let ways = ways.into_iter().map(Value::Object).collect::<Vec<_>>();
        schema.insert("anyOf".into(), ways.into());
    }
    parts(&mut schema);
    let of_text = schema.get("type") == Some(&"string".into());
    if !of_text {
        hint(&mut schema, &["enum"]);
    }
    let known = schema.get("format").and_then(Value::as_str);
    if known.is_some_and(|format| !(of_text && format == "date-time")) {
        hint(&mut schema, &["format"]);
    }
    hint(&mut schema, HINTS);
    if nullable {
        schema.insert("nullable".into(), true.into());
    }
    schema
}

/// Gemini does not support an object with properties of its own and alternatives with more. All properties are merged
/// into one object; those are required that every alternative requires.
fn unite(schema: &mut Map<String, Value>, ways: Vec<Map<String, Value>>) {
    let take = |from: &mut Map<String, Value>| match from.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let names = |from: &Map<String, Value>| match from.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let mut properties = take(schema);
    let mut required = names(schema);
    if let Some((first, others)) = ways.split_first() {
        let mut common = names(first);
        common.retain(|name| others.iter().all(|way| names(way).contains(name)));
        common.retain(|name| !required.contains(name));
        required.extend(common);
    }
    for mut way in ways {
        for (name, property) in take(&mut way) {
            match properties.get_mut(&name) {
                Some(known) => either(known, property),
                None => {
                    properties.insert(name, property);
                }
            }
        }
    }
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
}

/// Accepts one schema or the other; two lists of texts are merged.
fn either(known: &mut Value, other: Value) {
    if *known == other {
        return;
    }
    if let (Some(Value::Array(values)), Some(Value::Array(more))) =
        (known.get("enum").cloned(), other.get("enum"))
    {
        let mut all = values;
        all.extend(
            more.iter()
                .filter(|value| !all.contains(value))
                .cloned()
                .collect::<Vec<_>>(),
        );
        known["enum"] = all.into();
        return;
    }
    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(ways) if !ways.contains(&other) => ways.push(other),
        Some(_) => {}
        None => {
            let ways = vec![known.take(), other];
            *known = Map::from_iter([("anyOf".into(), ways.into())]).into();
        }
    }
}

/// The values of an `enum`, and their types if no type is given.
fn values(schema: &mut Map<String, Value>, types: &mut Vec<String>, nullable: &mut bool) {
    let Some(Value::Array(mut values)) = schema.remove("enum") else {
        return;
    };
    let all = values.len();
    values.retain(|value| !value.is_null());
    *nullable |= values.len() < all;
    if values.is_empty() {
        return;
    }
    let mut found: Vec<String> = values.iter().map(type_of).map(Into::into).collect();
    found.dedup();
    // An `enum` of texts and other values is not supported.
    let of_text = found == ["string"];
    if types.is_empty() || of_text {
        *types = found;
    }
    schema.insert("enum".into(), values.into());
    if !of_text {
        hint(schema, &["enum"]);
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Converts the schemas of properties and items.
fn parts(schema: &mut Map<String, Value>) {
    let is = |name: &str| schema.get("type") == Some(&name.into());
    let (is_object, is_array) = (is("object"), is("array"));
    schema.remove("additionalProperties");
    if !is_object {
        schema.remove("properties");
        schema.remove("required");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            replace(property);
        }
    }
    let names = schema.get("properties").and_then(Value::as_object);
    let names: Vec<_> = names.into_iter().flat_map(Map::keys).cloned().collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        // Gemini rejects a required name without a property.
        required.retain(|name| {
            name.as_str()
                .is_some_and(|name| names.iter().any(|known| known == name))
        });
        if required.is_empty() {
            schema.remove("required");
        }
    }
    if is_array {
        let items = schema.entry("items").or_insert_with(|| Map::new().into());
        replace(items);
    } else {
        schema.remove("items");
    }
}

fn replace(schema: &mut Value) {
    let inner = match schema.take() {
        Value::Object(inner) => inner,
        _ => Map::new(),
    };
    *schema = written(inner).into();
}

fn of_type(name: &str) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".into(), name.into())]);
    if name == "array" {
        schema.insert("items".into(), of_type("string").into());
    }
    schema
}

/// A type is mandatory, and no type accepts all values.
fn anything() -> Vec<Map<String, Value>> {
    ["string", "number", "boolean", "object"]
        .map(of_type)
        .into()
}
