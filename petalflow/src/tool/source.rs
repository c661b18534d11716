//! Tools that are not known before they are asked for.

use super::{ToolRegistry, ToolSet};
use crate::error::BoxError;
use crate::future::BoxFuture;

/// Where tools come from that may differ from one moment to the next, such as a server. An agent asks before each call of
/// its model.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow::middleware::BoxFuture;
/// use petalflow::tool::{FuncTool, ToolSet, ToolSource};
/// use serde_json::Value;
///
/// /// Tools for those who have paid.
/// struct Paid(bool);
///
/// impl ToolSource for Paid {
///     fn tools(&self) -> BoxFuture<'_, Result<ToolSet, BoxError>> {
///         Box::pin(async {
///             let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
///             Ok(if self.0 { ToolSet::new().with(ping) } else { ToolSet::new() })
///         })
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
pub trait ToolSource: Send + Sync + 'static {
    /// The tools of this moment.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    fn tools(&self) -> BoxFuture<'_, Result<ToolSet, BoxError>>;
}

impl ToolSource for ToolSet {
    fn tools(&self) -> BoxFuture<'_, Result<ToolSet, BoxError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

impl ToolSource for ToolRegistry {
    fn tools(&self) -> BoxFuture<'_, Result<ToolSet, BoxError>> {
        Box::pin(std::future::ready(Ok(ToolRegistry::tools(self))))
    }
}
