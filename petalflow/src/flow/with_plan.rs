//! A flow whose plan a launch changed.

use std::sync::Arc;

use super::{AnyFlow, Lane};
use crate::erased::{AnyEffects, AnyState, StateType};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::node::{Requirements, Scope};
use crate::plan::ExecutionPlan;

/// A flow with retries or interrupts of a launch. See [`Launch::with_retry`](crate::Launch::with_retry) and
/// [`Launch::with_interrupts`](crate::Launch::with_interrupts).
pub(crate) struct WithPlan {
    flow: Arc<dyn AnyFlow>,
    plan: Arc<ExecutionPlan>,
    /// The number of interrupts of the flow itself.
    interrupt_points: u32,
}

impl WithPlan {
    pub(crate) fn new(flow: Arc<dyn AnyFlow>, plan: Arc<ExecutionPlan>) -> Self {
        let interrupt_points = petalflow_graph::to_u32(flow.plan().interrupt_points.len());
        WithPlan {
            flow,
            plan,
            interrupt_points,
        }
    }
}

impl AnyFlow for WithPlan {
    fn state_type(&self) -> &'static StateType {
        self.flow.state_type()
    }

    fn name(&self) -> &str {
        self.flow.name()
    }

    fn stored_name(&self) -> &str {
        self.flow.stored_name()
    }

    fn plan(&self) -> Arc<ExecutionPlan> {
        Arc::clone(&self.plan)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.flow.require(requirements);
    }

    fn guard(&self, point: u32, state: &dyn AnyState) -> Result<bool, BoxError> {
        // The interrupts of the launch come last, and have no guard.
        if point < self.interrupt_points {
            self.flow.guard(point, state)
        } else {
            Ok(true)
        }
    }

    fn run_node<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a dyn AnyState,
        effects: &'a mut dyn AnyEffects,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.flow.run_node(scope, state, effects)
    }

    fn run_lane<'a>(&'a self, lane: Lane<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        self.flow.run_lane(lane)
    }
}
