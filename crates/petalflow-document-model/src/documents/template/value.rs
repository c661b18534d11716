//! The values of a template.

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::number::float;

/// The variables that a template reads: an object, and parts that have precedence over its names.
#[derive(Clone, Debug)]
pub struct Variables<'a> {
    vars: &'a Map<String, Value>,
    parts: Vec<(&'static str, Part<'a>)>,
}

/// A variable beside those of the object.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Object(&'a Map<String, Value>),
    Value(&'a Value),
}

impl<'a> Variables<'a> {
    /// The variables of this object.
    pub fn new(vars: &'a Map<String, Value>) -> Self {
        Variables {
            vars,
            parts: Vec::new(),
        }
    }

    /// Adds a variable. It replaces one of the object.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &'a Value) -> Self {
        self.parts.push((name, Part::Value(value)));
        self
    }

    /// Adds an object as a variable. It replaces one of the object.
    #[must_use]
    pub fn with_object(mut self, name: &'static str, value: &'a Map<String, Value>) -> Self {
        self.parts.push((name, Part::Object(value)));
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<Item<'a>> {
        let part = self.parts.iter().find(|(part, _)| *part == name);
        match part {
            Some((_, Part::Object(object))) => Some(Item::Object(object)),
            Some((_, Part::Value(value))) => Some(Item::of(value)),
            None => self.vars.get(name).map(Item::of),
        }
    }

    /// All names, sorted.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let parts = self.parts.iter().map(|(name, _)| *name);
        let mut names: Vec<&str> = self.vars.keys().map(String::as_str).chain(parts).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Serialize for Variables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_part = |name: &String| self.parts.iter().any(|(part, _)| part == name);
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.vars.iter().filter(|(name, _)| !is_part(name)) {
            map.serialize_entry(name, value)?;
        }
        for (name, part) in &self.parts {
            match part {
                Part::Object(object) => map.serialize_entry(name, object)?,
                Part::Value(value) => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// A value while a template is executed. Values of the variables are borrowed.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    /// A value that is missing, and its name.
    Missing(Arc<str>),
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(&'a str),
    Text(Arc<str>),
    Array(&'a [Value]),
    List(Arc<[Item<'a>]>),
    Object(&'a Map<String, Value>),
    /// All variables.
    Variables(&'a Variables<'a>),
}

impl<'a> Item<'a> {
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Item::Null,
            Value::Bool(value) => Item::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(whole), _) => Item::Int(whole.into()),
                (_, Some(whole)) => Item::Int(whole.into()),
                _ => Item::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Item::Str(text),
            Value::Array(items) => Item::Array(items),
            Value::Object(object) => Item::Object(object),
        }
    }

    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        Item::Text(text.into())
    }

    /// The text, if it is one.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Item::Str(text) => Some(text),
            Item::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The length of a list.
    pub(super) fn list_len(&self) -> Option<usize> {
        match self {
            Item::Array(items) => Some(items.len()),
            Item::List(items) => Some(items.len()),
            _ => None,
        }
    }

    /// An item of a list.
    pub(super) fn item(&self, index: usize) -> Option<Item<'a>> {
        match self {
            Item::Array(items) => items.get(index).map(Item::of),
            Item::List(items) => items.get(index).cloned(),
            _ => None,
        }
    }

    /// The names of an object, sorted.
    pub(super) fn names(&self) -> Option<Vec<&'a str>> {
        match self {
            Item::Object(object) => {
                let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
                names.sort_unstable();
                Some(names)
            }
            Item::Variables(variables) => Some(variables.names()),
            _ => None,
        }
    }

    /// A value of an object. The outer `None`: it is no object.
    #[allow(clippy::option_option, reason = "no object, and no value of this name")]
    pub(super) fn field(&self, name: &str) -> Option<Option<Item<'a>>> {
        match self {
            Item::Object(object) => Some(object.get(name).map(Item::of)),
            Item::Variables(variables) => Some(variables.get(name)),
            _ => None,
        }
    }

    /// Whether a condition is true: `false`, zero, `null`, a missing value, and what is empty are not.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Item::Missing(_) | Item::Null => false,
            Item::Bool(value) => *value,
            Item::Int(value) => *value != 0,
            Item::Float(value) => *value != 0.0,
            Item::Str(text) => !text.is_empty(),
            Item::Text(text) => !text.is_empty(),
            Item::Array(items) => !items.is_empty(),
            Item::List(items) => !items.is_empty(),
            Item::Object(object) => !object.is_empty(),
            Item::Variables(variables) => !variables.names().is_empty(),
        }
    }

    /// Missing, `null`, or an empty text.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Item::Missing(_) | Item::Null) || self.as_str() == Some("")
    }

    /// What the value is, for errors.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Item::Missing(_) => "a missing value",
            Item::Null => "`null`",
            Item::Bool(_) => "a truth value",
            Item::Int(_) | Item::Float(_) => "a number",
            Item::Str(_) | Item::Text(_) => "a text",
            Item::Array(_) | Item::List(_) => "a list",
            Item::Object(_) | Item::Variables(_) => "an object",
        }
    }

    /// The value as a text: texts unchanged, numbers as in Go, and anything else as JSON.
    pub(super) fn printed(&self) -> Cow<'_, str> {
        match self {
            Item::Missing(_) => "".into(),
            Item::Str(text) => (*text).into(),
            Item::Text(text) => (&**text).into(),
            Item::Int(value) => value.to_string().into(),
            Item::Float(value) => float(*value).into(),
            Item::Bool(true) => "true".into(),
            Item::Bool(false) => "false".into(),
            Item::Null => "null".into(),
            other => other.to_json().to_string().into(),
        }
    }

    /// The value with the names of all objects sorted.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Item::Missing(_) | Item::Null => Value::Null,
            Item::Bool(value) => (*value).into(),
            Item::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => Value::Null,
            },
            Item::Float(value) => (*value).into(),
            Item::Str(text) => (*text).into(),
            Item::Text(text) => (&**text).into(),
            Item::Array(items) => items.iter().map(sorted).collect(),
            Item::List(items) => items.iter().map(Item::to_json).collect(),
            Item::Object(_) | Item::Variables(_) => {
                let names = self.names().unwrap_or_default().into_iter();
                let fields =
                    names.filter_map(|name| Some((name.to_owned(), self.field(name)??.to_json())));
                Value::Object(fields.collect())
            }
        }
    }
}

fn sorted(value: &Value) -> Value {
    Item::of(value).to_json()
}
