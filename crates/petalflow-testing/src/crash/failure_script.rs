//! Failures of chosen calls of nodes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use petalflow::async_trait;
use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow::{BoxError, State};

/// Middleware that makes the n-th call of a node fail, panic or hang. Other calls are not changed. It counts the calls of all
/// launches that share it, including attempts. Clones share the count.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_testing::FailureScript;
///
/// # #[state]
/// # struct Essay { draft: String }
/// #[node(Essay)]
/// async fn write() -> EssayDraft {
///     EssayDraft("…".into())
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let script = FailureScript::new().fail("write", 1);
/// let error = Write::new().middleware(script.clone()).run(()).await.err().unwrap();
/// assert!(error.to_string().contains("call 1 of node `write` fails as scripted"));
/// Write::new().middleware(script).run(()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct FailureScript {
    failures: Vec<(String, u64, Failure)>,
    calls: Arc<Mutex<HashMap<String, u64>>>,
}

#[derive(Clone, Copy, Debug)]
enum Failure {
    Fail,
    Panic,
    Hang,
}

impl FailureScript {
    /// A script without failures.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The n-th call of the node, counted from 1, fails.
    #[must_use]
    pub fn fail(self, node: impl Into<String>, nth: u64) -> Self {
        self.add(node, nth, Failure::Fail)
    }

    /// The n-th call of the node, counted from 1, panics.
    #[must_use]
    pub fn panic(self, node: impl Into<String>, nth: u64) -> Self {
        self.add(node, nth, Failure::Panic)
    }

    /// The n-th call of the node, counted from 1, never ends: for timeouts, and for siblings that finish while it hangs.
    #[must_use]
    pub fn hang(self, node: impl Into<String>, nth: u64) -> Self {
        self.add(node, nth, Failure::Hang)
    }

    fn add(mut self, node: impl Into<String>, nth: u64, failure: Failure) -> Self {
        self.failures.push((node.into(), nth, failure));
        self
    }

    /// How many times the node was called.
    pub fn calls(&self, node: &str) -> u64 {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(node).copied().unwrap_or(0)
    }

    /// Sets all counts to zero.
    pub fn reset(&self) {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn count(&self, node: &str) -> u64 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(node.to_string()).or_default();
        *count += 1;
        *count
    }
}

#[async_trait]
impl<S: State> Middleware<S> for FailureScript {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        let count = self.count(call.node());
        let failure = self
            .failures
            .iter()
            .find(|(node, nth, _)| node == call.node() && *nth == count);
        let message = format!("call {count} of node `{}` fails as scripted", call.node());
        match failure.map(|(_, _, failure)| *failure) {
            None => next.run(call).await,
            Some(Failure::Fail) => Err(message.into()),
            Some(Failure::Panic) => panic!("{message}"),
            Some(Failure::Hang) => std::future::pending().await,
        }
    }
}
