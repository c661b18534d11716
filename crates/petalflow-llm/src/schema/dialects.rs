//! Forms of schemas that are not strict, as providers accept them.

use serde_json::{Map, Value};

use super::hints::{describe, hint};
use super::simple::simple;

/// Keywords that Gemini ignores. They are moved to the description.
const GEMINI_IGNORES: &[&str] = &[
    "default",
    "pattern",
    "minLength",
    "maxLength",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The schema with the keywords that Gemini documents. It ignores others: without `const`, the tag of an enum could be
/// any text.
pub(crate) fn gemini(neutral: &Value) -> Value {
    let simple = simple(neutral);
    if simple.cut {
        // Gemini follows references, also to schemas that contain them.
        return with_bare_references(neutral);
    }
    let mut schema = Value::Object(simple.schema);
    hints_for_gemini(&mut schema);
    schema
}

fn hints_for_gemini(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    hint(schema, GEMINI_IGNORES);
    if let Some(Value::Array(values)) = schema.get("enum")
        && !values
            .iter()
            .all(|value| value.is_string() || value.is_number() || value.is_null())
    {
        hint(schema, &["enum"]);
    }
    for keyword in ["items", "additionalProperties"] {
        schema
            .get_mut(keyword)
            .into_iter()
            .for_each(hints_for_gemini);
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        ways.iter_mut().for_each(hints_for_gemini);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(hints_for_gemini);
    }
}

/// The schema without keywords beside its references, and with `enum` in place of `const`.
fn with_bare_references(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(with_bare_references).collect(),
        Value::Object(fields) => {
            let is_reference = fields.get("$ref").is_some_and(Value::is_string);
            let fields = fields
                .iter()
                .filter(|(name, _)| !is_reference || name.starts_with('$'));
            let fields = fields.map(|(name, value)| match name.as_str() {
                "const" => ("enum".to_string(), vec![value.clone()].into()),
                _ => (name.clone(), with_bare_references(value)),
            });
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// Keywords that OpenAI and Anthropic refuse at the root of a tool's parameters.
const NOT_AT_ROOT: &[&str] = &["oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"];

/// The longest list of alternatives in a description, in bytes.
const MAX_ALTERNATIVES: usize = 4_000;

/// The schema as an object without alternatives at its root: the properties of all alternatives, of which those in all
/// of them are required. The alternatives are in the description.
pub(crate) fn object(neutral: &Value) -> Value {
    let is_object = neutral["type"] == "object";
    if is_object
        && NOT_AT_ROOT
            .iter()
            .all(|&keyword| neutral.get(keyword).is_none())
    {
        return neutral.clone();
    }
    let mut schema = simple(neutral).schema;
    schema.remove("enum");
    schema.insert("type".into(), "object".into());
    let Some(Value::Array(ways)) = schema.remove("anyOf") else {
        return schema.into();
    };
    let mut properties = taken_object(&mut schema, "properties");
    let mut required = taken_list(&mut schema, "required");
    let mut in_all: Option<Vec<Value>> = None;
    for way in ways.iter().filter_map(Value::as_object) {
        let of_way = way.get("properties").and_then(Value::as_object);
        for (name, property) in of_way.into_iter().flatten() {
            match properties.get_mut(name) {
                None => {
                    properties.insert(name.clone(), property.clone());
                }
                Some(known) if known == property => {}
                Some(known) => *known = either(known.take(), property.clone()),
            }
        }
        let names = way.get("required").and_then(Value::as_array);
        let names = names.cloned().unwrap_or_default();
        in_all = Some(match in_all {
            None => names,
            Some(all) => all
                .into_iter()
                .filter(|name| names.contains(name))
                .collect(),
        });
    }
    for name in in_all.unwrap_or_default() {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
    let ways = Value::Array(ways).to_string();
    if ways.len() <= MAX_ALTERNATIVES {
        describe(&mut schema, &format!("(one of these alternatives: {ways})"));
    }
    schema.into()
}

/// A schema that accepts what either accepts.
fn either(first: Value, second: Value) -> Value {
    let mut ways = match first {
        Value::Object(mut object) if object.len() == 1 && object.contains_key("anyOf") => {
            taken_list(&mut object, "anyOf")
        }
        other => vec![other],
    };
    if !ways.contains(&second) {
        ways.push(second);
    }
    Value::Object(Map::from_iter([("anyOf".to_string(), ways.into())]))
}

fn taken_object(schema: &mut Map<String, Value>, keyword: &str) -> Map<String, Value> {
    match schema.remove(keyword) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn taken_list(schema: &mut Map<String, Value>, keyword: &str) -> Vec<Value> {
    match schema.remove(keyword) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}
