//! Python's comparisons.

use std::cmp::Ordering;

use super::error::DecisionError;
use super::operator::Operator;
use super::value::Value;

/// Applies an operator. `Not` ignores `right`.
pub(super) fn apply(
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<bool, DecisionError> {
    let ordered = |accepts: fn(Ordering) -> bool| {
        order(operator, left, right).map(|order| order.is_some_and(accepts))
    };
    match operator {
        Operator::Equal => Ok(equal(left, right)),
        Operator::NotEqual => Ok(!equal(left, right)),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::LessOrEqual => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(Ordering::is_ge),
        Operator::Not => Ok(!left.is_true()),
        Operator::In => contains(right, left),
        Operator::NotIn => contains(right, left).map(|found| !found),
    }
}

/// Values of unlike types are unequal; numbers and booleans are compared as numbers.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::None, Value::None) => true,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Set(left), Value::Set(right)) => is_subset(left, right) && is_subset(right, left),
        (Value::Dict(left), Value::Dict(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    let other = right.iter().find(|(other, _)| equal(key, other));
                    other.is_some_and(|(_, other)| equal(value, other))
                })
        }
        _ => numbers(left, right) == Some(Ordering::Equal),
    }
}

/// The order of two values; `Ok(None)` where neither is first, such as two sets with different members.
fn order(
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<Option<Ordering>, DecisionError> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Ok(Some(left.cmp(right))),
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
            // As in Python, the first items that differ decide, also if what follows cannot be compared.
            match left
                .iter()
                .zip(right)
                .find(|(left, right)| !equal(left, right))
            {
                Some((left, right)) => order(operator, left, right),
                None => Ok(Some(left.len().cmp(&right.len()))),
            }
        }
        (Value::Set(left), Value::Set(right)) => {
            Ok(match (is_subset(left, right), is_subset(right, left)) {
                (true, true) => Some(Ordering::Equal),
                (true, false) => Some(Ordering::Less),
                (false, true) => Some(Ordering::Greater),
                (false, false) => None,
            })
        }
        _ => match numbers(left, right) {
            Some(order) => Ok(Some(order)),
            None => Err(DecisionError::Unordered {
                operator,
                left: left.type_name(),
                right: right.type_name(),
            }),
        },
    }
}

fn is_subset(part: &[Value], whole: &[Value]) -> bool {
    part.iter()
        .all(|item| whole.iter().any(|other| equal(item, other)))
}

/// The order of two numbers; `None` if one is not a number.
fn numbers(left: &Value, right: &Value) -> Option<Ordering> {
    // Neither JSON nor a literal has a NaN, the only float without an order.
    let floats = |left: f64, right: f64| left.partial_cmp(&right).unwrap_or(Ordering::Equal);
    Some(match (number(left)?, number(right)?) {
        (Number::Int(left), Number::Int(right)) => left.cmp(&right),
        (Number::Float(left), Number::Float(right)) => floats(left, right),
        (Number::Int(left), Number::Float(right)) => whole_and_float(left, right),
        (Number::Float(left), Number::Int(right)) => whole_and_float(right, left).reverse(),
    })
}

enum Number {
    Int(i128),
    Float(f64),
}

fn number(value: &Value) -> Option<Number> {
    Some(match value {
        Value::Bool(value) => Number::Int((*value).into()),
        Value::Int(value) => Number::Int(*value),
        Value::Float(value) => Number::Float(*value),
        _ => return None,
    })
}

/// Compares exactly: a conversion to `f64` would make 2^53 and 2^53 + 1 equal.
fn whole_and_float(whole: i128, float: f64) -> Ordering {
    // 2^127, the first float above all of `i128`.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float >= LIMIT {
        return Ordering::Less;
    }
    if float < -LIMIT {
        return Ordering::Greater;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "in range, and the fraction is compared below"
    )]
    let order = whole.cmp(&(float.trunc() as i128));
    order.then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

fn contains(container: &Value, item: &Value) -> Result<bool, DecisionError> {
    match container {
        Value::List(items) | Value::Tuple(items) => {
            Ok(items.iter().any(|other| equal(item, other)))
        }
        Value::Set(_) | Value::Dict(_) if !item.is_hashable() => Err(DecisionError::Unhashable {
            item: item.type_name(),
            container: container.type_name(),
        }),
        Value::Set(items) => Ok(items.iter().any(|other| equal(item, other))),
        Value::Dict(entries) => Ok(entries.iter().any(|(key, _)| equal(item, key))),
        Value::Text(text) => match item {
            Value::Text(part) => Ok(text.contains(part.as_str())),
            _ => Err(DecisionError::NoContainer {
                item: item.type_name(),
                container: "str",
            }),
        },
        _ => Err(DecisionError::NoContainer {
            item: item.type_name(),
            container: container.type_name(),
        }),
    }
}
