//! Values with the comparison rules of Python.

use serde_json::Value as Json;

/// A value of Python, as a condition writes it or a handler returns it.
///
/// ```
/// use petalflow_document_model::conversations::decision::Value;
///
/// let value: Value = "[1, 'two', None]".parse()?;
/// assert!(matches!(value, Value::List(items) if items.len() == 3));
/// # Ok::<(), petalflow_document_model::conversations::decision::LiteralError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(String),
    /// `[a, b]`.
    List(Vec<Value>),
    /// `(a, b)`.
    Tuple(Vec<Value>),
    /// `{a, b}`.
    Set(Vec<Value>),
    /// `{a: b}`.
    Dict(Vec<(Value, Value)>),
}

impl Value {
    /// Returns whether Python treats the value as true: all but `None`, `False`, zero and what is empty.
    ///
    /// ```
    /// use petalflow_document_model::conversations::decision::Value;
    ///
    /// assert!(!Value::Text(String::new()).is_true());
    /// assert!(Value::Int(-1).is_true());
    /// ```
    pub fn is_true(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => !items.is_empty(),
            Value::Dict(entries) => !entries.is_empty(),
        }
    }

    /// Returns the name of the value's type in Python.
    ///
    /// ```
    /// use petalflow_document_model::conversations::decision::Value;
    ///
    /// assert_eq!(Value::Text("a".into()).type_name(), "str");
    /// ```
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "str",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::Dict(_) => "dict",
        }
    }

    /// Returns whether a set or the keys of a dictionary can hold the value.
    pub(super) fn is_hashable(&self) -> bool {
        match self {
            Value::List(_) | Value::Set(_) | Value::Dict(_) => false,
            Value::Tuple(items) => items.iter().all(Value::is_hashable),
            _ => true,
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i128() {
                Some(whole) => Value::Int(whole),
                // A number of JSON that is not whole is a float.
                None => Value::Float(number.as_f64().unwrap_or(f64::INFINITY)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Value::from).collect()),
            Json::Object(entries) => Value::Dict(
                entries
                    .iter()
                    .map(|(key, value)| (Value::Text(key.clone()), Value::from(value)))
                    .collect(),
            ),
        }
    }
}
