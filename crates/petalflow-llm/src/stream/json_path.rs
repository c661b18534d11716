//! Paths into JSON, as providers write them: `$.city.names[0]`, `$['city']`.

use serde_json::{Map, Value};

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The maximum number of steps in a path, as in JSON text: a deeper value cannot be parsed back, or dropped.
const MAX_DEPTH: usize = 100;

/// Splits a path into steps, up to the first one that is too deep. Text that cannot be parsed as a step is a key.
pub(super) fn parse(path: &str) -> Vec<Step<'_>> {
    let mut parse = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() && parse.len() <= MAX_DEPTH {
        if let Some((inside, after)) = rest.strip_prefix('[').and_then(|open| open.split_once(']'))
        {
            parse.push(match inside.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key(inside.trim_matches(['\'', '"'])),
            });
            rest = after;
        } else {
            let key_and_rest = rest.strip_prefix('.').unwrap_or(rest);
            // A bracket without its closing bracket is part of the key: every iteration consumes some text.
            let end = key_and_rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| matches!(c, '.' | '['))
                .map_or(key_and_rest.len(), |(at, _)| at);
            let (key, after) = key_and_rest.split_at(end);
            if !key.is_empty() {
                parse.push(Step::Key(key));
            }
            rest = after;
        }
    }
    parse
}

/// The value at the path, with missing objects and arrays created. `None` if another kind of value is in the way, or if
/// an index skips items: a short path would otherwise take much memory.
pub(super) fn resolve<'v>(mut value: &'v mut Value, parse: &[Step<'_>]) -> Option<&'v mut Value> {
    if parse.len() > MAX_DEPTH {
        return None;
    }
    for step in parse {
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
                if items.len() == *index {
                    items.push(Value::Null);
                }
                items.get_mut(*index)?
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
            parse("$.city.names[0].x"),
            [Key("city"), Key("names"), Index(0), Key("x")]
        );
        assert_eq!(parse("$['a.b'][\"c\"]"), [Key("a.b"), Key("c")]);
        assert_eq!(parse("plain"), [Key("plain")]);
        assert_eq!(parse("$"), []);
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
            resolve(&mut value, &parse(path));
        }
        let mut value = Value::Null;
        let deep = ".a[0]".repeat(1_000_000);
        assert_eq!(resolve(&mut value, &parse(&deep)), None);
        assert_eq!(value, Value::Null);
    }
}
