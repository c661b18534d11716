//! A timeout for tools.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::tool::{Tool, ToolContext, ToolError, ToolLayer, attempts};

/// Limits the duration of each call.
///
/// ```
/// use petalflow::tool::layer::TimeoutLayer;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let slow = FuncTool::new("slow", "Never ends.", |_: Value| std::future::pending::<petalflow::Result<()>>());
/// let tool = slow.layer(TimeoutLayer::new(Duration::from_secs(2)));
/// let error = tool.call(json!({}), &ToolContext::new("1")).await.unwrap_err();
/// assert_eq!(error.to_string(), "tool `slow` timed out after 2s");
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer(Duration);

impl TimeoutLayer {
    /// The maximum duration of one call.
    pub const fn new(time: Duration) -> Self {
        TimeoutLayer(time)
    }
}

#[async_trait]
impl ToolLayer for TimeoutLayer {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let name = &tool.spec().name;
        let time = Some(self.0);
        attempts(name, &[], time, arguments, cx, move |arguments| {
            tool.call(arguments, cx)
        })
        .await
    }
}
