//! A rate limit around a tool.

use async_trait::async_trait;
use serde_json::Value;

use crate::middleware::RateLimit;
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

#[async_trait]
impl ToolLayer for RateLimit {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        self.wait().await;
        tool.call(arguments, cx).await
    }
}
