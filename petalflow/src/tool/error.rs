//! The errors of tool calls.

use std::time::Duration;

use crate::error::BoxError;

/// The error of a tool call. The model reads its message.
///
/// ```
/// use petalflow::tool::{FuncTool, Tool, ToolContext, ToolError};
/// use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let broken = FuncTool::new("broken", "Fails.", |_: Value| async { Err::<(), _>("out of order".into()) });
/// let error = broken.call(json!({}), &ToolContext::new("1")).await.unwrap_err();
/// assert!(matches!(error, ToolError::Failed(_)));
/// assert_eq!(error.to_string(), "out of order");
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments do not fit; the message says what and where.
    #[error("{0}")]
    Arguments(String),
    /// The call exceeded its timeout: the tool's name and the timeout.
    #[error("tool `{0}` timed out after {1:?}")]
    Timeout(String, Duration),
    /// The tool failed.
    #[error("{}", crate::error::message_with_sources(&**.0))]
    Failed(BoxError),
}

impl ToolError {
    /// Creates an error of the tool itself.
    ///
    /// ```
    /// use petalflow::tool::ToolError;
    ///
    /// assert_eq!(ToolError::failed("no such book").to_string(), "no such book");
    /// ```
    pub fn failed(error: impl Into<BoxError>) -> Self {
        ToolError::Failed(error.into())
    }
}

/// The error of [`invoke`](super::invoke): the error of the tool, whose text is in the message. It has no source.
///
/// ```
/// use petalflow::tool::{FuncTool, ToolContext, invoke};
/// use serde_json::{Map, Value};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let broken = FuncTool::new("broken", "Fails.", |_: Value| async { Err::<(), _>("out of order".into()) });
/// let error = invoke(&broken, Map::new(), &ToolContext::new("1")).await.unwrap_err();
/// assert_eq!(error.to_string(), "tool call failed: out of order");
/// # }
/// ```
#[derive(thiserror::Error)]
#[error("tool call failed: {0}")]
pub struct InvokeError(pub ToolError);

crate::error::debug_is_message!(ToolError);
crate::error::debug_is_message!(InvokeError);
