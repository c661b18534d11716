//! What the dispatch works on.

use super::FastPath;
use crate::node::{Effects, Scope};
use crate::state::State;

/// What one run of a node works on: one pointer for all of it, because every level of the dispatch carries it along.
#[doc(hidden)]
pub struct Step<'a, S: State> {
    at: At<'a, S>,
    effects: &'a mut Effects<S>,
}

/// Where the node runs.
enum At<'a, S> {
    /// On the fast path, where the dispatch itself can go through the barrier.
    FastPath {
        lane: &'a mut FastPath,
        scope: &'a mut Scope,
        state: &'a mut S,
    },
    /// As a task among others, or with something around it.
    Task { scope: &'a Scope, state: &'a S },
}

impl<'a, S: State> Step<'a, S> {
    /// A step of the fast path.
    pub(crate) fn lane(
        lane: &'a mut FastPath,
        scope: &'a mut Scope,
        state: &'a mut S,
        effects: &'a mut Effects<S>,
    ) -> Self {
        Step {
            at: At::FastPath { lane, scope, state },
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

    #[inline]
    pub fn scope(&self) -> &Scope {
        match &self.at {
            At::FastPath { scope, .. } => scope,
            At::Task { scope, .. } => scope,
        }
    }

    #[inline]
    pub fn state(&self) -> &S {
        match &self.at {
            At::FastPath { state, .. } => state,
            At::Task { state, .. } => state,
        }
    }

    #[inline]
    pub fn effects(&mut self) -> &mut Effects<S> {
        self.effects
    }

    /// All three at once.
    pub fn parts(&mut self) -> (&Scope, &S, &mut Effects<S>) {
        let (scope, state) = match &self.at {
            At::FastPath { scope, state, .. } => (&**scope, &**state),
            At::Task { scope, state } => (*scope, *state),
        };
        (scope, state, self.effects)
    }

    /// Goes through the barrier after the node that has run, where nothing but one quick node follows: that one. Otherwise
    /// nothing has happened, and the engine goes on.
    ///
    /// So that a chain stays in one loop from node to node: to leave the dispatch and enter it anew costs more than all the
    /// rest of a superstep.
    #[inline]
    pub fn go_on(&mut self) -> Option<u32> {
        match &mut self.at {
            At::FastPath { lane, scope, state } => lane.go_on(scope, &mut **state, self.effects),
            At::Task { .. } => None,
        }
    }
}

impl<S: State> std::fmt::Debug for Step<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step")
            .field("scope", self.scope())
            .finish_non_exhaustive()
    }
}
