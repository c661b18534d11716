//! A layer that calls a tool only if a condition is met.

use async_trait::async_trait;
use serde_json::Value;

use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

type Condition = dyn Fn(&Value, &ToolContext) -> Result<(), String> + Send + Sync;

/// Calls a tool only if a condition is met; otherwise the model reads the reason.
///
/// ```
/// use petalflow::tool::layer::CallCondition;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let order = FuncTool::new("order", "Orders a book.", |_: Value| async { Ok("ordered") });
/// let tool = order.layer(CallCondition::new(|_, cx| match cx.state("paid") {
///     Some(Value::Bool(true)) => Ok(()),
///     _ => Err("the user has not paid".into()),
/// }));
/// let cx = ToolContext::new("1");
/// assert_eq!(tool.call(json!({}), &cx).await.unwrap_err().to_string(), "the user has not paid");
/// cx.set_state("paid", true);
/// assert_eq!(tool.call(json!({}), &cx).await.unwrap(), "ordered");
/// # }
/// ```
pub struct CallCondition(Box<Condition>);

impl std::fmt::Debug for CallCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallCondition").finish_non_exhaustive()
    }
}

impl CallCondition {
    /// Creates the layer from a condition on the arguments and the context of the call.
    pub fn new(
        condition: impl Fn(&Value, &ToolContext) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        CallCondition(Box::new(condition))
    }
}

#[async_trait]
impl ToolLayer for CallCondition {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        (self.0)(&arguments, cx).map_err(|problem| ToolError::Failed(problem.into()))?;
        tool.call(arguments, cx).await
    }
}
