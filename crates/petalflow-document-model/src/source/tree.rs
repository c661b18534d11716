//! Values with their positions in a text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::source::diagnostic::{Code, Position};

/// The deepest nesting of lists and objects.
pub(crate) const MAX_DEPTH: usize = 64;

/// The most values in a document, with those that aliases repeat.
pub(crate) const MAX_VALUES: usize = 250_000;

/// The largest document, in bytes.
pub(crate) const MAX_BYTES: usize = 2 << 20;

/// The most bytes of texts in a document, with those that aliases repeat.
pub(crate) const MAX_TEXT: usize = 4 * MAX_BYTES;

/// The most bytes of the names that lead to a value. Each finding has its path, and rules make the path of each value.
pub(crate) const MAX_PATH: usize = 4096;

/// The most findings of one kind of check.
pub(crate) const MAX_FINDINGS: usize = 10_000;

/// A value and where it is. Texts without escapes are those of the document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree<'t> {
    pub(crate) position: Position,
    /// The number of the file: 0, or that of an included one.
    pub(crate) file: usize,
    pub(crate) node: Node<'t>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node<'t> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'t, str>),
    List(Vec<Tree<'t>>),
    Object(Vec<Entry<'t>>),
}

/// A name and a value in an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry<'t> {
    pub(crate) name: Cow<'t, str>,
    /// The position of the name.
    pub(crate) position: Position,
    pub(crate) value: Tree<'t>,
}

impl Tree<'_> {
    /// The value. Of duplicate names the first is used.
    pub(crate) fn to_value(&self) -> Value {
        match &self.node {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Number(number) => Value::Number(number.clone()),
            Node::String(text) => Value::String(text.as_ref().into()),
            Node::List(items) => items.iter().map(Tree::to_value).collect(),
            Node::Object(entries) => {
                let mut object = Map::new();
                for entry in entries.iter().rev() {
                    object.insert(entry.name.as_ref().into(), entry.value.to_value());
                }
                Value::Object(object)
            }
        }
    }

    /// Refuses a value that too many bytes of names lead to. `above` is the number of those of the values around it.
    pub(crate) fn check_paths(&self, above: usize) -> Result<(), Misread> {
        let too_long = above > MAX_PATH;
        match &self.node {
            _ if too_long => Err(Misread {
                error: ParseError {
                    kind: Problem::TooLarge,
                    message: format!(
                        "the names that lead to this value have more than {MAX_PATH} bytes"
                    ),
                    position: self.position,
                },
                file: self.file,
            }),
            Node::List(items) => items
                .iter()
                .try_for_each(|item| item.check_paths(above + 1)),
            Node::Object(entries) => entries
                .iter()
                .try_for_each(|entry| entry.value.check_paths(above + 1 + entry.name.len())),
            _ => Ok(()),
        }
    }

    /// Whether a name occurs twice in an object.
    pub(crate) fn has_duplicates(&self) -> bool {
        match &self.node {
            Node::List(items) => items.iter().any(Tree::has_duplicates),
            Node::Object(entries) => {
                repeats(entries) || entries.iter().any(|entry| entry.value.has_duplicates())
            }
            _ => false,
        }
    }

    /// Adds each name that occurs twice in an object, with its place.
    pub(crate) fn duplicates(&self, pointer: &str, found: &mut Vec<(String, Place, Position)>) {
        match &self.node {
            Node::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.duplicates(&format!("{pointer}/{index}"), found);
                }
            }
            Node::Object(entries) => {
                let mut seen = HashMap::new();
                for entry in entries {
                    if found.len() >= MAX_FINDINGS {
                        return;
                    }
                    let name = entry.name.replace('~', "~0").replace('/', "~1");
                    let pointer = format!("{pointer}/{name}");
                    if let Some(first) = seen.get(entry.name.as_ref()) {
                        let place = Place {
                            file: self.file,
                            position: entry.position,
                        };
                        found.push((pointer.clone(), place, *first));
                    } else {
                        seen.insert(entry.name.as_ref(), entry.position);
                    }
                    entry.value.duplicates(&pointer, found);
                }
            }
            _ => {}
        }
    }
}

/// Whether two entries have the same name. Most objects are small.
pub(crate) fn repeats(entries: &[Entry<'_>]) -> bool {
    if entries.len() <= 16 {
        let mut rest = entries;
        while let [first, others @ ..] = rest {
            if others.iter().any(|other| other.name == first.name) {
                return true;
            }
            rest = others;
        }
        return false;
    }
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    !entries.iter().all(|entry| seen.insert(entry.name.as_ref()))
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Problem {
    Syntax,
    TooLarge,
    WrongValue,
}

impl Problem {
    pub(crate) fn code<C: Code>(self) -> C {
        match self {
            Problem::Syntax => C::SYNTAX,
            Problem::TooLarge => C::TOO_LARGE,
            Problem::WrongValue => C::WRONG_VALUE,
        }
    }
}

/// A position in a file: in the document (0), or in one that it includes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) file: usize,
    pub(crate) position: Position,
}

/// Why a document cannot be read, and the number of the file.
#[derive(Debug)]
pub(crate) struct Misread {
    pub(crate) error: ParseError,
    pub(crate) file: usize,
}

/// Why a text is not a document, and where.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) kind: Problem,
    pub(crate) message: String,
    pub(crate) position: Position,
}

/// Refuses a text that is too long.
pub(crate) fn check_length(text: &str) -> Result<(), ParseError> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    Err(ParseError {
        kind: Problem::TooLarge,
        message: format!("the document has more than {MAX_BYTES} bytes"),
        position: Position { line: 1, column: 1 },
    })
}

/// A number of a document. Whole numbers must be exact.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    let whole = plain
        .trim_start_matches('-')
        .bytes()
        .all(|b| b.is_ascii_digit());
    let shown = crate::source::names::shown(text);
    if whole {
        let exact = plain
            .parse::<i64>()
            .map(Number::from)
            .or_else(|_| plain.parse::<u64>().map(Number::from));
        return exact.map_err(|_| {
            format!("the number {shown} is too large: whole numbers have at most 64 bits")
        });
    }
    let float = plain.parse::<f64>().ok().and_then(Number::from_f64);
    float.ok_or_else(|| format!("the number {shown} is too large"))
}
