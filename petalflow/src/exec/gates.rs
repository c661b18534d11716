//! The `interrupt before` and `interrupt after` statements of a flow: where a run stops for a person.

use std::panic::{AssertUnwindSafe, catch_unwind};

use petalflow_graph::NodeIdx;

use super::abort::Abort;
use super::driver::Driver;
use super::persistence::{GateDecision, Persistence, TaskDisposition};
use super::task_end::FinishedTask;
use crate::error::{FailureKind, NodeError};
use crate::flow::Flow;
use crate::outcome::RunErrorKind;
use crate::plan::{ExecutionPlan, Gate};
use crate::superstep::Task;

/// Decides what to do with each task of the frontier; tasks beyond the end of the list run.
pub(super) fn dispositions<F: Flow, P: Persistence<F::State>>(
    driver: &Driver<F>,
    frontier: &[Task],
    persistence: &mut P,
) -> Result<Vec<TaskDisposition<F::State>>, Abort<F::State>> {
    let plan = driver.plan();
    let mut dispositions = persistence.superstep_begun(plan, frontier);
    if plan.gates.is_empty() {
        return Ok(dispositions);
    }
    dispositions.resize_with(frontier.len(), || TaskDisposition::Run);
    for (task, disposition) in frontier.iter().zip(&mut dispositions) {
        for (index, _) in gates_before(plan, task.node) {
            if matches!(disposition, TaskDisposition::Finished(_)) {
                break;
            }
            match persistence.gate_decision(plan, task.node) {
                Some(GateDecision::Skip) => {
                    *disposition = TaskDisposition::Finished(Box::new(FinishedTask::skipped()));
                }
                Some(GateDecision::Continue) => {}
                None => {
                    if guard_stops(driver, index, task.node, "before")? {
                        *disposition = TaskDisposition::Wait;
                        persistence.wait_at_gate(plan, task.node);
                    }
                }
            }
        }
    }
    Ok(dispositions)
}

/// The stored names of the nodes that have run and after which the run waits for a person.
pub(super) fn gates_after<F: Flow>(
    driver: &Driver<F>,
    ended: impl Iterator<Item = NodeIdx> + Clone,
) -> Result<Vec<String>, Abort<F::State>> {
    let plan = driver.plan();
    let mut stops = Vec::new();
    for (index, gate) in plan.gates.iter().enumerate() {
        let name = plan.stored_name(gate.node);
        if gate.after
            && ended.clone().any(|node| node == gate.node)
            && !stops.iter().any(|known| known == name)
            && guard_stops(driver, index, gate.node, "after")?
        {
            stops.push(name.to_string());
        }
    }
    Ok(stops)
}

fn gates_before(plan: &ExecutionPlan, node: NodeIdx) -> impl Iterator<Item = (usize, &Gate)> {
    let gates = plan.gates.iter().enumerate();
    gates.filter(move |(_, gate)| gate.node == node && !gate.after)
}

/// Calls the guard of an interrupt.
fn guard_stops<F: Flow>(
    driver: &Driver<F>,
    gate: usize,
    node: NodeIdx,
    when: &str,
) -> Result<bool, Abort<F::State>> {
    let state = driver.state.get();
    let called = catch_unwind(AssertUnwindSafe(|| {
        driver.flow.gate(petalflow_graph::to_u32(gate), state)
    }));
    let problem = match called {
        Ok(Ok(stops)) => return Ok(stops),
        Ok(Err(error)) => error,
        Err(_) => "it panicked".into(),
    };
    let node = driver.plan().name(node);
    let error = NodeError::new(
        node,
        &driver.scope.shared.namespace,
        driver.scope.superstep,
        FailureKind::Error,
        format!("the guard of `interrupt {when} {node}` failed: {problem}"),
    );
    Err(Abort::new(RunErrorKind::Node(error)))
}
