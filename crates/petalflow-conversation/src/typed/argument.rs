//! Arguments of functions.

use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

/// A value that can be written as JSON.
pub trait Write {
    /// The value as JSON.
    fn write(&self) -> Value;
}

impl<T: Serialize> Write for T {
    fn write(&self) -> Value {
        // Generated types have names of fields that are texts, and nothing else that fails.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A value that can be read from an argument.
pub trait Argument: Sized {
    /// Reads the value.
    ///
    /// # Errors
    ///
    /// It does not fit the type.
    fn read(value: Value) -> Result<Self, Misfit>;

    /// The value if there is no argument.
    fn absent() -> Option<Self> {
        None
    }
}

/// An enum whose values are words of the document.
pub trait Choice: Copy + 'static {
    /// All values.
    const ALL: &'static [Self];
    /// Their words in the document.
    const WORDS: &'static [&'static str];

    /// The index of the value.
    fn index(self) -> usize;
}

/// No arguments.
#[derive(Debug)]
pub struct NoArguments;

impl Argument for NoArguments {
    fn read(_: Value) -> Result<Self, Misfit> {
        Ok(NoArguments)
    }
}

/// Why a value cannot be read: where, and what is wrong.
#[derive(Debug)]
pub struct Misfit {
    path: String,
    problem: String,
}

impl Misfit {
    fn expected(what: &str, found: &Value) -> Self {
        let mut found = found.to_string();
        if found.len() > 100 {
            found.truncate(found.floor_char_boundary(100));
            found.push('…');
        }
        Misfit {
            path: String::new(),
            problem: format!("expected {what}, not {found}"),
        }
    }

    fn within(mut self, name: &str) -> Self {
        let separator = match self.path.as_str() {
            "" => "",
            path if path.starts_with('[') => "",
            _ => ".",
        };
        self.path = format!("{name}{separator}{}", self.path);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { path, problem } = self;
        f.write_str("the arguments do not fit")?;
        if !path.is_empty() {
            write!(f, " at `{path}`")?;
        }
        write!(
            f,
            ": {problem}; call it again with arguments that fit its schema"
        )
    }
}

impl std::error::Error for Misfit {}

/// An object whose fields are read.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of an object.
    ///
    /// # Errors
    ///
    /// The value is no object.
    pub fn new(value: Value) -> Result<Self, Misfit> {
        match value {
            Value::Object(fields) => Ok(Fields(fields)),
            other => Err(Misfit::expected("an object", &other)),
        }
    }

    /// Reads a field. An optional one may be missing or `null`.
    ///
    /// # Errors
    ///
    /// The field is missing, or does not fit the type.
    pub fn get<T: Argument>(&mut self, name: &str) -> Result<T, Misfit> {
        match self.0.remove(name) {
            Some(value) => T::read(value).map_err(|misfit| misfit.within(name)),
            None => T::absent().ok_or_else(|| Misfit {
                path: String::new(),
                problem: format!("`{name}` is missing"),
            }),
        }
    }
}

/// Serializes an object without the optional fields that are missing.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(
    fields: &[(&str, &dyn Write)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, value) in fields {
        let value = value.write();
        if !value.is_null() {
            map.serialize_entry(name, &value)?;
        }
    }
    map.end()
}

/// The value with this word.
pub fn find<T: Choice>(word: &str) -> Option<T> {
    let index = T::WORDS.iter().position(|it| *it == word)?;
    T::ALL.get(index).copied()
}

/// The word of a value.
pub fn word_of<T: Choice>(value: T) -> &'static str {
    T::WORDS.get(value.index()).copied().unwrap_or_default()
}

impl<T: Choice> Argument for T {
    fn read(value: Value) -> Result<Self, Misfit> {
        let found = value.as_str().and_then(find);
        found.ok_or_else(|| {
            let words = T::WORDS.join("`, `");
            Misfit::expected(&format!("one of `{words}`"), &value)
        })
    }
}

impl Argument for String {
    fn read(value: Value) -> Result<Self, Misfit> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Misfit::expected("a text", &other)),
        }
    }
}

impl Argument for i64 {
    /// `3.0` is a whole number in JSON Schema.
    fn read(value: Value) -> Result<Self, Misfit> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let whole = |it: f64| it.fract() == 0.0 && it.abs() <= EXACT;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and in the exact range"
        )]
        let number = match value.as_f64() {
            Some(float) if !value.is_i64() && whole(float) => Some(float as i64),
            _ => value.as_i64(),
        };
        number.ok_or_else(|| Misfit::expected("a whole number of 64 bits", &value))
    }
}

impl Argument for f64 {
    fn read(value: Value) -> Result<Self, Misfit> {
        value
            .as_f64()
            .ok_or_else(|| Misfit::expected("a number", &value))
    }
}

impl Argument for bool {
    fn read(value: Value) -> Result<Self, Misfit> {
        value
            .as_bool()
            .ok_or_else(|| Misfit::expected("`true` or `false`", &value))
    }
}

impl Argument for Value {
    fn read(value: Value) -> Result<Self, Misfit> {
        Ok(value)
    }
}

impl Argument for Map<String, Value> {
    fn read(value: Value) -> Result<Self, Misfit> {
        Ok(Fields::new(value)?.0)
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn read(value: Value) -> Result<Self, Misfit> {
        let Value::Array(items) = value else {
            return Err(Misfit::expected("a list", &value));
        };
        let items = items.into_iter().enumerate();
        items
            .map(|(index, item)| {
                T::read(item).map_err(|misfit| misfit.within(&format!("[{index}]")))
            })
            .collect()
    }
}

impl<T: Argument> Argument for Option<T> {
    fn read(value: Value) -> Result<Self, Misfit> {
        match value {
            Value::Null => Ok(None),
            value => T::read(value).map(Some),
        }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Numbers of results, whole if they are.
pub(super) fn number(number: f64) -> Value {
    match i64::read(Value::from(number)) {
        Ok(whole) => Value::from(whole),
        Err(_) => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Argument, Fields};

    #[test]
    fn a_misfit_says_where_it_is_and_what_was_expected() {
        let mut fields = Fields::new(json!({ "sizes": [1, "two"], "count": 2.0 })).unwrap();
        assert_eq!(fields.get::<i64>("count").unwrap(), 2);
        assert_eq!(fields.get::<Option<bool>>("maybe").unwrap(), None);
        let error = fields.get::<Vec<i64>>("sizes").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the arguments do not fit at `sizes[1]`: expected a whole number of 64 bits, not \"two\"; call it again with \
             arguments that fit its schema"
        );
        let error = fields.get::<String>("name").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the arguments do not fit: `name` is missing; call it again with arguments that fit its schema"
        );
        assert!(i64::read(json!(1.5)).is_err());
        assert!(Fields::new(json!([])).is_err());
    }
}
