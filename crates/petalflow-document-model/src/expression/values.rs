//! Truth, equality, order and length of values.

use std::cmp::Ordering;

use serde_json::Value;

/// `false`, `null`, zero, and an empty text, list or object are false. Any other value is true.
///
/// ```
/// use petalflow_document_model::expression::truthy;
///
/// assert!(truthy(&"no".into()) && !truthy(&0.into()));
/// ```
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// Whether two values are equal. Numbers are equal if their values are, so `1` equals `1.0`.
///
/// ```
/// use petalflow_document_model::expression::equal;
///
/// assert!(equal(&1.into(), &1.0.into()) && !equal(&1.into(), &"1".into()));
/// ```
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has_equal = |(name, value)| b.get(name).is_some_and(|other| equal(value, other));
            a.len() == b.len() && a.iter().all(has_equal)
        }
        _ => a == b,
    }
}

/// The order of two numbers or two texts. Values of other or different types have none.
///
/// ```
/// use petalflow_document_model::expression::compare;
///
/// assert!(compare(&"a".into(), &"b".into()).is_some_and(|order| order.is_lt()));
/// assert_eq!(compare(&"a".into(), &1.into()), None);
/// ```
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
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
///
/// ```
/// use petalflow_document_model::expression::length;
///
/// assert_eq!(length(&"für".into()), Some(3));
/// ```
pub fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(object) => Some(object.len()),
        _ => None,
    }
}
