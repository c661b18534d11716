//! A cache for tool results.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::cache::{Cache, InMemoryCache};
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

/// Caches results of calls with the same arguments, in a [`Cache`].
///
/// Only successful results are stored, and only of calls without [requests](crate::tool::Actions).
///
/// A result is not stored if the tool, or a layer inside of this one, read something that belongs to the caller: the
/// credential, the confirmation, the state, the requests, the [`Context`](crate::Context) or a managed value. So no user
/// gets a result that was made with the credential of another one. Such a call is made each time. If a tool reads its
/// credential elsewhere, for example in a closure that was made for one user, give each user a cache.
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

impl_debug!([C] Cached<C>, |this| lasts = this.lasts);

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
        let before = cx.requests().clone();
        let inner = cx.unread();
        let result = tool.call(arguments, &inner).await;
        let is_shared = !inner.was_read();
        if !is_shared {
            // A cache around this one must not store the result either.
            cx.mark_read();
        }
        let result = result?;
        let wants_nothing = *cx.requests() == before;
        if wants_nothing && is_shared {
            let bytes = result.to_string().into_bytes();
            self.cache.put(&key, bytes, self.lasts).await;
        }
        Ok(result)
    }
}
