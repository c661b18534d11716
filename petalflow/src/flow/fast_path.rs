//! The barrier of the fast path, which the dispatch itself can pass.

use crate::cancel_token::CancelToken;
use crate::node::{Effects, RouteChoice, Scope};
use crate::plan::ExecutionPlan;
use crate::state::{KeySet, State, Update as _, WriteError};
use crate::superstep::commit_one;

/// What the fast path needs at its barriers.
#[derive(Debug)]
pub(crate) struct FastPath {
    /// The keys that have been written.
    pub(crate) written: KeySet,
    /// How many supersteps may be made before the driver looks around; 0 while writes are being folded.
    pub(crate) pause: u64,
}

impl FastPath {
    pub(crate) fn new(written: KeySet) -> Self {
        FastPath { written, pause: 0 }
    }

    /// Goes through the barrier to the quick node that alone follows. `None`, and nothing has happened, where it does not,
    /// or where the driver has something to do or to say.
    #[inline]
    pub(crate) fn go_on<S: State>(
        &mut self,
        scope: &mut Scope,
        state: &mut S,
        effects: &mut Effects<S>,
    ) -> Option<u32> {
        if self.pauses(scope) {
            return None;
        }
        let next = follow(&scope.shared.plan, scope.node, effects)?;
        // So that a panic of a reducer is not taken for one of the node.
        let pause = std::mem::replace(&mut self.pause, 0);
        let result = self.commit(state, effects);
        self.pause = pause;
        // What is refused here is refused again by the driver, which says so.
        result.ok()?;
        scope.superstep += 1;
        scope.node = next;
        Some(next)
    }

    #[inline]
    pub(crate) fn pauses(&self, scope: &Scope) -> bool {
        let draining = || {
            let cancel = scope.shared.cancel.as_ref();
            cancel.is_some_and(CancelToken::is_draining)
        };
        scope.superstep >= self.pause || draining()
    }

    #[inline]
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

/// The quick node that alone follows, if that is so; the choice is then forgotten.
#[inline]
pub(crate) fn follow<S: State>(
    plan: &ExecutionPlan,
    node: u32,
    effects: &mut Effects<S>,
) -> Option<u32> {
    if !effects.deliveries().is_empty() {
        return None;
    }
    match effects.chosen() {
        RouteChoice::Edges => Some(plan.chain_next[node as usize]).filter(|next| *next != u32::MAX),
        RouteChoice::One(route) => {
            let next =
                plan.only_fast_target(plan.out_edges[node as usize].routes.get(route as usize)?)?;
            effects.forget_choice();
            Some(next)
        }
        RouteChoice::Many => None,
    }
}
