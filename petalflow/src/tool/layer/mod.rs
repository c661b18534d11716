//! Code around tools: retries, timeouts, limits, caches, and whatever else implements [`ToolLayer`].
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::layer::{RateLimit, Retried};
//! use petalflow::tool::{Tool, ToolContext};
//! use petalflow::Retry;
//! use serde_json::json;
//! use std::time::Duration;
//!
//! /// Fetches a page.
//! #[tool]
//! async fn fetch(url: String) -> petalflow::Result<String> {
//!     Ok(format!("the text at {url}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // The last layer is the outermost: it waits its turn once, and then tries up to three times.
//! let polite = fetch {}
//!     .layer(Retried::new([Retry::times(3)]))
//!     .layer(RateLimit::new(10, Duration::from_secs(1)));
//! let text = polite.call(json!({ "url": "petals.example" }), &ToolContext::new("1")).await.unwrap();
//! assert_eq!(text, "the text at petals.example");
//! # }
//! ```

mod breaker;
mod cached;
mod checked;
mod observed;
mod only_if;
mod rate_limit;
mod retried;
mod timed;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use breaker::Breaker;
pub use cached::Cached;
pub use checked::Checked;
pub use observed::{Observed, Report};
pub use only_if::OnlyIf;
pub use rate_limit::RateLimit;
pub use retried::Retried;
pub use timed::Timed;

use super::{Tool, ToolContext, ToolError, ToolSpec};
use crate::future::BoxFuture;

/// Code around the calls of a tool: it may call the tool not at all, once, or several times.
///
/// ```
/// use petalflow::middleware::BoxFuture;
/// use petalflow::tool::layer::ToolLayer;
/// use petalflow::tool::{FuncTool, Tool, ToolContext, ToolError};
/// use serde_json::{Value, json};
///
/// /// Answers in capitals.
/// struct Loud;
///
/// impl ToolLayer for Loud {
///     fn call<'a>(
///         &'a self,
///         tool: &'a dyn Tool,
///         arguments: Value,
///         cx: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<Value, ToolError>> {
///         Box::pin(async move {
///             let result = tool.call(arguments, cx).await?;
///             Ok(json!(result.as_str().unwrap_or_default().to_uppercase()))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }).layer(Loud);
/// assert_eq!(ping.call(json!({}), &ToolContext::new("1")).await.unwrap(), "PONG");
/// # }
/// ```
pub trait ToolLayer: Send + Sync + 'static {
    /// Runs around one call.
    ///
    /// # Errors
    ///
    /// Those of the tool, and its own.
    fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;
}

/// A tool with a layer around it: what [`Tool::layer`] returns. Its name, its schema and its confirmations are the tool's.
///
/// ```
/// use petalflow::tool::layer::{Layered, Timed};
/// use petalflow::tool::{FuncTool, Tool};
/// use serde_json::Value;
/// use std::time::Duration;
///
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let ping: Layered = ping.layer(Timed::new(Duration::from_secs(1)));
/// assert_eq!(ping.spec().name, "ping");
/// ```
#[derive(Clone)]
pub struct Layered {
    tool: Arc<dyn Tool>,
    layer: Arc<dyn ToolLayer>,
}

impl fmt::Debug for Layered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered")
            .field("tool", &self.tool.spec().name)
            .finish_non_exhaustive()
    }
}

impl Layered {
    pub(crate) fn new(tool: Arc<dyn Tool>, layer: Arc<dyn ToolLayer>) -> Self {
        Layered { tool, layer }
    }
}

impl Tool for Layered {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.tool.spec()
    }

    fn call<'a>(
        &'a self,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        self.layer.call(&*self.tool, arguments, cx)
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        self.tool.confirm(arguments)
    }
}
