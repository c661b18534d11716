//! Numbers as JSON Schema compares them: by value, independent of their type.

use std::cmp::Ordering;

use serde_json::Number;

/// Compares two numbers. Whole numbers are compared exactly.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left).total_cmp(&float(right)),
    }
}

/// The whole number that has the value of a number.
pub(super) fn whole(number: &Number) -> Option<Number> {
    /// The first whole number that a float cannot tell from the next.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_f64() {
        return Some(number.clone());
    }
    let float = float(number);
    if float.fract() != 0.0 || float.abs() >= EXACT {
        return None;
    }
    format!("{float:.0}").parse::<i64>().ok().map(Number::from)
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn large_whole_numbers_are_exact() {
        let (low, high) = (number("9223372036854775807"), number("9223372036854775808"));
        assert_eq!(compare(&low, &high), Ordering::Less);
        assert_eq!(compare(&number("1"), &number("1.0")), Ordering::Equal);
    }

    #[test]
    fn whole_floats_are_whole_numbers() {
        assert_eq!(whole(&number("-3.0")), Some(number("-3")));
        assert_eq!(whole(&number("1e300")), None);
        assert_eq!(whole(&number("0.5")), None);
    }
}
