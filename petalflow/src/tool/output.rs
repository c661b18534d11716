//! The results of tools, as JSON.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{InvokeError, Tool, ToolContext, ToolError};
use crate::error::BoxError;

/// The result types of tools.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return a `{Self}`",
    label = "cannot be written as JSON",
    note = "derive `Serialize` for it; a tool returns that, or a `Result` of it"
)]
pub trait ToolOutput {
    /// The value as JSON.
    ///
    /// # Errors
    ///
    /// Fails if the value has no JSON form.
    fn into_value(self, tool: &str) -> Result<Value, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn into_value(self, tool: &str) -> Result<Value, ToolError> {
        serde_json::to_value(self).map_err(|error| {
            ToolError::Failed(
                format!("the result of tool `{tool}` cannot be written as JSON: {error}").into(),
            )
        })
    }
}

/// The error types of tools: any type that converts to a boxed error.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with a `{Self}`",
    label = "not an error",
    note = "implement `std::error::Error` for it (`#[derive(thiserror::Error)]`), or use `petalflow::Result`; it must be `Send` and `Sync`"
)]
pub trait ToolFails {
    /// The error of the tool.
    fn failed(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> ToolFails for E {
    fn failed(self) -> ToolError {
        ToolError::Failed(self.into())
    }
}

/// Converts a tool's result to an object, as providers require: an object is unchanged, `null` becomes `{}`, any other
/// value `{"result": …}`.
///
/// ```
/// use petalflow::tool::normalize;
/// use serde_json::{Value, json};
///
/// assert_eq!(Value::from(normalize(json!({ "sum": 3 }))), json!({ "sum": 3 }));
/// assert_eq!(Value::from(normalize(json!(null))), json!({}));
/// assert_eq!(Value::from(normalize(json!([1, 2]))), json!({ "result": [1, 2] }));
/// ```
pub fn normalize(result: Value) -> Map<String, Value> {
    match result {
        Value::Object(result) => result,
        Value::Null => Map::new(),
        result => Map::from_iter([("result".into(), result)]),
    }
}

/// Calls a tool and returns its result as an object.
///
/// # Errors
///
/// The error of the tool.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::{ToolContext, invoke};
/// use serde_json::{Map, json};
///
/// /// Tosses a coin.
/// #[tool]
/// fn toss() -> &'static str {
///     "heads"
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let result = invoke(&toss {}, Map::new(), &ToolContext::new("1")).await.unwrap();
/// assert_eq!(result["result"], "heads");
/// # }
/// ```
pub async fn invoke<T: Tool + ?Sized>(
    tool: &T,
    arguments: Map<String, Value>,
    cx: &ToolContext,
) -> Result<Map<String, Value>, InvokeError> {
    let result = tool.call(Value::Object(arguments), cx).await;
    result.map(normalize).map_err(InvokeError)
}
