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

/// Whether a number is a multiple of another, which is above zero.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (number.as_i128(), of.as_i128()) {
        return of != 0 && number % of == 0;
    }
    let quotient = float(number) / float(of);
    // 0.3 is a multiple of 0.1, although the quotient of the nearest binary numbers is not whole.
    (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
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

/// Whether a number has no fraction.
pub(super) fn is_whole(number: &Number) -> bool {
    !number.is_f64() || float(number).fract() == 0.0
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
        assert!(!is_multiple(&low, &number("2")));
        assert!(is_multiple(&high, &number("2")));
    }

    #[test]
    fn fractions_are_multiples_in_decimal() {
        assert!(is_multiple(&number("0.3"), &number("0.1")));
        assert!(is_multiple(&number("19.99"), &number("0.01")));
        assert!(!is_multiple(&number("0.35"), &number("0.1")));
        assert!(is_multiple(&number("-4.0"), &number("2")));
    }

    #[test]
    fn whole_floats_are_whole_numbers() {
        assert_eq!(whole(&number("-3.0")), Some(number("-3")));
        assert_eq!(whole(&number("1e300")), None);
        assert!(is_whole(&number("1e300")));
        assert!(!is_whole(&number("0.5")));
    }
}
