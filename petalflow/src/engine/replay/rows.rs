//! Values in the rows of a table.

use serde_json::Value;

/// A value as text. `-` if there is none.
pub(super) fn text(value: Option<&Value>) -> String {
    value.map_or_else(|| "-".into(), ToString::to_string)
}

/// Where two values differ: the path to the smallest part that has all of the differences, and this part of both.
pub(super) fn first_difference<'v>(
    was: Option<&'v Value>,
    is: Option<&'v Value>,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    if was == is {
        return None;
    }
    let (mut was, mut is, mut path) = (was, is, String::new());
    loop {
        let mut differing = Vec::new();
        match (was, is) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => {
                let added = other.keys().filter(|name| !one.contains_key(*name));
                for name in one.keys().chain(added) {
                    differing.push((name.clone(), one.get(name), other.get(name)));
                }
            }
            (Some(Value::Array(one)), Some(Value::Array(other))) => {
                for index in 0..one.len().max(other.len()) {
                    differing.push((index.to_string(), one.get(index), other.get(index)));
                }
            }
            _ => return Some((path, was, is)),
        }
        differing.retain(|(_, was, is)| was != is);
        let [(name, one, other)] = &differing[..] else {
            return Some((path, was, is));
        };
        path = format!("{path}/{name}");
        (was, is) = (*one, *other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_smallest_part_with_all_differences_is_shown() {
        let (was, is) = (
            json!({"a": [1, {"b": 2, "c": 3}]}),
            json!({"a": [1, {"b": 4, "c": 3}]}),
        );
        let shown = first_difference(Some(&was), Some(&is));
        assert_eq!(
            shown,
            Some(("/a/1/b".into(), Some(&json!(2)), Some(&json!(4))))
        );
        let longer = json!({"a": [1, {"b": 2, "c": 3}, 5]});
        let shown = first_difference(Some(&was), Some(&longer));
        assert_eq!(shown, Some(("/a/2".into(), None, Some(&json!(5)))));
        assert_eq!(first_difference(Some(&was), Some(&was)), None);
        let both = json!({"a": [2, {"b": 4, "c": 3}]});
        let (path, ..) = first_difference(Some(&was), Some(&both)).unwrap();
        assert_eq!(path, "/a");
    }
}
