//! Tries again.

use serde_json::Value;

use super::ToolLayer;
use crate::future::BoxFuture;
use crate::policy::Retry;
use crate::tool::{Tool, ToolContext, ToolError, attempts};

/// Tries a failing tool again. Of several policies the first that covers the error decides, as on a node; arguments that do
/// not fit are never tried again.
///
/// ```
/// use petalflow::Retry;
/// use petalflow::tool::layer::Retried;
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
/// let tool = flaky.layer(Retried::new([Retry::times(3)]));
/// assert_eq!(tool.call(json!({}), &ToolContext::new("1")).await.unwrap(), "done");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Retried(Vec<Retry>);

impl Retried {
    /// Tries as these say.
    pub fn new(retry: impl Into<Vec<Retry>>) -> Self {
        Retried(retry.into())
    }
}

impl ToolLayer for Retried {
    fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        let name = &tool.spec().name;
        Box::pin(attempts(
            name,
            &self.0,
            None,
            arguments,
            cx,
            move |arguments| tool.call(arguments, cx),
        ))
    }
}
