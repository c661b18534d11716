//! A cache for tool results.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::cache::{Cache, InMemoryCache};
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

/// Caches results of calls with the same arguments, in a [`Cache`].
///
/// Only successful results are stored, and only of calls without [requests](crate::tool::Actions).
///
/// ```
/// use petalflow::cache::InMemoryCache;
/// use petalflow::tool::layer::Cached;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// static CALLS: AtomicU32 = AtomicU32::new(0);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let count = FuncTool::new("count", "Counts its calls.", |_: Value| async { Ok(CALLS.fetch_add(1, Ordering::SeqCst)) });
/// let tool = count.layer(Cached::new(InMemoryCache::new(), Duration::from_secs(60)));
/// for title in ["petals", "petals", "leaves"] {
///     tool.call(json!({ "title": title }), &ToolContext::new("1")).await.unwrap();
/// }
/// assert_eq!(CALLS.load(Ordering::SeqCst), 2);
/// # }
/// ```
pub struct Cached<C = InMemoryCache> {
    cache: C,
    lasts: Duration,
}

impl<C> fmt::Debug for Cached<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached")
            .field("lasts", &self.lasts)
            .finish_non_exhaustive()
    }
}

impl<C: Cache> Cached<C> {
    /// Stores results in this cache for this long.
    pub fn new(cache: C, lasts: Duration) -> Self {
        Cached { cache, lasts }
    }
}

#[async_trait]
impl<C: Cache> ToolLayer for Cached<C> {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let key = format!("tool\0{}\0{arguments}", tool.spec().name).into_bytes();
        let known = self.cache.get(&key).await;
        if let Some(result) = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(result);
        }
        let before = cx.actions().clone();
        let result = tool.call(arguments, cx).await?;
        let wants_nothing = *cx.actions() == before;
        if wants_nothing {
            let bytes = result.to_string().into_bytes();
            self.cache.put(&key, bytes, self.lasts).await;
        }
        Ok(result)
    }
}
