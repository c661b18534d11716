//! Failures of nodes by the book.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use petalflow::middleware::{BoxFuture, Middleware, Next, NodeCall};
use petalflow::{BoxError, State};

/// Middleware that makes the n-th call of a node fail, panic or hang, and lets all others pass. Calls are counted over all
/// launches that share it, attempts included; clones share the count.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_testing::Script;
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
/// let script = Script::new().fail("write", 1);
/// let error = Write::new().middleware(script.clone()).run(()).await.err().unwrap();
/// assert!(error.to_string().contains("call 1 of node `write` fails by the script"));
/// Write::new().middleware(script).run(()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    acts: Vec<(String, u64, Act)>,
    calls: Arc<Mutex<HashMap<String, u64>>>,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Fail,
    Panic,
    Hang,
}

impl Script {
    /// A script in which nothing happens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The n-th call of the node fails, from 1.
    #[must_use]
    pub fn fail(self, node: impl Into<String>, nth: u64) -> Self {
        self.act(node, nth, Act::Fail)
    }

    /// The n-th call of the node panics, from 1.
    #[must_use]
    pub fn panic(self, node: impl Into<String>, nth: u64) -> Self {
        self.act(node, nth, Act::Panic)
    }

    /// The n-th call of the node never ends, from 1: for timeouts, and for siblings that finish while it hangs.
    #[must_use]
    pub fn hang(self, node: impl Into<String>, nth: u64) -> Self {
        self.act(node, nth, Act::Hang)
    }

    fn act(mut self, node: impl Into<String>, nth: u64, act: Act) -> Self {
        self.acts.push((node.into(), nth, act));
        self
    }

    /// How often the node was called.
    pub fn calls(&self, node: &str) -> u64 {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(node).copied().unwrap_or(0)
    }

    /// Counts anew.
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

impl<S: State> Middleware<S> for Script {
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let count = self.count(call.node());
        let act = self
            .acts
            .iter()
            .find(|(node, nth, _)| node == call.node() && *nth == count);
        let said = format!("call {count} of node `{}` fails by the script", call.node());
        match act.map(|(_, _, act)| *act) {
            None => next.run(call),
            Some(Act::Fail) => Box::pin(async move { Err(said.into()) }),
            Some(Act::Panic) => Box::pin(async move { panic!("{said}") }),
            Some(Act::Hang) => Box::pin(std::future::pending()),
        }
    }
}
