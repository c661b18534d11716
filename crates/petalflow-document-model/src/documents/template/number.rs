//! Numbers as Go writes and reads them.

/// The decimal exponent from which Go writes `1e+06` instead of digits.
const LARGE: i32 = 6;

/// A number as Go prints it: the shortest digits, with an exponent if the number is very large or small.
pub(super) fn float(value: f64) -> String {
    if !value.is_finite() {
        return match value {
            _ if value.is_nan() => "NaN".into(),
            _ if value > 0.0 => "+Inf".into(),
            _ => "-Inf".into(),
        };
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..LARGE).contains(&exponent) {
        return value.to_string();
    }
    with_exponent(digits, exponent)
}

/// `1.5e+06`: Go writes a sign and at least two digits.
fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%e` with a precision.
pub(super) fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    with_exponent(digits, exponent.parse().unwrap_or(0))
}

/// `%g` with a precision: as many digits, without zeros at the end.
pub(super) fn general(value: f64, precision: Option<usize>) -> String {
    let Some(precision) = precision else {
        return float(value);
    };
    let precision = precision.max(1);
    let text = format!("{value:.*e}", precision - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    let limit = i32::try_from(precision).unwrap_or(i32::MAX);
    if (-4..limit).contains(&exponent) {
        let decimals = usize::try_from(limit - 1 - exponent).unwrap_or(0);
        return trim(&format!("{value:.decimals$}"));
    }
    with_exponent(&trim(digits), exponent)
}

/// A constant of a template.
pub(super) enum Constant {
    Int(i64),
    Float(f64),
}

/// Reads a number as Go does: `0x1f`, `0o17`, `0b11`, `017`, `1_000`, `1.5e3`.
pub(super) fn constant(text: &str) -> Option<Constant> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, &*lower),
    };
    let plain = without_underscores(body, radix != 10)?;
    let is_float = radix == 10 && plain.contains(['.', 'e']);
    if is_float {
        if !plain.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let value: f64 = plain.parse().ok().filter(|value: &f64| value.is_finite())?;
        return Some(Constant::Float(if negative { -value } else { value }));
    }
    let radix = if radix == 10 && plain.len() > 1 && plain.starts_with('0') {
        8
    } else {
        radix
    };
    if plain.is_empty() || !plain.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let signed = if negative { format!("-{plain}") } else { plain };
    i64::from_str_radix(&signed, radix).ok().map(Constant::Int)
}

/// Go allows `_` between digits, and after a prefix.
fn without_underscores(text: &str, has_prefix: bool) -> Option<String> {
    let mut before = if has_prefix { '0' } else { ' ' };
    for (index, c) in text.char_indices() {
        let next = text[index + c.len_utf8()..].chars().next();
        if c == '_'
            && !(before.is_ascii_hexdigit() && next.is_some_and(|it| it.is_ascii_hexdigit()))
        {
            return None;
        }
        before = c;
    }
    Some(text.replace('_', ""))
}
