//! Results of functions.

use serde_json::{Map, Value};

use super::argument;

/// What a function returns.
pub trait Reply {
    /// The value that the model reads.
    fn into_value(self) -> Value;
}

impl Reply for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl Reply for bool {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl Reply for f64 {
    fn into_value(self) -> Value {
        argument::number(self)
    }
}

/// The result of a function whose next node is chosen by a field of it.
///
/// The functions of [`conversation!`](crate::conversation) return it where the document has a branch: `T` is `bool`, or an
/// enum of the cases. The model reads the whole result.
///
/// ```
/// use petalflow_conversations::BranchResult;
///
/// let result = BranchResult::new(false).with("alternatives", vec!["6 pm", "8 pm"]);
/// assert!(!result.choice);
/// assert_eq!(result.details["alternatives"][0], "6 pm");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BranchResult<T> {
    /// The value that chooses the node.
    pub choice: T,
    /// The other fields of the result.
    pub details: Map<String, Value>,
}

impl<T> BranchResult<T> {
    /// Creates a result with nothing but the choice.
    pub fn new(choice: T) -> Self {
        BranchResult {
            choice,
            details: Map::new(),
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }
}

impl<T> From<T> for BranchResult<T> {
    fn from(choice: T) -> Self {
        BranchResult::new(choice)
    }
}

/// The result with the choice in the field of the document.
pub fn branch<T: Reply>(field: &str, result: BranchResult<T>) -> Value {
    let mut object = result.details;
    object.insert(field.into(), result.choice.into_value());
    Value::Object(object)
}

/// A result that is only a value.
pub fn reply<T: Reply>(result: T) -> Value {
    result.into_value()
}

/// A word of the document as a value.
pub fn word(word: &str) -> Value {
    Value::from(word)
}

/// A word of the document as a text.
pub fn text(text: &str) -> String {
    text.into()
}
