//! A circuit breaker around a tool.

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;

use crate::middleware::CircuitBreaker;
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

#[async_trait]
impl ToolLayer for CircuitBreaker {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        self.admit(Instant::now()).map_err(|(failed, left)| {
                let name = &tool.spec().name;
                let message = format!(
                    "tool `{name}` has failed {failed} times in a row and is not called for {left:?}; continue without it"
                );
                ToolError::Failed(message.into())
            })?;
        let result = tool.call(arguments, cx).await;
        let works = matches!(result, Ok(_) | Err(ToolError::Arguments(_)));
        self.record(works, Instant::now());
        result
    }
}
