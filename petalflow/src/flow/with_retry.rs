//! A flow with changed retries.

use std::future::Future;
use std::sync::Arc;

use super::{Flow, Step};
use crate::error::BoxError;
use crate::node::Requirements;
use crate::plan::ExecutionPlan;
use crate::policy::Retry;

/// A flow with changed retries of one node, created by [`Launch::with_retry`](crate::Launch::with_retry).
#[derive(Debug)]
pub struct WithRetry<F> {
    flow: Arc<F>,
    plan: Arc<ExecutionPlan>,
}

impl<F> Clone for WithRetry<F> {
    fn clone(&self) -> Self {
        WithRetry {
            flow: Arc::clone(&self.flow),
            plan: Arc::clone(&self.plan),
        }
    }
}

impl<F: Flow> WithRetry<F> {
    pub(crate) fn new(flow: Arc<F>, node: &str, retries: Vec<Retry>) -> Self {
        let mut plan = flow.plan();
        if !retries.is_empty() {
            plan = Arc::new(plan.retrying(node, retries));
        }
        WithRetry { flow, plan }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Flow> Flow for WithRetry<F> {
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

    fn gate(&self, gate: u32, state: &F::State) -> Result<bool, BoxError> {
        self.flow.gate(gate, state)
    }

    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, F::State>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        self.flow.step(node, step)
    }
}
