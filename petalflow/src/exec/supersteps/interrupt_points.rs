//! The `interrupt before` and `interrupt after` statements of a flow: where a run stops for a person.

use std::panic::{AssertUnwindSafe, catch_unwind};

use petalflow_graph::NodeIdx;

use super::driver::Driver;
use crate::erased::AnyState;
use crate::error::{FailureKind, NodeError};
use crate::exec::control::abort::Abort;
use crate::exec::persistence::{InterruptDecision, LostKeys, Persistence, TaskDisposition};
use crate::exec::task::task_run::TaskRun;
use crate::node::Scope;
use crate::outcome::RunErrorKind;
use crate::plan::{ExecutionPlan, InterruptPoint};
use crate::state::{KeyMeta, KeySet};
use crate::superstep::Task;

/// Decides what to do with each task of the frontier; tasks beyond the end of the list run.
pub(in crate::exec) fn dispositions(
    driver: &Driver,
    frontier: &[Task],
    persistence: &mut dyn Persistence,
) -> Result<Vec<TaskDisposition>, Abort> {
    let plan = driver.plan();
    let mut dispositions = persistence.superstep_begun(plan, frontier);
    if plan.interrupt_points.is_empty() {
        check_lost(driver, frontier, &dispositions, persistence.lost())?;
        return Ok(dispositions);
    }
    dispositions.resize_with(frontier.len(), || TaskDisposition::Run);
    for (task, disposition) in frontier.iter().zip(&mut dispositions) {
        for (index, _) in points_before(plan, task.node) {
            if matches!(disposition, TaskDisposition::Finished(_)) {
                break;
            }
            match persistence.interrupt_decision(plan, task.node) {
                Some(InterruptDecision::Skip) => {
                    *disposition = TaskDisposition::Skip;
                }
                Some(InterruptDecision::Continue) => {}
                None => {
                    let lost = persistence.lost();
                    if guard_stops(driver, index, task.node, "before", lost)? {
                        *disposition = TaskDisposition::Wait;
                        persistence.wait_at_interrupt(plan, task.node);
                    }
                }
            }
        }
    }
    check_lost(driver, frontier, &dispositions, persistence.lost())?;
    Ok(dispositions)
}

/// What to do with a task of the node, before which the run has waited: a person has decided.
pub(in crate::exec) fn decided(
    scope: &Scope,
    state: &dyn AnyState,
    node: NodeIdx,
    persistence: &dyn Persistence,
) -> Result<TaskDisposition, Abort> {
    let decision = persistence.interrupt_decision(&scope.shared.plan, node);
    if decision == Some(InterruptDecision::Skip) {
        return Ok(TaskDisposition::Skip);
    }
    check_lost_by(scope, state, node, persistence.lost())?;
    Ok(TaskDisposition::Run)
}

/// The stored names of the nodes that have run and after which the run waits for a person.
pub(in crate::exec) fn points_after(
    driver: &Driver,
    tasks: &[TaskRun],
    lost: LostKeys,
) -> Result<Vec<String>, Abort> {
    let plan = driver.plan();
    let mut stops = Vec::new();
    for (index, point) in plan.interrupt_points.iter().enumerate() {
        let name = plan.stored_name(point.node);
        if point.after
            && tasks.iter().any(|task| task.scope.node == point.node)
            && !stops.iter().any(|(known, _)| *known == point.node)
            && guard_stops(driver, index, point.node, "after", lost)?
        {
            stops.push((point.node, name.to_string()));
        }
    }
    // In the order of the nodes, as the interrupts before nodes and the questions.
    stops.sort_by_key(|(node, _)| *node);
    Ok(stops.into_iter().map(|(_, name)| name).collect())
}

fn points_before(
    plan: &ExecutionPlan,
    node: NodeIdx,
) -> impl Iterator<Item = (usize, &InterruptPoint)> {
    let interrupt_points = plan.interrupt_points.iter().enumerate();
    interrupt_points.filter(move |(_, point)| point.node == node && !point.after)
}

/// Calls the guard of an interrupt.
fn guard_stops(
    driver: &Driver,
    point: usize,
    node: NodeIdx,
    when: &str,
    lost: LostKeys,
) -> Result<bool, Abort> {
    let state = &*driver.state;
    let keys = state.ty().keys;
    let reads = driver.plan().interrupt_points[point].reads;
    let called = catch_unwind(AssertUnwindSafe(|| {
        if let Some(key) = lost.read_by(reads) {
            return Err(lost_key(&keys[key], reads).into());
        }
        driver.flow.guard(petalflow_graph::to_u32(point), state)
    }));
    let problem = match called {
        Ok(Ok(stops)) => return Ok(stops),
        Ok(Err(error)) => error,
        Err(_) => "it panicked".into(),
    };
    let name = driver.plan().name(node);
    let problem = format!("the guard of `interrupt {when} {name}` failed: {problem}");
    Err(failed(&driver.scope, node, problem))
}

/// Fails if a task that runs would read a value that was lost.
fn check_lost(
    driver: &Driver,
    frontier: &[Task],
    dispositions: &[TaskDisposition],
    lost: LostKeys,
) -> Result<(), Abort> {
    if lost.is_empty() {
        return Ok(());
    }
    for (index, task) in frontier.iter().enumerate() {
        if matches!(dispositions.get(index), None | Some(TaskDisposition::Run)) {
            check_lost_by(&driver.scope, &*driver.state, task.node, lost)?;
        }
    }
    Ok(())
}

/// Fails if the node would read a value that was lost.
fn check_lost_by(
    scope: &Scope,
    state: &dyn AnyState,
    node: NodeIdx,
    lost: LostKeys,
) -> Result<(), Abort> {
    let reads = scope.shared.plan.reads(node);
    let Some(key) = lost.read_by(reads) else {
        return Ok(());
    };
    let problem = lost_key(&state.ty().keys[key], reads);
    Err(failed(scope, node, problem))
}

fn lost_key(key: &KeyMeta, reads: Option<KeySet>) -> String {
    let reads = match reads {
        Some(_) => "it reads the key",
        None => "it takes the whole state, with the key",
    };
    format!(
        "{reads} `{}`, which is `untracked`: its value was not stored when the thread stopped; resume with a new value, `Resume::new().update(..)`, or at a node that writes it, `Resume::new().goto(..)`, or remove `untracked`",
        key.name
    )
}

/// The error for a node or its interrupt.
fn failed(scope: &Scope, node: NodeIdx, problem: String) -> Abort {
    Abort::new(RunErrorKind::Node(NodeError::new(
        scope.shared.plan.name(node),
        &scope.shared.namespace,
        scope.superstep,
        FailureKind::Error,
        problem,
    )))
}
