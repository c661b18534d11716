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
/// If there is no such schema: for maps, for any type, and for recursive types.
pub fn strict(schema: &Value) -> Result<Value, NotStrict> {
    let simple = simple(schema);
    if simple.cut {
        return Err(NotStrict("it is recursive or too large".into()));
    }
    if simple.schema.contains_key("anyOf") {
        return Err(NotStrict("it has alternatives".into()));
    }
    let mut path = Vec::new();
    closed(simple.schema, &mut path).map(Value::Object)
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
        if schema.contains_key("properties") || schema.contains_key("items") {
            return refuse(path, "has alternatives with common properties");
        }
        let ways = ways.into_iter().map(|way| match way {
            Value::Object(way) => closed(way, path).map(Value::Object),
            _ => refuse(path, "accepts any type"),
        });
        let ways: Vec<_> = ways.collect::<Result<_, _>>()?;
        schema.remove("type");
        schema.insert("anyOf".into(), ways.into());
    } else {
        let types = types(&schema);
        if types.is_empty() && !schema.contains_key("enum") {
            return refuse(path, "accepts any type");
        }
        if types.iter().any(|name| name == "object") {
            object(&mut schema, path)?;
        } else {
            for keyword in ["properties", "required", "additionalProperties"] {
                schema.remove(keyword);
            }
        }
        if types.iter().any(|name| name == "array") {
            path.push("[]".into());
            let items = match schema.remove("items") {
                Some(Value::Object(items)) => closed(items, path)?,
                _ => return refuse(path, "accepts any type"),
            };
            path.pop();
            schema.insert("items".into(), items.into());
        } else {
            schema.remove("items");
        }
    }
    let known = schema.get("format").and_then(Value::as_str);
    if known.is_some_and(|format| !FORMATS.contains(&format)) {
        hint(&mut schema, &["format"]);
    }
    hint(&mut schema, HINTS);
    Ok(schema)
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
