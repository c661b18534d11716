//! The argument of the generated dispatch.

use petalflow_graph::NodeIdx;

use super::FastPath;
use crate::node::{Effects, Scope};
use crate::state::State;

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

impl<'a, S: State> Step<'a, S> {
    /// A step of the fast path.
    pub(crate) fn fast_path(
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

    /// Commits the superstep of the node that has run, and returns the next node if it is the only one and can use the
    /// fast path. Otherwise changes nothing, and the driver continues.
    ///
    /// A chain of nodes thus stays in one loop: leaving and entering the dispatch costs more than the rest of a
    /// superstep.
    pub fn advance(&mut self) -> Option<u32> {
        match &mut self.at {
            At::FastPath {
                fast_path,
                scope,
                state,
            } => fast_path
                .advance(scope, &mut **state, self.effects)
                .map(NodeIdx::as_u32),
            At::Task { .. } => None,
        }
    }
}

impl_debug!([S: State] Step<'_, S>, |this| scope = this.scope());
