//! Calls a tool only so often.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;

use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

/// Calls a tool only so often: a call that comes too early waits its turn.
///
/// It is a leaky bucket (the generic cell rate algorithm): so many calls may come at once, and then one at a time, evenly
/// spread. A limit that several tools share counts them together.
///
/// ```
/// use petalflow::tool::layer::RateLimit;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let tool = ping.layer(RateLimit::new(2, Duration::from_secs(1)));
/// let begun = tokio::time::Instant::now();
/// for _ in 0..4 {
///     tool.call(json!({}), &ToolContext::new("1")).await.unwrap();
/// }
/// // Two at once, and then one every half second.
/// assert_eq!(begun.elapsed().as_millis(), 1000);
/// # }
/// ```
#[derive(Debug)]
pub struct RateLimit {
    /// The time between two calls, evenly spread.
    apart: Duration,
    /// How far ahead of that calls may come.
    burst: Duration,
    /// When the next call would come if all were evenly spread; none yet.
    next: Mutex<Option<Instant>>,
}

impl RateLimit {
    /// At most so many calls at once, and in each such time. None at all counts as one.
    pub fn new(calls: u32, per: Duration) -> Self {
        let calls = calls.max(1);
        let apart = per / calls;
        RateLimit {
            apart,
            burst: apart * (calls - 1),
            next: Mutex::new(None),
        }
    }

    /// Takes a place, and says when it is.
    fn place(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let due = next.unwrap_or(now).max(now);
        *next = Some(due + self.apart);
        due.checked_sub(self.burst).map_or(now, |due| due.max(now))
    }
}

#[async_trait]
impl ToolLayer for RateLimit {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let now = Instant::now();
        let turn = self.place(now);
        if turn > now {
            tokio::time::sleep_until(turn).await;
        }
        tool.call(arguments, cx).await
    }
}
