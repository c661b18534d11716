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
    /// The value from the fields of an object. Another type than a struct returns any value: it stands for one that does not
    /// fit, and nobody sees it.
    fn of_fields(fields: &mut Fields) -> Self;

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// It does not fit the type.
    fn read(value: Value) -> Result<Self, Misfit> {
        let mut fields = Fields::new(value)?;
        let read = Self::of_fields(&mut fields);
        fields.misfit.map_or(Ok(read), Err)
    }

    /// The value if there is no argument.
    fn absent() -> Option<Self> {
        None
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

    fn missing(name: &str) -> Self {
        Misfit {
            path: String::new(),
            problem: format!("`{name}` is missing"),
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
///
/// The first misfit is noted here and not returned by each read: generated code without `?` compiles in a quarter of the time.
#[derive(Debug)]
pub struct Fields {
    fields: Map<String, Value>,
    misfit: Option<Misfit>,
}

impl Fields {
    /// The fields of an object.
    ///
    /// # Errors
    ///
    /// The value is not an object.
    fn new(value: Value) -> Result<Self, Misfit> {
        Ok(Fields {
            fields: Map::read(value)?,
            misfit: None,
        })
    }

    /// Reads a field. An optional one may be missing or `null`. If it does not fit, or one before it did not, any value is
    /// returned.
    pub fn get<T: Argument>(&mut self, name: &str) -> T {
        // What does not depend on the type is in functions of its own: a program has this one for each type.
        match self.fields.remove(name) {
            Some(value) => match T::read(value) {
                Ok(value) => return value,
                Err(misfit) => self.note(misfit.within(name)),
            },
            None => match T::absent() {
                Some(value) => return value,
                None => self.note(Misfit::missing(name)),
            },
        }
        T::of_fields(self)
    }

    /// Notes the first misfit.
    fn note(&mut self, misfit: Misfit) {
        self.misfit.get_or_insert(misfit);
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
pub fn find<T: Copy>(word: &str, all: &[T], words: &[&str]) -> Option<T> {
    let at = words.iter().position(|it| *it == word)?;
    all.get(at).copied()
}

/// The index of a value among the words of an enum.
///
/// # Errors
///
/// It is none of them.
pub fn position(value: &Value, words: &[&str]) -> Result<usize, Misfit> {
    let found = value
        .as_str()
        .and_then(|word| words.iter().position(|it| *it == word));
    found.ok_or_else(|| Misfit::expected(&format!("one of `{}`", words.join("`, `")), value))
}

impl Argument for String {
    fn of_fields(_: &mut Fields) -> Self {
        String::new()
    }

    fn read(value: Value) -> Result<Self, Misfit> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Misfit::expected("a text", &other)),
        }
    }
}

impl Argument for i64 {
    fn of_fields(_: &mut Fields) -> Self {
        0
    }

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
    fn of_fields(_: &mut Fields) -> Self {
        0.0
    }

    fn read(value: Value) -> Result<Self, Misfit> {
        value
            .as_f64()
            .ok_or_else(|| Misfit::expected("a number", &value))
    }
}

impl Argument for bool {
    fn of_fields(_: &mut Fields) -> Self {
        false
    }

    fn read(value: Value) -> Result<Self, Misfit> {
        value
            .as_bool()
            .ok_or_else(|| Misfit::expected("`true` or `false`", &value))
    }
}

impl Argument for Value {
    fn of_fields(_: &mut Fields) -> Self {
        Value::Null
    }

    fn read(value: Value) -> Result<Self, Misfit> {
        Ok(value)
    }
}

impl Argument for Map<String, Value> {
    fn of_fields(_: &mut Fields) -> Self {
        Map::new()
    }

    fn read(value: Value) -> Result<Self, Misfit> {
        match value {
            Value::Object(fields) => Ok(fields),
            other => Err(Misfit::expected("an object", &other)),
        }
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn of_fields(_: &mut Fields) -> Self {
        Vec::new()
    }

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
    fn of_fields(_: &mut Fields) -> Self {
        None
    }

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
        assert_eq!(fields.get::<i64>("count"), 2);
        assert_eq!(fields.get::<Option<bool>>("maybe"), None);
        assert!(fields.misfit.is_none());
        fields.get::<Vec<i64>>("sizes");
        let error = fields.misfit.take().unwrap();
        assert_eq!(
            error.to_string(),
            "the arguments do not fit at `sizes[1]`: expected a whole number of 64 bits, not \"two\"; call it again with \
             arguments that fit its schema"
        );
        fields.get::<String>("name");
        let error = fields.misfit.take().unwrap();
        assert_eq!(
            error.to_string(),
            "the arguments do not fit: `name` is missing; call it again with arguments that fit its schema"
        );
        assert!(i64::read(json!(1.5)).is_err());
        assert!(Fields::new(json!([])).is_err());
    }
    #[test]
    fn the_first_misfit_is_the_one_of_the_object() {
        struct Size(i64, bool);
        impl Argument for Size {
            fn of_fields(fields: &mut Fields) -> Self {
                Size(fields.get("wide"), fields.get("round"))
            }
        }
        struct Order(String, Size, Vec<i64>);
        impl Argument for Order {
            fn of_fields(fields: &mut Fields) -> Self {
                Order(fields.get("name"), fields.get("size"), fields.get("counts"))
            }
        }
        let order = json!({ "name": "soup", "size": { "wide": 2, "round": true }, "counts": [1] });
        let Order(name, Size(wide, round), counts) = Order::read(order).ok().unwrap();
        assert_eq!(
            (name.as_str(), wide, round, counts),
            ("soup", 2, true, vec![1])
        );
        let order = json!({ "name": "soup", "size": { "wide": 2, "round": 1 }, "counts": 1 });
        let error = Order::read(order).err().unwrap().to_string();
        assert!(
            error.contains("at `size.round`: expected `true` or `false`, not 1;"),
            "{error}"
        );
        let error = Order::read(json!({ "counts": 1 }))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("`name` is missing"), "{error}");
    }
}
