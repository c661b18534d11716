//! A layer that checks the arguments of a tool.

use async_trait::async_trait;
use serde_json::Value;

use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

type Check = dyn Fn(&Value) -> Result<(), String> + Send + Sync;

/// Checks the arguments before the call, for conditions that a type cannot express. The model reads the error, and no
/// [retry](crate::tool::layer::RetryLayer) repeats the call.
///
/// ```
/// use petalflow::tool::layer::ArgumentCheck;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let lend = FuncTool::new("lend", "Lends a book.", |_: Value| async { Ok("lent") });
/// let tool = lend.layer(ArgumentCheck::new(|arguments| {
///     let weeks = arguments["weeks"].as_u64();
///     if weeks.is_some_and(|weeks| weeks <= 4) { Ok(()) } else { Err("`weeks` is at most 4".into()) }
/// }));
/// let error = tool.call(json!({ "weeks": 9 }), &ToolContext::new("1")).await.unwrap_err();
/// assert_eq!(error.to_string(), "the arguments of tool `lend` do not fit: `weeks` is at most 4");
/// # }
/// ```
pub struct ArgumentCheck(Box<Check>);

impl std::fmt::Debug for ArgumentCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArgumentCheck").finish_non_exhaustive()
    }
}

impl ArgumentCheck {
    /// Creates the layer from a check function.
    pub fn new(check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Self {
        ArgumentCheck(Box::new(check))
    }
}

#[async_trait]
impl ToolLayer for ArgumentCheck {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        (self.0)(&arguments).map_err(|problem| {
            let name = &tool.spec().name;
            ToolError::Arguments(format!(
                "the arguments of tool `{name}` do not fit: {problem}"
            ))
        })?;
        tool.call(arguments, cx).await
    }
}
