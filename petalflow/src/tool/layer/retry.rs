//! Retries of tools.

use async_trait::async_trait;
use serde_json::Value;

use crate::policy::Retry;
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer, attempts};

/// Retries a failing tool. The first policy that covers the error decides, as for a node. Arguments that do not fit are
/// not retried.
///
/// ```
/// use petalflow::policy::Retry;
/// use petalflow::tool::layer::RetryLayer;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static CALLS: AtomicU32 = AtomicU32::new(0);
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let flaky = FuncTool::new("flaky", "Fails at first.", |_: Value| async {
///     if CALLS.fetch_add(1, Ordering::SeqCst) < 2 { Err("busy".into()) } else { Ok("done") }
/// });
/// let tool = flaky.layer(RetryLayer::new([Retry::attempts(3)]));
/// assert_eq!(tool.call(json!({}), &ToolContext::new("1")).await.unwrap(), "done");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RetryLayer(Vec<Retry>);

impl RetryLayer {
    /// Creates the layer from retry policies.
    pub fn new(retry: impl Into<Vec<Retry>>) -> Self {
        RetryLayer(retry.into())
    }
}

#[async_trait]
impl ToolLayer for RetryLayer {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let name = &tool.spec().name;
        attempts(name, &self.0, None, arguments, cx, move |arguments| {
            tool.call(arguments, cx)
        })
        .await
    }
}
