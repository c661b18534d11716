//! A flow that a launch changed.

use std::future::Future;
use std::sync::Arc;

use super::{Flow, Step};
use crate::error::BoxError;
use crate::node::Requirements;
use crate::plan::ExecutionPlan;
use crate::policy::Retry;

/// A flow that a launch changed: retries of a node, or interrupts. See [`Launch::with_retry`](crate::Launch::with_retry) and
/// [`Launch::with_interrupts`](crate::Launch::with_interrupts).
#[derive(Debug)]
pub struct WithPlan<F> {
    flow: Arc<F>,
    plan: Arc<ExecutionPlan>,
    /// The number of interrupts of the flow itself.
    interrupt_points: u32,
}

impl<F> Clone for WithPlan<F> {
    fn clone(&self) -> Self {
        WithPlan {
            flow: Arc::clone(&self.flow),
            plan: Arc::clone(&self.plan),
            interrupt_points: self.interrupt_points,
        }
    }
}

impl<F: Flow> WithPlan<F> {
    pub(crate) fn retrying(flow: Arc<F>, node: &str, retries: Vec<Retry>) -> Self {
        let changes = !retries.is_empty();
        Self::new(flow, changes, |plan| plan.retrying(node, retries))
    }

    pub(crate) fn interrupted(flow: Arc<F>, before: &[&str], after: &[&str]) -> Self {
        let changes = !before.is_empty() || !after.is_empty();
        Self::new(flow, changes, |plan| plan.interrupted(before, after))
    }

    fn new(
        flow: Arc<F>,
        changes: bool,
        change: impl FnOnce(ExecutionPlan) -> ExecutionPlan,
    ) -> Self {
        let mut plan = flow.plan();
        let interrupt_points = petalflow_graph::to_u32(plan.interrupt_points.len());
        if changes {
            plan = Arc::new(change(Arc::unwrap_or_clone(plan)));
        }
        WithPlan {
            flow,
            plan,
            interrupt_points,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow> Flow for WithPlan<F> {
    type State = F::State;

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

    fn guard(&self, point: u32, state: &F::State) -> Result<bool, BoxError> {
        // The interrupts of the launch come last, and have no guard.
        if point < self.interrupt_points {
            self.flow.guard(point, state)
        } else {
            Ok(true)
        }
    }

    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, F::State>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        self.flow.step(node, step)
    }
}
