//! Gives a tool only so much time.

use std::time::Duration;

use serde_json::Value;

use super::ToolLayer;
use crate::future::BoxFuture;
use crate::tool::{Tool, ToolContext, ToolError, attempts};

/// Gives each call only so much time.
///
/// ```
/// use petalflow::tool::layer::Timed;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let slow = FuncTool::new("slow", "Never ends.", |_: Value| std::future::pending::<petalflow::Result<()>>());
/// let tool = slow.layer(Timed::new(Duration::from_secs(2)));
/// let error = tool.call(json!({}), &ToolContext::new("1")).await.unwrap_err();
/// assert_eq!(error.to_string(), "tool `slow` timed out after 2s");
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timed(Duration);

impl Timed {
    /// The longest one call may take.
    pub const fn new(time: Duration) -> Self {
        Timed(time)
    }
}

impl ToolLayer for Timed {
    fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        let name = &tool.spec().name;
        let time = Some(self.0);
        Box::pin(attempts(name, &[], time, arguments, cx, move |arguments| {
            tool.call(arguments, cx)
        }))
    }
}
