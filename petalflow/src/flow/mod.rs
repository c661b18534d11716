//! Flows: a checked graph together with its nodes, and how to launch one.

mod guard;
mod launch;
mod subflow;
mod wiring;

use std::future::Future;
use std::sync::Arc;

pub use guard::Guard;
pub use launch::Launch;
pub use subflow::subflow;
pub(crate) use wiring::Hop;
pub use wiring::{Gate, NodeSpec, Wiring};

use crate::node::{Effects, Requirements, Scope};
use crate::{BoxError, State};

/// A graph that can run: what [`flow!`](macro@crate::flow) makes, and what the run-time builder builds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "not a flow",
    note = "declare it with `flow!(Name(State) {{ .. }})`"
)]
pub trait Flow: Send + Sync + Sized + 'static {
    /// What the flow knows.
    type State: State;

    /// The flow's name.
    fn name(&self) -> &str;

    /// Its graph, wired for the engine.
    #[doc(hidden)]
    fn wiring(&self) -> Arc<Wiring>;

    /// Collects what its nodes need from the run.
    #[doc(hidden)]
    fn require(&self, requirements: &mut Requirements<'_>);

    /// Whether the guard of an `interrupt` stops the run; `gate` is its place in [`Wiring::gates`].
    ///
    /// # Errors
    ///
    /// The guard's own.
    #[doc(hidden)]
    fn gate(&self, gate: u32, state: &Self::State) -> Result<bool, BoxError> {
        let _ = (gate, state);
        Ok(true)
    }

    /// Runs one node against the superstep's snapshot: the only generated code on the hot path.
    #[doc(hidden)]
    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, Self::State>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a;
}

/// What one run of a node works on: one pointer for all of it, because every level of the dispatch carries it along.
#[doc(hidden)]
pub struct Step<'a, S: State> {
    pub scope: &'a Scope,
    pub state: &'a S,
    pub effects: &'a mut Effects<S>,
}

impl<S: State> std::fmt::Debug for Step<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
