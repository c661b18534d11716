//! A circuit breaker for tools and nodes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{Middleware, Next, NodeCall};
use crate::error::BoxError;
use crate::state::State;

/// A circuit breaker: rejects calls of a tool, or attempts of a node, that keeps failing.
///
/// After a number of consecutive failures, calls fail at once until a pause has passed. Then one call tests whether the
/// tool works again. Arguments that do not fit do not count as failures.
///
/// As [middleware](crate::Middleware), it counts the failures of all nodes that it surrounds together: give each node that
/// fails for its own reasons a breaker of its own, with [`for_nodes`](super::for_nodes).
///
/// ```
/// use petalflow::middleware::CircuitBreaker;
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let broken = FuncTool::new("broken", "Fails.", |_: Value| async { Err::<(), _>("out of order".into()) });
/// let tool = broken.layer(CircuitBreaker::new(2, Duration::from_secs(30)));
/// let mut messages = vec![];
/// for _ in 0..3 {
///     messages.push(tool.call(json!({}), &ToolContext::new("1")).await.unwrap_err().to_string());
/// }
/// assert_eq!(messages[1], "out of order");
/// assert_eq!(messages[2], "tool `broken` has failed 2 times in a row and is not called for 30s; continue without it");
/// # }
/// ```
#[derive(Debug)]
pub struct CircuitBreaker {
    failures: u32,
    pause: Duration,
    state: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    /// Consecutive failures.
    failed: u32,
    /// The time until which calls fail at once, after enough failures.
    until: Option<Instant>,
}

impl CircuitBreaker {
    /// Rejects calls for `pause` after this many consecutive failures.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool, ToolContext};
    /// use petalflow::middleware::CircuitBreaker;
    /// use serde_json::{Value, json};
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use std::time::Duration;
    ///
    /// static CALLS: AtomicU32 = AtomicU32::new(0);
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let fails_once = FuncTool::new("clock", "What time it is.", |_: Value| async {
    ///     if CALLS.fetch_add(1, Ordering::SeqCst) == 0 { Err("out of order".into()) } else { Ok("12:00") }
    /// });
    /// let (tool, cx) = (fails_once.layer(CircuitBreaker::new(1, Duration::from_secs(30))), ToolContext::new("1"));
    /// assert!(tool.call(json!({}), &cx).await.is_err());
    /// assert!(tool.call(json!({}), &cx).await.is_err(), "it is not called in the pause");
    /// tokio::time::advance(Duration::from_secs(30)).await;
    /// assert_eq!(tool.call(json!({}), &cx).await.unwrap(), "12:00");
    /// # }
    /// ```
    pub fn new(failures: u32, pause: Duration) -> Self {
        CircuitBreaker {
            failures: failures.max(1),
            pause,
            state: Mutex::default(),
        }
    }

    /// Allows a call, or returns the number of failures and the remaining pause.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), (u32, Duration)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.until {
            Some(until) if now < until => Err((state.failed, until - now)),
            Some(_) => {
                // This call is the test; other calls wait for its result.
                state.until = Some(now + self.pause);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Counts a result.
    pub(crate) fn record(&self, works: bool, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if works {
            *state = Failures::default();
            return;
        }
        state.failed = state.failed.saturating_add(1);
        if state.failed >= self.failures {
            state.until = Some(now + self.pause);
        }
    }
}

#[async_trait]
impl<S: State> Middleware<S> for CircuitBreaker {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        if let Err((failed, left)) = self.admit(Instant::now()) {
            let node = call.node();
            let problem = format!(
                "node `{node}` is not run for {left:?}, because its circuit breaker counted {failed} failures in a row"
            );
            return Err(problem.into());
        }
        let result = next.run(call).await;
        self.record(result.is_ok(), Instant::now());
        result
    }
}
