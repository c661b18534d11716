//! The differences between a recorded request and a received one.

use serde_json::Value;

/// The most characters of a value that a difference shows.
const LONGEST: usize = 120;

/// The differences between a recorded JSON value and a received one, one each, as text: the JSON Pointer, the recorded
/// value and the received value. Long values are shortened around the first character that differs.
///
/// ```
/// use petalflow_llm::testing::differences;
/// use serde_json::json;
///
/// let recorded = json!({ "city": "Rome", "days": [1, 2] });
/// let received = json!({ "city": "Oslo", "days": [1] });
/// assert_eq!(
///     differences(&recorded, &received),
///     [r#"`/city` was recorded as "Rome", and is "Oslo""#, "`/days/1` was recorded as 2, and is missing"]
/// );
/// ```
pub fn differences(recorded: &Value, received: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(received), &mut found);
    found
}

fn compare(path: &str, one: Option<&Value>, other: Option<&Value>, found: &mut Vec<String>) {
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let new = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                compare(
                    &format!("{path}/{escaped}"),
                    one.get(key),
                    other.get(key),
                    found,
                );
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for at in 0..one.len().max(other.len()) {
                compare(&format!("{path}/{at}"), one.get(at), other.get(at), found);
            }
        }
        (Some(one), Some(other)) if one == other => {}
        (None, None) => {}
        (Some(one), Some(other)) => {
            let (one, other) = (one.to_string(), other.to_string());
            let same = one.chars().zip(other.chars());
            let same = same.take_while(|(one, other)| one == other).count();
            let (one, other) = (shortened(&one, same), shortened(&other, same));
            found.push(format!("`{path}` was recorded as {one}, and is {other}"));
        }
        (Some(one), None) => {
            let one = shortened(&one.to_string(), 0);
            found.push(format!("`{path}` was recorded as {one}, and is missing"));
        }
        (None, Some(other)) => {
            let other = shortened(&other.to_string(), 0);
            found.push(format!("`{path}` was not recorded, and is {other}"));
        }
    }
}

/// The part of a long text around this character.
fn shortened(text: &str, around: usize) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.into();
    }
    let start = around.saturating_sub(LONGEST / 2).min(length - LONGEST);
    let part: String = text.chars().skip(start).take(LONGEST).collect();
    let (before, after) = (start > 0, start + LONGEST < length);
    let mark = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{part}{}", mark(before), mark(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_shown_around_their_difference() {
        let long = "x".repeat(500);
        let found = differences(
            &json!(format!("{long}a{long}")),
            &json!(format!("{long}b{long}")),
        );
        assert!(
            found[0].contains("xa") && found[0].contains("xb"),
            "{found:?}"
        );
        assert!(found[0].len() < 400, "{found:?}");
        let found = differences(&json!({ "a/b": long }), &json!({ "c": null }));
        assert!(
            found[0].starts_with("`/a~1b` was recorded as \"xxx"),
            "{found:?}"
        );
        assert_eq!(found[1], "`/c` was not recorded, and is null");
        assert!(differences(&json!([1, { "a": 2 }]), &json!([1, { "a": 2 }])).is_empty());
    }
}
