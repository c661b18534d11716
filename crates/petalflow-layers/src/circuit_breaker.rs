//! A circuit breaker for tools and nodes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow::tool::layer::ToolLayer;
use petalflow::tool::{Tool, ToolContext, ToolError};
use petalflow::{BoxError, async_trait, state};
use serde_json::Value;
use tokio::time::Instant;

/// A circuit breaker: rejects calls of a tool, or attempts of a node, that keeps failing.
///
/// After a number of consecutive failures, calls fail at once until a pause has passed. Then one call tests whether the
/// tool works again. Arguments that do not fit do not count as failures.
///
/// As [middleware](petalflow::Middleware), it counts the failures of all nodes that it surrounds together: give each node that
/// fails for its own reasons a breaker of its own, with [`for_nodes`](petalflow::middleware::for_nodes).
///
/// ```
/// use petalflow_layers::CircuitBreaker;
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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
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
    /// use petalflow_layers::CircuitBreaker;
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
    fn admit(&self, now: Instant) -> Result<(), (u32, Duration)> {
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

    fn record(&self, works: bool, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if works {
            *state = State::default();
            return;
        }
        state.failed = state.failed.saturating_add(1);
        if state.failed >= self.failures {
            state.until = Some(now + self.pause);
        }
    }
}

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

#[async_trait]
impl<S: state::State> Middleware<S> for CircuitBreaker {
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
