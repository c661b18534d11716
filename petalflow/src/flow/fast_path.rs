//! The barrier of the fast path, which the generated dispatch passes without the driver.

use petalflow_graph::NodeIdx;

use crate::cancel_token::RunToken;
use crate::node::{Effects, RouteChoice, Scope};
use crate::plan::ExecutionPlan;
use crate::state::{KeySet, State, Update as _, WriteError};
use crate::superstep::commit_one;

/// The data that the fast path needs at its barriers.
#[derive(Debug)]
pub(crate) struct FastPath {
    /// The keys that have been written. The other paths use it too.
    pub(crate) written: KeySet,
    /// The superstep before which the driver checks limits; 0 while writes are applied.
    pub(crate) pause_at: u64,
}

impl FastPath {
    pub(crate) fn new(written: KeySet) -> Self {
        FastPath {
            written,
            pause_at: 0,
        }
    }

    /// Commits the superstep and returns the fast node that follows, if it is the only one. Returns `None` and changes
    /// nothing if other nodes follow, or if the driver must act or report first.
    pub(crate) fn advance<S: State>(
        &mut self,
        scope: &mut Scope,
        state: &mut S,
        effects: &mut Effects<S>,
    ) -> Option<NodeIdx> {
        if self.is_paused(scope) {
            return None;
        }
        let next = next_fast(&scope.shared.plan, scope.node, effects)?;
        // Marks a panic of a reducer, so that it is not attributed to the node.
        let pause_at = std::mem::replace(&mut self.pause_at, 0);
        let result = self.commit(state, effects);
        self.pause_at = pause_at;
        // The driver commits again, gets the same error, and reports it.
        result.ok()?;
        scope.superstep += 1;
        scope.node = next;
        Some(next)
    }

    pub(crate) fn is_paused(&self, scope: &Scope) -> bool {
        let draining = || {
            let cancel = scope.shared.cancel.as_ref();
            cancel.is_some_and(RunToken::stops_at_barrier)
        };
        scope.superstep >= self.pause_at || draining()
    }

    pub(crate) fn commit<S: State>(
        &mut self,
        state: &mut S,
        effects: &mut Effects<S>,
    ) -> Result<(), WriteError> {
        if effects.update.written_any() || !S::EPHEMERAL.is_empty() {
            commit_one(state, &mut self.written, &mut effects.update)
        } else {
            Ok(())
        }
    }
}

/// The fast node that follows, if it is the only one. Clears the route that the node chose.
pub(crate) fn next_fast<S: State>(
    plan: &ExecutionPlan,
    node: NodeIdx,
    effects: &mut Effects<S>,
) -> Option<NodeIdx> {
    if !effects.deliveries().is_empty() {
        return None;
    }
    match effects.chosen() {
        RouteChoice::Edges => plan.chain_next[node.index()].get(),
        RouteChoice::One(route) => {
            let targets = plan.out_edges[node.index()].routes.get(route.index())?;
            let next = plan.only_fast_target(targets)?;
            effects.forget_choice();
            Some(next)
        }
        RouteChoice::Many => None,
    }
}
