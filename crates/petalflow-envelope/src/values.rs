//! Values: texts, numbers, truth, equality, paths.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// A text unchanged, and any other value as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => canonical(value).to_string(),
    }
}

/// The value with the names of all objects sorted.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut names: Vec<&String> = object.keys().collect();
            names.sort_unstable();
            let sorted = names
                .into_iter()
                .map(|name| (name.clone(), canonical(&object[name])));
            Value::Object(sorted.collect())
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        value => value.clone(),
    }
}

/// `false`, `null`, zero, and an empty text, list or object are false. Any other value is true.
pub(crate) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// `null`, and an empty text, list or object.
pub(crate) fn is_empty(value: &Value) -> bool {
    !matches!(value, Value::Bool(_) | Value::Number(_)) && !truthy(value)
}

/// Whether two values are equal. Numbers are equal if their values are, so `1` equals `1.0`.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, value)| b.get(name).is_some_and(|other| equal(value, other));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

/// The order of two numbers or two texts. Values of other or different types have none.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// The number of characters, items or entries. Other values have no length.
pub(crate) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(object) => Some(object.len()),
        _ => None,
    }
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
