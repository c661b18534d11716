//! The public checker.

use crate::source::Pointer;
use serde_json::Value;

use super::check;
use super::errors::{ArgumentErrors, ParameterError};
use super::pattern::Budget;
use super::rule::Rule;
use crate::conversations::parameters::Parameters;

/// The parameters of a function, ready to check the arguments of calls.
///
/// It checks `type`, `enum`, `const`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`,
/// `minLength`, `maxLength`, `pattern`, `minItems`, `maxItems`, `uniqueItems`, `items`, `properties`, `required` and
/// `additionalProperties`, `anyOf`, `oneOf` and `allOf`, at all depths, and the formats `date`, `time`, `date-time`, `email`,
/// `uri`, `uuid`, `ipv4` and `ipv6`. Other keywords of JSON Schema, and other formats, are not checked. Where there is an
/// `enum` or a `const`, it alone decides.
///
/// The time of a check grows with the arguments and not faster: patterns have no look-around and no back-references.
///
/// ```
/// use petalflow_document_model::conversations::{ArgumentChecker, Parameters};
/// use serde_json::json;
///
/// let mut parameters = Parameters::default();
/// let count = json!({ "type": "integer", "minimum": 1, "maximum": 12 });
/// parameters.properties.insert("count".into(), serde_json::from_value(count)?);
/// parameters.required.push("count".into());
///
/// let checker = ArgumentChecker::new(&parameters).unwrap();
/// assert_eq!(checker.check(json!({ "count": 2.0 })).unwrap(), json!({ "count": 2 }));
/// let errors = checker.check(json!({ "count": 40 })).unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "the arguments do not fit: `count` must be at most 12, not 40. Call the function again with arguments that fit",
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArgumentChecker(Rule);

impl ArgumentChecker {
    /// Reads the parameters of a function.
    ///
    /// # Errors
    ///
    /// All parameters that cannot be checked, or that no value fits: patterns that cannot be read or that are too
    /// large, limits that contradict each other, keywords with a value of the wrong type.
    pub fn new(parameters: &Parameters) -> Result<Self, Vec<ParameterError>> {
        let mut errors = Vec::new();
        let rule = Rule::of_parameters(
            parameters,
            &Pointer::root(),
            &mut Budget::default(),
            &mut errors,
        );
        if errors.is_empty() {
            Ok(ArgumentChecker(rule))
        } else {
            Err(errors)
        }
    }

    /// Checks the arguments of a call, and returns them as code reads them: `2.0` is `2` where the type is `integer`, and
    /// an optional argument that is `null` is left out.
    ///
    /// # Errors
    ///
    /// What does not fit, in words for the model. At most 10 arguments are named.
    pub fn check(&self, arguments: Value) -> Result<Value, ArgumentErrors> {
        let arguments = match arguments {
            // Some models write no arguments so.
            Value::Null => Value::Object(serde_json::Map::new()),
            arguments => arguments,
        };
        check::check(&self.0, arguments)
    }
}

/// What is wrong with the parameters of a function at a place in a document.
pub(crate) fn parameter_errors(
    parameters: &Parameters,
    at: &Pointer,
    budget: &mut Budget,
) -> Vec<ParameterError> {
    let mut errors = Vec::new();
    Rule::of_parameters(parameters, at, budget, &mut errors);
    errors
}
