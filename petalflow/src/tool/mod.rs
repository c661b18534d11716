//! Tools: functions that a model may call.

mod call;
mod context;
mod error;
mod spec;

use serde_json::Value;

pub use call::{ToolCall, ToolResult};
pub use context::ToolContext;
pub use error::ToolError;
pub use spec::ToolSpec;

use crate::middleware::BoxFuture;

/// A function that a model may call.
pub trait Tool: Send + Sync + 'static {
    /// What a model is told about it.
    fn spec(&self) -> &std::sync::Arc<ToolSpec>;

    /// Calls it. `null` stands for no result: of a tool that is `long_running`, one that comes later.
    fn call<'a>(
        &'a self,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Whether a person must confirm this call, and what they are told.
    fn confirm(&self, arguments: &Value) -> Option<String> {
        let _ = arguments;
        None
    }
}
