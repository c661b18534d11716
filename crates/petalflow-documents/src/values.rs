//! Values: texts and paths. Truth, equality and order are those of expressions.

use serde_json::{Map, Value};

pub(crate) use petalflow_document_model::expression::{compare, equal, length, truthy};

/// A text unchanged, and any other value as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => canonical(value).to_string(),
    }
}

/// The value with the names of all objects sorted.
pub(crate) fn canonical(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// `null`, and an empty text, list or object.
pub(crate) fn is_empty(value: &Value) -> bool {
    !matches!(value, Value::Bool(_) | Value::Number(_)) && !truthy(value)
}

/// The name of the type of a value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The value at a path of names separated by dots.
pub(crate) fn get<'v>(object: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut names = path.split('.');
    let first = object.get(names.next()?)?;
    names.try_fold(first, |value, name| value.as_object()?.get(name))
}

/// Sets the value at a path. Objects are created, and other values on the way are replaced.
pub(crate) fn set(object: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((name, rest)) = path.split_once('.') else {
        object.insert(path.into(), value);
        return;
    };
    let next = object.entry(name).or_insert(Value::Null);
    if !next.is_object() {
        *next = Value::Object(Map::new());
    }
    if let Value::Object(next) = next {
        set(next, rest, value);
    }
}

/// Removes the value at a path.
pub(crate) fn remove(object: &mut Map<String, Value>, path: &str) -> Option<Value> {
    match path.split_once('.') {
        None => object.remove(path),
        Some((name, rest)) => remove(object.get_mut(name)?.as_object_mut()?, rest),
    }
}

/// Merges an object into another one, and the objects in them. Other values are replaced.
pub(crate) fn deep_merge(target: &mut Map<String, Value>, source: &Map<String, Value>) {
    for (name, value) in source {
        match (target.get_mut(name), value) {
            (Some(Value::Object(target)), Value::Object(value)) => deep_merge(target, value),
            _ => {
                target.insert(name.clone(), value.clone());
            }
        }
    }
}
