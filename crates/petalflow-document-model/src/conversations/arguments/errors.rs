//! The errors of parameters and of arguments.

use std::fmt;

use crate::source::Pointer;
use serde::Serialize;

use crate::conversations::finding::Code;

/// A parameter that cannot be checked.
///
/// ```
/// use petalflow_document_model::conversations::{ArgumentChecker, Parameters};
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "count": { "type": "integer", "minimum": 5, "maximum": 1 } } });
/// let errors = ArgumentChecker::new(&Parameters::of_schema(&schema)).unwrap_err();
/// assert_eq!(errors[0].parameter, "count");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterError {
    /// The value in the schema.
    pub pointer: Pointer,
    /// The parameter, such as `address.zip`.
    pub parameter: String,
    /// What is wrong, without the name of the parameter.
    pub problem: String,
    #[serde(skip)]
    pub(crate) code: Code,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter '{}' {}", self.parameter, self.problem)
    }
}

impl std::error::Error for ParameterError {}

/// What does not fit in the arguments of a call. Its text is for the model.
///
/// ```
/// use petalflow_document_model::conversations::{ArgumentChecker, Parameters};
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "count": { "type": "integer" } }, "required": ["count"] });
/// let checker = ArgumentChecker::new(&Parameters::of_schema(&schema)).unwrap();
/// let errors = checker.check(json!({})).unwrap_err();
/// assert_eq!(errors.problems().count(), 1);
/// assert!(errors.to_string().contains("`count`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentErrors(pub(super) Vec<String>);

impl ArgumentErrors {
    /// What is wrong, one line for each argument.
    ///
    /// ```
    /// use petalflow_document_model::conversations::{ArgumentChecker, Parameters};
    /// use serde_json::json;
    ///
    /// let checker = ArgumentChecker::new(&Parameters::default()).unwrap();
    /// let errors = checker.check(json!([1])).unwrap_err();
    /// assert_eq!(errors.problems().collect::<Vec<_>>(), ["the arguments must be an object, not a list"]);
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for ArgumentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the arguments do not fit: {}. Call the function again with arguments that fit",
            self.0.join("; ")
        )
    }
}

impl std::error::Error for ArgumentErrors {}
