//! The schema dialect of strict modes.

use serde_json::{Map, Value};

use super::hints::hint;
use super::simple::{simple, types};

/// The formats that both OpenAI and Anthropic enforce.
const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// Moved to the description, because not every strict mode supports them.
const HINTS: &[&str] = &[
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The reason why a schema has no strict form. The tool is then sent without `strict`, with its neutral schema.
///
/// ```
/// use petalflow_llm::schema;
/// use serde_json::json;
///
/// let anything = json!({ "type": "object", "properties": { "extra": {} } });
/// let error = schema::strict(&anything).unwrap_err();
/// assert_eq!(error.to_string(), "the schema cannot be strict: `extra` accepts any type");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be strict: {0}")]
pub struct NotStrict(String);

impl std::fmt::Debug for NotStrict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// Converts a schema for strict modes, in which a provider enforces the schema.
///
/// It uses what both OpenAI and Anthropic support: every object is closed, every property is required (an optional one
/// accepts `null`), there are no references, and limits are in the description. A tool of `petalflow` reads `null` as
/// an omitted argument.
///
/// # Errors
///
/// If there is no such schema: for maps, for any type, for recursive types, for a root that is not one object, and for
/// more than OpenAI accepts (10 levels of objects, 5,000 properties, 1,000 values of enums).
pub fn strict(schema: &Value) -> Result<Value, NotStrict> {
    let simple = simple(schema);
    if simple.cut {
        return Err(NotStrict("it is recursive or too large".into()));
    }
    if simple.schema.contains_key("anyOf") {
        return Err(NotStrict("it has alternatives".into()));
    }
    let kinds = types(&simple.schema);
    if !kinds.is_empty() && kinds != ["object"] {
        return Err(NotStrict("it is not an object".into()));
    }
    let mut path = Vec::new();
    let schema = Value::Object(closed(simple.schema, &mut path)?);
    let mut size = Size::default();
    size.add(&schema, 0);
    if !size.is_accepted() {
        return Err(NotStrict("it is recursive or too large".into()));
    }
    Ok(schema)
}

/// The size of a schema, as OpenAI limits it.
#[derive(Default)]
struct Size {
    properties: usize,
    values: usize,
    /// The number of bytes in names of properties and values of enums.
    text: usize,
    depth: usize,
}

impl Size {
    fn add(&mut self, schema: &Value, depth: usize) {
        let Value::Object(schema) = schema else {
            return;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let depth = depth + usize::from(properties.is_some());
        self.depth = self.depth.max(depth);
        for (name, property) in properties.into_iter().flatten() {
            self.properties += 1;
            self.text += name.len();
            self.add(property, depth);
        }
        let values = schema.get("enum").and_then(Value::as_array);
        for value in values.into_iter().flatten() {
            self.values += 1;
            self.text += value.as_str().map_or(0, str::len);
        }
        let ways = schema.get("anyOf").and_then(Value::as_array);
        let inner = ways.into_iter().flatten().chain(schema.get("items"));
        inner.for_each(|schema| self.add(schema, depth));
    }

    fn is_accepted(&self) -> bool {
        self.properties <= 5_000 && self.values <= 1_000 && self.text <= 120_000 && self.depth <= 10
    }
}

/// The path to the current schema, for messages.
type Path = Vec<String>;

fn refuse<T>(path: &Path, problem: &str) -> Result<T, NotStrict> {
    let place = match &path[..] {
        [] => "it".into(),
        path => format!("`{}`", path.join(".")),
    };
    Err(NotStrict(format!("{place} {problem}")))
}

fn closed(
    mut schema: Map<String, Value>,
    path: &mut Path,
) -> Result<Map<String, Value>, NotStrict> {
    if let Some(Value::Array(ways)) = schema.remove("anyOf") {
        alternatives(&mut schema, ways, path)?;
    } else {
        if let Some(Value::Array(values)) = schema.get("enum") {
            if values
                .iter()
                .any(|value| value.is_array() || value.is_object())
            {
                return refuse(path, "has lists or objects as values");
            }
            if !schema.contains_key("type") {
                let types = types_of(values);
                schema.insert("type".into(), types);
            }
        }
        let types = types(&schema);
        if types.is_empty() {
            return refuse(path, "accepts any type");
        }
        if types.iter().any(|name| name == "object") {
            object(&mut schema, path)?;
        } else {
            for keyword in [
                "properties",
                "propertyOrdering",
                "required",
                "additionalProperties",
            ] {
                schema.remove(keyword);
            }
        }
        if types.iter().any(|name| name == "array") {
            array(&mut schema, path)?;
        } else {
            schema.remove("items");
        }
    }
    let known = schema.get("format").and_then(Value::as_str);
    let is_text = types(&schema).iter().any(|name| name == "string");
    if known.is_some_and(|format| !is_text || !FORMATS.contains(&format)) {
        hint(&mut schema, &["format"]);
    }
    hint(&mut schema, HINTS);
    Ok(schema)
}

fn alternatives(
    schema: &mut Map<String, Value>,
    mut ways: Vec<Value>,
    path: &mut Path,
) -> Result<(), NotStrict> {
    let common = schema.contains_key("properties");
    if schema.contains_key("items") || (common && !distribute(schema, &mut ways)) {
        return refuse(path, "has alternatives with common properties");
    }
    let ways = ways.into_iter().map(|way| match way {
        Value::Object(way) => closed(way, path).map(Value::Object),
        _ => refuse(path, "accepts any type"),
    });
    let ways: Vec<_> = ways.collect::<Result<_, _>>()?;
    schema.remove("type");
    schema.insert("anyOf".into(), ways.into());
    Ok(())
}

fn array(schema: &mut Map<String, Value>, path: &mut Path) -> Result<(), NotStrict> {
    path.push("[]".into());
    let items = match schema.remove("items") {
        Some(Value::Object(items)) => closed(items, path)?,
        _ => return refuse(path, "accepts any type"),
    };
    path.pop();
    schema.insert("items".into(), items.into());
    Ok(())
}

/// Moves the common properties of alternatives into each of them. `false` if one of them is not an object with
/// properties of its own.
fn distribute(common: &mut Map<String, Value>, ways: &mut [Value]) -> bool {
    let moved = ["properties", "required", "additionalProperties"];
    let moved: Map<String, Value> = moved
        .into_iter()
        .filter_map(|keyword| Some((keyword.to_string(), common.remove(keyword)?)))
        .collect();
    ways.iter_mut().all(|way| {
        let Value::Object(way) = way else {
            return false;
        };
        let is_object = way.get("type").is_none_or(|kind| kind == "object");
        if !is_object || !way.contains_key("properties") || way.contains_key("anyOf") {
            return false;
        }
        way.insert("type".into(), "object".into());
        for (keyword, value) in &moved {
            match (way.get_mut(keyword), value) {
                (Some(Value::Object(own)), Value::Object(common)) if keyword == "properties" => {
                    for (name, property) in common {
                        own.entry(name).or_insert_with(|| property.clone());
                    }
                }
                (Some(Value::Array(own)), Value::Array(common)) => {
                    let new = common.iter().filter(|name| !own.contains(name));
                    let new: Vec<_> = new.cloned().collect();
                    own.extend(new);
                }
                (Some(_), _) => {}
                (None, value) => {
                    way.insert(keyword.clone(), value.clone());
                }
            }
        }
        true
    })
}

/// The types of these values.
fn types_of(values: &[Value]) -> Value {
    let mut types: Vec<Value> = Vec::new();
    for value in values {
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            _ => "string",
        };
        if !types.contains(&name.into()) {
            types.push(name.into());
        }
    }
    match types.len() {
        1 => types.remove(0),
        _ => types.into(),
    }
}

/// Closes an object: no other properties are allowed, and all are required.
fn object(schema: &mut Map<String, Value>, path: &mut Path) -> Result<(), NotStrict> {
    match schema.insert("additionalProperties".into(), false.into()) {
        None if schema.contains_key("properties") => {}
        Some(Value::Bool(false)) => {}
        _ => return refuse(path, "accepts properties with any name"),
    }
    let required = match schema.remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    let properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut all = Map::new();
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        path.push(name.clone());
        let mut property = closed(property, path)?;
        path.pop();
        if !required.contains(&Value::String(name.clone())) {
            allow_null(&mut property);
        }
        all.insert(name, property.into());
    }
    let names: Vec<_> = all.keys().map(|name| Value::from(name.as_str())).collect();
    schema.insert("required".into(), names.into());
    schema.insert("properties".into(), all.into());
    Ok(())
}

/// Also accepts `null`.
fn allow_null(schema: &mut Map<String, Value>) {
    let null = || Value::from("null");
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&null()) => types.push(null()),
        Some(Value::String(one)) if one != "null" => {
            let types = vec![Value::from(one.as_str()), null()];
            schema.insert("type".into(), types.into());
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        let none: Value = Map::from_iter([("type".into(), null())]).into();
        if !ways.contains(&none) {
            ways.push(none);
        }
    }
}
