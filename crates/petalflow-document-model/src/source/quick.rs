//! JSON without positions: for documents that nothing is wrong with.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::source::diagnostic::Position;
use crate::source::tree::{Entry, MAX_DEPTH, MAX_PATH, MAX_VALUES, Node, Tree, repeats};

/// The position of a value that was read without one.
const UNKNOWN: Position = Position { line: 0, column: 0 };

/// Reads JSON several times faster than [`parse`](crate::source::json::parse), and without positions. `None` if something may be
/// wrong: the other function can say what.
pub(crate) fn parse(text: &str) -> Option<Tree<'_>> {
    let mut values = 0;
    let mut json = serde_json::Deserializer::from_str(text);
    let document = Reader {
        values: &mut values,
        depth: 0,
        path: 0,
    };
    let tree = document.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(tree)
}

struct Reader<'v> {
    /// The number of values before this one.
    values: &'v mut usize,
    /// The number of lists and objects around the value.
    depth: usize,
    /// The number of bytes of the names that lead to the value.
    path: usize,
}

impl Reader<'_> {
    /// That of a value inside this one.
    fn inner(&mut self, path: usize) -> Reader<'_> {
        Reader {
            values: self.values,
            depth: self.depth + 1,
            path: self.path + 1 + path,
        }
    }

    fn check_depth<E: Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH {
            Ok(())
        } else {
            Err(unclear())
        }
    }
}

/// The caller does not see it.
fn unclear<E: Error>() -> E {
    E::custom("unclear")
}

fn tree(node: Node<'_>) -> Tree<'_> {
    Tree {
        position: UNKNOWN,
        file: 0,
        node,
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Tree<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree<'de>, D::Error> {
        *self.values += 1;
        if *self.values > MAX_VALUES || self.path > MAX_PATH {
            return Err(unclear());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree<'de>, E> {
        Ok(tree(Node::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree<'de>, E> {
        Ok(tree(Node::Bool(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree<'de>, E> {
        Ok(tree(Node::Number(value.into())))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree<'de>, E> {
        Ok(tree(Node::Number(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree<'de>, E> {
        // A whole number that is too large arrives here, and `-0`, which is `0`.
        let is_clear = value.abs() < 9e18 && !(value == 0.0 && value.is_sign_negative());
        let number = serde_json::Number::from_f64(value).filter(|_| is_clear);
        Ok(tree(Node::Number(number.ok_or_else(unclear)?)))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Tree<'de>, E> {
        Ok(tree(Node::String(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree<'de>, E> {
        Ok(tree(Node::String(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Tree<'de>, A::Error> {
        self.check_depth()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self.inner(0))? {
            items.push(item);
        }
        Ok(tree(Node::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Tree<'de>, A::Error> {
        self.check_depth()?;
        let mut entries = Vec::new();
        while let Some(name) = object.next_key_seed(Name)? {
            let value = object.next_value_seed(self.inner(name.len()))?;
            let position = UNKNOWN;
            entries.push(Entry {
                name,
                position,
                value,
            });
        }
        if repeats(&entries) {
            return Err(unclear());
        }
        Ok(tree(Node::Object(entries)))
    }
}

struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unclear_is_left_to_the_other_parser() {
        for text in [
            "-0",
            "18446744073709551616",
            "1e400",
            "[1,]",
            "1 2",
            "",
            r#"{"a":1,"a":2}"#,
            r#""\ud800""#,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn limits_are_those_of_the_other_parser() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        let long = |bytes: usize| format!("{{\"{}\":1}}", "a".repeat(bytes));
        let many = |values: usize| format!("[{}1]", "1,".repeat(values - 2));
        for (right, wrong) in [
            (deep(MAX_DEPTH), deep(MAX_DEPTH + 1)),
            (long(MAX_PATH - 1), long(MAX_PATH)),
            (many(MAX_VALUES), many(MAX_VALUES + 1)),
        ] {
            let located = |text: &str| {
                let tree = crate::source::json::parse(text).ok()?;
                tree.check_paths(0).ok()
            };
            assert!(parse(&right).is_some() && located(&right).is_some());
            assert!(parse(&wrong).is_none() && located(&wrong).is_none());
        }
    }
}
