//! Comparisons.

use std::cmp::Ordering;

use super::functions::Function;
use super::value::Item;

/// Compares as Go does: values of different types cannot be compared. All numbers are of one type, because JSON has one.
pub(super) fn compare(function: Function, arguments: &[Item<'_>]) -> Result<bool, String> {
    let [first, rest @ ..] = arguments else {
        return Ok(false);
    };
    let order = || {
        let second = rest.first().unwrap_or(&Item::Null);
        order(first, second)
    };
    match function {
        Function::Eq => {
            for other in rest {
                if equal(first, other)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Function::Ne => Ok(!equal(first, rest.first().unwrap_or(&Item::Null))?),
        Function::Lt => Ok(order()?.is_lt()),
        Function::Le => Ok(order()?.is_le()),
        Function::Gt => Ok(order()?.is_gt()),
        _ => Ok(order()?.is_ge()),
    }
}

fn equal(a: &Item<'_>, b: &Item<'_>) -> Result<bool, String> {
    match (a, b) {
        (Item::Null, Item::Null) => return Ok(true),
        (Item::Null, _) | (_, Item::Null) => return Ok(false),
        (Item::Bool(a), Item::Bool(b)) => return Ok(a == b),
        _ => {}
    }
    if a.names().is_some() || a.list_len().is_some() {
        return Err(format!("{} cannot be compared with {}", a.kind(), b.kind()));
    }
    Ok(order(a, b)?.is_eq())
}

/// The order of two numbers or two texts.
fn order(a: &Item<'_>, b: &Item<'_>) -> Result<Ordering, String> {
    let found = match (a, b, a.as_str(), b.as_str()) {
        (_, _, Some(a), Some(b)) => Some(a.cmp(b)),
        (Item::Int(a), Item::Int(b), ..) => Some(a.cmp(b)),
        (Item::Float(a), Item::Float(b), ..) => a.partial_cmp(b),
        (Item::Int(a), Item::Float(b), ..) => with_float(*a, *b),
        (Item::Float(a), Item::Int(b), ..) => with_float(*b, *a).map(Ordering::reverse),
        _ => None,
    };
    found.ok_or_else(|| format!("{} cannot be compared with {}", a.kind(), b.kind()))
}

/// Compares without rounding the whole number.
#[allow(clippy::cast_possible_truncation)]
fn with_float(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Saturates, and whole numbers are in the range of 65 bits.
    let truncated = float.trunc() as i128;
    Some(whole.cmp(&truncated).then_with(|| {
        let fraction = float.fract();
        0.0_f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
    }))
}
