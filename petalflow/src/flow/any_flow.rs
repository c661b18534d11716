//! A flow without its type.

use std::sync::Arc;

use super::{FastPath, Flow, Step};
use crate::erased::{AnyEffects, AnyState, StateType, effects_mut, state_mut, state_ref};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::node::{Requirements, Scope};
use crate::plan::ExecutionPlan;

/// A flow without its type. Every [`Flow`] is one.
pub(crate) trait AnyFlow: Send + Sync {
    /// What the type of its state says.
    fn state_type(&self) -> &'static StateType;

    /// See [`Flow::name`].
    fn name(&self) -> &str;

    /// See [`Flow::stored_name`].
    fn stored_name(&self) -> &str;

    /// See [`Flow::plan`].
    fn plan(&self) -> Arc<ExecutionPlan>;

    /// See [`Flow::require`].
    fn require(&self, requirements: &mut Requirements<'_>);

    /// See [`Flow::guard`].
    fn guard(&self, point: u32, state: &dyn AnyState) -> Result<bool, BoxError>;

    /// Runs the node of the scope once.
    fn run_node<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a dyn AnyState,
        effects: &'a mut dyn AnyEffects,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Runs the node of the scope and those that follow it on the fast path. One box for all of them.
    fn run_lane<'a>(&'a self, lane: Lane<'a>) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// The part of a run that its fast path uses.
pub(crate) struct Lane<'a> {
    pub(crate) fast_path: &'a mut FastPath,
    pub(crate) scope: &'a mut Scope,
    pub(crate) state: &'a mut dyn AnyState,
    pub(crate) effects: &'a mut dyn AnyEffects,
}

impl<F: Flow> AnyFlow for F {
    fn state_type(&self) -> &'static StateType {
        StateType::of::<F::State>()
    }

    fn name(&self) -> &str {
        Flow::name(self)
    }

    fn stored_name(&self) -> &str {
        Flow::stored_name(self)
    }

    fn plan(&self) -> Arc<ExecutionPlan> {
        Flow::plan(self)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        Flow::require(self, requirements);
    }

    fn guard(&self, point: u32, state: &dyn AnyState) -> Result<bool, BoxError> {
        Flow::guard(self, point, state_ref(state))
    }

    fn run_node<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a dyn AnyState,
        effects: &'a mut dyn AnyEffects,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let (state, effects) = (state_ref(state), effects_mut(effects));
        Box::pin(async move {
            let mut step = Step::task(scope, state, effects);
            self.step(scope.node.as_u32(), &mut step).await
        })
    }

    fn run_lane<'a>(&'a self, lane: Lane<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let Lane {
            fast_path,
            scope,
            state,
            effects,
        } = lane;
        let node = scope.node.as_u32();
        let (state, effects) = (state_mut(state), effects_mut(effects));
        Box::pin(async move {
            let mut step = Step::on_fast_path(fast_path, scope, state, effects);
            self.step(node, &mut step).await
        })
    }
}
