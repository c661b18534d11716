//! A rate limit for calls of tools and attempts of nodes.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{Middleware, Next, NodeCall};
use crate::error::BoxError;
use crate::state::State;

/// Limits the rate of calls of tools, or of attempts of nodes: one that exceeds it waits.
///
/// It is a leaky bucket (the generic cell rate algorithm): a burst of calls is allowed, then calls are evenly spread. A
/// limit that several tools share counts their calls together. As [middleware](crate::Middleware), it counts the attempts of
/// all nodes that it surrounds together, in all runs of its launch; [`for_nodes`](super::for_nodes) selects them.
/// The time that an attempt waits is part of its timeout.
///
/// Calls run in the order in which they came. A call that is cancelled while it waits does not count.
///
/// ```
/// use petalflow::middleware::RateLimit;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let tool = ping.layer(RateLimit::new(2, Duration::from_secs(1)));
/// let started = tokio::time::Instant::now();
/// for _ in 0..4 {
///     tool.call(json!({}), &ToolContext::new("1")).await.unwrap();
/// }
/// // Two at once, and then one every half second.
/// assert_eq!(started.elapsed().as_millis(), 1000);
/// # }
/// ```
#[derive(Debug)]
pub struct RateLimit {
    /// The interval between two evenly spread calls.
    interval: Duration,
    /// How far ahead of the even spread a call may come.
    burst: Duration,
    /// The time of the next call in the even spread; `None` before the first. Whoever holds it is the first of those that
    /// wait: a caller that has gone takes no time from the others.
    next: Mutex<Option<Instant>>,
}

impl RateLimit {
    /// At most this many calls in each period, which may come in one burst. Zero counts as one.
    pub fn new(calls: u32, per: Duration) -> Self {
        let calls = calls.max(1);
        let interval = per / calls;
        RateLimit {
            interval,
            burst: interval * (calls - 1),
            next: Mutex::new(None),
        }
    }

    /// Waits until a call may run, and counts it.
    ///
    /// # Cancel safety
    ///
    /// Nothing is counted if the future is dropped.
    pub(crate) async fn wait(&self) {
        let mut next = self.next.lock().await;
        let now = Instant::now();
        let due = next.unwrap_or(now).max(now);
        if let Some(slot) = due.checked_sub(self.burst).filter(|slot| *slot > now) {
            tokio::time::sleep_until(slot).await;
        }
        *next = Some(due + self.interval);
    }
}

#[async_trait]
impl<S: State> Middleware<S> for RateLimit {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        self.wait().await;
        next.run(call).await
    }
}
