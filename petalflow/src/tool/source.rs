//! Sources of tools that can change.

use super::{ToolRegistry, ToolSet};
use crate::error::BoxError;
use async_trait::async_trait;

/// A source of tools that can change, such as a server. An agent reads it before each call of its model.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow::tool::{FuncTool, ToolSet, ToolSource};
/// use serde_json::Value;
///
/// /// Tools for those who have paid.
/// struct Paid(bool);
///
/// #[async_trait]
/// impl ToolSource for Paid {
///     async fn tools(&self) -> Result<ToolSet, BoxError> {
///         let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
///         Ok(if self.0 { ToolSet::new().with(ping) } else { ToolSet::new() })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Paid(true).tools().await?.len(), 1);
/// assert_eq!(Paid(false).tools().await?.len(), 0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolSource: Send + Sync + 'static {
    /// The current tools.
    ///
    /// # Errors
    ///
    /// Fails if the tools cannot be listed.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    async fn tools(&self) -> Result<ToolSet, BoxError>;
}

#[async_trait]
impl ToolSource for ToolSet {
    async fn tools(&self) -> Result<ToolSet, BoxError> {
        Ok(self.clone())
    }
}

#[async_trait]
impl ToolSource for ToolRegistry {
    async fn tools(&self) -> Result<ToolSet, BoxError> {
        Ok(ToolRegistry::tools(self))
    }
}
