//! A layer that reports each completed call of a tool.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;

use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

/// A completed call.
///
/// ```
/// use petalflow::tool::layer::{CallObserver, CallReport};
///
/// fn log(report: &CallReport<'_>) {
///     let outcome = if report.result.is_ok() { "done" } else { "failed" };
///     println!("{} {outcome} after {:?}", report.tool, report.took);
/// }
///
/// let logged = CallObserver::new(log);
/// # let _ = logged;
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct CallReport<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The call's id.
    pub call_id: &'a str,
    /// The duration of the call.
    pub took: Duration,
    /// The result of the call.
    pub result: Result<&'a Value, &'a ToolError>,
}

/// Calls a function after each completed call: for logs and metrics.
///
/// ```
/// use petalflow::tool::layer::CallObserver;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static FAILED: AtomicU32 = AtomicU32::new(0);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let broken = FuncTool::new("broken", "Fails.", |_: Value| async { Err::<(), _>("out of order".into()) });
/// let tool = broken.layer(CallObserver::new(|report| {
///     FAILED.fetch_add(u32::from(report.result.is_err()), Ordering::SeqCst);
/// }));
/// tool.call(json!({}), &ToolContext::new("1")).await.unwrap_err();
/// assert_eq!(FAILED.load(Ordering::SeqCst), 1);
/// # }
/// ```
pub struct CallObserver(Box<dyn Fn(&CallReport<'_>) + Send + Sync>);

impl std::fmt::Debug for CallObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallObserver").finish_non_exhaustive()
    }
}

impl CallObserver {
    /// Creates the layer from a hook.
    pub fn new(hook: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        CallObserver(Box::new(hook))
    }
}

#[async_trait]
impl ToolLayer for CallObserver {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let started = Instant::now();
        let result = tool.call(arguments, cx).await;
        (self.0)(&CallReport {
            tool: &tool.spec().name,
            call_id: &cx.call_id,
            took: started.elapsed(),
            result: result.as_ref(),
        });
        result
    }
}
