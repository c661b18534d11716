//! The argument of the generated dispatch.

use petalflow_graph::NodeIdx;

use crate::effects::{Choice, Effects, RouteChoice};
use crate::node::Scope;
use crate::plan::ExecutionPlan;
use crate::state::{KeySet, State};
use crate::superstep::commit_one;

/// The inputs and effects of one run of a node. One pointer, because every level of the dispatch passes it on.
#[doc(hidden)]
pub struct Step<'a, S: State> {
    at: At<'a, S>,
    effects: &'a mut Effects<S>,
}

/// The mode in which the node runs.
enum At<'a, S> {
    /// On the fast path, where the dispatch passes the barrier.
    FastPath {
        fast_path: &'a mut FastPath,
        scope: &'a mut Scope,
        state: &'a mut S,
    },
    /// As one of several tasks, or inside middleware.
    Task { scope: &'a Scope, state: &'a S },
}

/// What the dispatch needs at the barriers of the fast path.
#[derive(Debug)]
pub(crate) struct FastPath {
    /// The keys that have been written. The executor uses it for other tasks too.
    pub(crate) written: KeySet,
    /// The superstep before which the driver checks limits; 0 while writes are applied.
    pub(crate) pause_at: u64,
}

impl<'a, S: State> Step<'a, S> {
    /// A step of the fast path.
    pub(crate) fn on_fast_path(
        fast_path: &'a mut FastPath,
        scope: &'a mut Scope,
        state: &'a mut S,
        effects: &'a mut Effects<S>,
    ) -> Self {
        Step {
            at: At::FastPath {
                fast_path,
                scope,
                state,
            },
            effects,
        }
    }

    /// One run of one node.
    pub(crate) fn task(scope: &'a Scope, state: &'a S, effects: &'a mut Effects<S>) -> Self {
        Step {
            at: At::Task { scope, state },
            effects,
        }
    }

    pub fn scope(&self) -> &Scope {
        match &self.at {
            At::FastPath { scope, .. } => scope,
            At::Task { scope, .. } => scope,
        }
    }

    pub fn state(&self) -> &S {
        match &self.at {
            At::FastPath { state, .. } => state,
            At::Task { state, .. } => state,
        }
    }

    pub fn effects(&mut self) -> &mut Effects<S> {
        self.effects
    }

    /// The scope, the state and the effects.
    pub fn parts(&mut self) -> (&Scope, &S, &mut Effects<S>) {
        let (scope, state) = match &self.at {
            At::FastPath { scope, state, .. } => (&**scope, &**state),
            At::Task { scope, state } => (*scope, *state),
        };
        (scope, state, self.effects)
    }

    /// On the fast path, commits the superstep of the node that has run, and returns the node that follows. Returns `None` and
    /// changes nothing outside of it, if something other than one node follows, or if the driver must act or report first.
    ///
    /// A chain of nodes thus stays in one loop: leaving and entering the dispatch costs more than the rest of a superstep.
    // Measured: inlined, a superstep of a loop takes 0.7 of the instructions.
    #[inline]
    pub fn advance(&mut self) -> Option<u32> {
        let At::FastPath {
            fast_path,
            scope,
            state,
        } = &mut self.at
        else {
            return None;
        };
        if scope.superstep >= fast_path.pause_at {
            return None;
        }
        let next = next_on_fast_path(&scope.shared.plan, scope.node, &self.effects.choice)?;
        // Marks a panic of a reducer, so that it is not attributed to the node.
        let pause_at = std::mem::replace(&mut fast_path.pause_at, 0);
        let committed = commit_one(&mut **state, &mut fast_path.written, self.effects);
        fast_path.pause_at = pause_at;
        // The driver commits again, gets the same error, and reports it.
        committed.ok()?;
        self.effects.choice.clear();
        scope.superstep += 1;
        scope.node = next;
        scope.life.renew();
        Some(next.as_u32())
    }
}

/// The node that follows on the fast path, if it is the only one.
// Inlined for the same reason as `advance`.
#[inline]
pub(crate) fn next_on_fast_path(
    plan: &ExecutionPlan,
    node: NodeIdx,
    choice: &Choice,
) -> Option<NodeIdx> {
    if !choice.deliveries().is_empty() {
        return None;
    }
    match choice.chosen() {
        RouteChoice::Edges => plan.chain_next[node.index()].get(),
        RouteChoice::One(route) => {
            let targets = plan.out_edges[node.index()].routes.get(route.index())?;
            plan.only_fast_target(targets)
        }
        RouteChoice::Many => None,
    }
}

impl_debug!([S: State] Step<'_, S>, |this| scope = this.scope());
