//! Paths into JSON, as providers write them: `$.city.names[0]`, `$['city']`.

use serde_json::{Map, Value};

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The maximum length of an array that a path may create. It bounds the memory that a wrong path can use.
const LONGEST: usize = 10_000;

/// The maximum number of steps in a path, as in JSON text: a deeper value cannot be parsed back, or dropped.
const DEEPEST: usize = 100;

/// Splits a path into steps. Text that cannot be parsed as a step is a key.
pub(super) fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        if let Some((inside, after)) = rest.strip_prefix('[').and_then(|open| open.split_once(']'))
        {
            steps.push(match inside.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key(inside.trim_matches(['\'', '"'])),
            });
            rest = after;
        } else {
            let dotted = rest.strip_prefix('.').unwrap_or(rest);
            // A bracket without its closing bracket is part of the key: every iteration consumes some text.
            let end = dotted
                .char_indices()
                .skip(1)
                .find(|(_, c)| matches!(c, '.' | '['))
                .map_or(dotted.len(), |(at, _)| at);
            let (key, after) = dotted.split_at(end);
            if !key.is_empty() {
                steps.push(Step::Key(key));
            }
            rest = after;
        }
    }
    steps
}

/// The value at the path, with missing objects and arrays created. `None` if another kind of value is in the way.
pub(super) fn reach<'v>(mut value: &'v mut Value, steps: &[Step<'_>]) -> Option<&'v mut Value> {
    if steps.len() > DEEPEST {
        return None;
    }
    for step in steps {
        value = match step {
            Step::Key(key) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                value.as_object_mut()?.entry(*key).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if value.is_null() {
                    *value = Value::Array(Vec::new());
                }
                let items = value.as_array_mut()?;
                if *index >= LONGEST {
                    return None;
                }
                if items.len() <= *index {
                    items.resize(index + 1, Value::Null);
                }
                &mut items[*index]
            }
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_in_all_their_spellings() {
        use Step::{Index, Key};
        assert_eq!(
            steps("$.city.names[0].x"),
            [Key("city"), Key("names"), Index(0), Key("x")]
        );
        assert_eq!(steps("$['a.b'][\"c\"]"), [Key("a.b"), Key("c")]);
        assert_eq!(steps("plain"), [Key("plain")]);
        assert_eq!(steps("$"), []);
    }

    #[test]
    fn broken_paths_end_and_reach_something_or_nothing() {
        for path in [
            "$.[",
            "[[[",
            "$..a",
            "a]b",
            "$.é[9999999999999999999999]",
            ".",
            "[",
            "$.a[99999]",
        ] {
            let mut value = Value::Null;
            reach(&mut value, &steps(path));
        }
        let mut value = Value::Null;
        let deep = ".a[0]".repeat(1_000_000);
        assert_eq!(reach(&mut value, &steps(&deep)), None);
        assert_eq!(value, Value::Null);
    }
}
