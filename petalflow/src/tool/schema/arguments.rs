//! Arguments of calls.

use serde_json::{Map, Value};

use super::check::{Mistakes, check};
use super::nulls::drop_nulls;

/// Compares the arguments of a call with the schema of its parameters, as [`check`] does. `null` is a call without arguments.
/// An optional argument that is `null`, and may not be, is left out: a model in a strict mode cannot leave it out itself.
///
/// ```
/// use petalflow::tool::schema;
/// use serde_json::{Value, json};
///
/// let parameters = json!({ "type": "object", "properties": { "size": { "type": "string" }, "count": { "type": "integer" } },
///     "required": ["count"] });
/// let arguments = schema::check_arguments(&parameters, json!({ "size": null, "count": 2 }));
/// assert_eq!(arguments, Ok(json!({ "count": 2 })));
/// let mistakes = schema::check_arguments(&parameters, Value::Null).unwrap_err();
/// assert_eq!(mistakes.to_string(), "`count` is missing");
/// ```
///
/// # Errors
///
/// What does not fit.
pub fn check_arguments(parameters: &Value, arguments: Value) -> Result<Value, Mistakes> {
    let mut arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        arguments => arguments,
    };
    if let Value::Object(fields) = &mut arguments {
        drop_nulls(parameters, fields);
    }
    let mistakes = check(parameters, &arguments);
    if mistakes.is_empty() {
        Ok(arguments)
    } else {
        Err(mistakes)
    }
}
