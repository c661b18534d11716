//! The value of a key as JSON, without the type that the program gives to it.

use serde_json::{Map, Number, Value, json};

use crate::migration::Log;
use petalflow_store::codec::{CodecError, Json, Reducer};

/// The value of a key. What a function of the program folds is shown as `{"value", "writes"}`, because only the program can
/// fold it. `None` if the key has no value.
pub(in crate::durable) fn value(log: &Log) -> Result<Option<Value>, CodecError> {
    let value = match &log.value {
        Some(bytes) => Some(Json(bytes).value()?),
        None => None,
    };
    let mut writes = Vec::new();
    for bytes in &log.writes {
        writes.extend(parse_writes(&Json(bytes).value()?));
    }
    if writes.is_empty() {
        return Ok(value);
    }
    let reducer = log.outline.as_ref().map(|key| key.reducer);
    let folded = writes
        .iter()
        .try_fold(value.clone(), |value, (overwrite, write)| match reducer {
            _ if *overwrite => Some(Some(write.clone())),
            Some(reducer) => fold_untyped(reducer, value, write).map(Some),
            None => None,
        });
    Ok(folded.unwrap_or_else(|| {
        let writes: Vec<Value> = writes.into_iter().map(|(_, write)| write).collect();
        Some(json!({ "value": value, "writes": writes }))
    }))
}

/// The writes of a task: each with whether it replaces the value whatever the reducer is.
fn parse_writes(writes: &Value) -> Vec<(bool, Value)> {
    let writes = writes.as_array().into_iter().flatten();
    let write = |write: &Value| match write.as_array().map(Vec::as_slice) {
        Some([overwrite, value]) => (overwrite.as_bool().unwrap_or_default(), value.clone()),
        _ => (false, write.clone()),
    };
    writes.map(write).collect()
}

/// The value after a write. `None` if only the program can compute it.
fn fold_untyped(reducer: Reducer, value: Option<Value>, write: &Value) -> Option<Value> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        let is_simple = !matches!(reducer, Reducer::Custom | Reducer::Messages);
        return is_simple.then(|| write.clone());
    };
    match (reducer, value, write) {
        (Reducer::Replace, _, write) => Some(write.clone()),
        (Reducer::First, value, _) => Some(value),
        (Reducer::Append, Value::Array(mut items), Value::Array(more)) => {
            items.extend(more.iter().cloned());
            Some(items.into())
        }
        (Reducer::Append, Value::String(text), Value::String(more)) => Some((text + more).into()),
        (Reducer::Prepend, Value::Array(items), Value::Array(more)) => {
            Some(more.iter().cloned().chain(items).collect())
        }
        (Reducer::Merge, Value::Object(mut entries), Value::Object(more)) => {
            entries.extend(more.clone());
            Some(entries.into())
        }
        (Reducer::Sum, Value::Number(value), Value::Number(write)) => sum(&value, write),
        (Reducer::Min, Value::Number(value), Value::Number(write)) => {
            Some(lesser(&value, write)?.clone().into())
        }
        (Reducer::Max, Value::Number(value), Value::Number(write)) => {
            let lesser = lesser(&value, write)?;
            let larger = if *lesser == value { write } else { &value };
            Some(larger.clone().into())
        }
        _ => None,
    }
}

fn sum(one: &Number, other: &Number) -> Option<Value> {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return Number::from_i128(one.checked_add(other)?).map(Value::Number);
    }
    Number::from_f64(one.as_f64()? + other.as_f64()?).map(Value::Number)
}

fn lesser<'n>(one: &'n Number, other: &'n Number) -> Option<&'n Number> {
    let is_less = match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one <= other,
        _ => one.as_f64()? <= other.as_f64()?,
    };
    Some(if is_less { one } else { other })
}

/// All keys with their values.
pub(in crate::durable) fn values<'l>(
    logs: impl Iterator<Item = (&'l String, &'l Log)>,
) -> Result<Map<String, Value>, CodecError> {
    let mut values = Map::new();
    for (key, log) in logs {
        if let Some(value) = value(log)? {
            values.insert(key.clone(), value);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fold_as_the_reducers_of_a_program_fold_them() {
        let after = |reducer, value, write| fold_untyped(reducer, Some(value), &write);
        let cases = [
            (Reducer::Append, json!([1]), json!([2]), json!([1, 2])),
            (Reducer::Append, json!("a"), json!("b"), json!("ab")),
            (Reducer::Prepend, json!([1]), json!([2]), json!([2, 1])),
            (
                Reducer::Merge,
                json!({"a": 1}),
                json!({"a": 2, "b": 3}),
                json!({"a": 2, "b": 3}),
            ),
            (Reducer::Sum, json!(2), json!(-5), json!(-3)),
            (Reducer::Sum, json!(u64::MAX - 1), json!(1), json!(u64::MAX)),
            (Reducer::Sum, json!(0.5), json!(1), json!(1.5)),
            (Reducer::Min, json!(2), json!(-5), json!(-5)),
            (Reducer::Max, json!(2), json!(7), json!(7)),
            (Reducer::Max, json!(2), json!(1.5), json!(2)),
            (Reducer::First, json!(2), json!(7), json!(2)),
            (Reducer::Replace, json!(2), json!("x"), json!("x")),
        ];
        for (reducer, value, write, expected) in cases {
            let shown = format!("{reducer}: {value} and {write}");
            assert_eq!(after(reducer, value, write), Some(expected), "{shown}");
        }
        assert_eq!(after(Reducer::Custom, json!(2), json!(7)), None);
        assert_eq!(after(Reducer::Messages, json!([]), json!([])), None);
        assert_eq!(after(Reducer::Append, json!(2), json!([7])), None);
        assert_eq!(fold_untyped(Reducer::Sum, None, &json!(3)), Some(json!(3)));
    }
}
