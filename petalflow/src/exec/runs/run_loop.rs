//! The superstep loop: chooses how each superstep runs, until the frontier is empty.

use std::sync::Arc;

use petalflow_graph::NodeIdx;

use crate::event::EventKind;
use crate::exec::control::abort::Abort;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::supersteps::commit::no_edge;
use crate::exec::supersteps::driver::{Driver, names_for_event};
use crate::exec::supersteps::failure::handle_failure;
use crate::exec::supersteps::fast_path::{FastPathEnd, run_fast_path};
use crate::exec::supersteps::parallel::ParallelExecutor;
use crate::exec::supersteps::stored_steps::StoredSteps;
use crate::exec::task::task_run::run_task;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::node::RouteChoice;
use crate::outcome::RunErrorKind;
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::state::State;
use crate::superstep::{Planner, Task, commit_one};

/// The rest of a run. Boxed, so that a chain or a loop does not carry its memory.
pub(in crate::exec) type RestOfRun<'r, F> = BoxFuture<'r, Result<(), Abort<<F as Flow>::State>>>;

/// The node at which the fast path begins, if the run can begin on it.
pub(in crate::exec) fn fast_entry<F: Flow>(driver: &Driver<F>) -> Option<NodeIdx> {
    if driver.is_bare() {
        driver.plan().only_fast_target(&driver.plan().entry)
    } else {
        None
    }
}

/// The rest of a run that has left the fast path.
pub(in crate::exec) fn after_fast_path<'r, F: Flow, P: StoredSteps<F>>(
    driver: &'r mut Driver<F>,
    end: FastPathEnd,
    persistence: &'r mut P,
) -> Result<Option<RestOfRun<'r, F>>, Abort<F::State>> {
    let (node, end) = finish_fast_path(driver, end)?;
    // Most runs on the fast path end on it.
    if matches!(end, TaskEnd::Done) && leads_to_end(driver, node) {
        return Ok(None);
    }
    let mut planner = Planner::new(driver.plan());
    let mut frontier = Vec::new();
    plan_next(driver, &mut planner, node, &end, &mut frontier)?;
    Ok(Some(run_loop(driver, persistence, planner, frontier)))
}

/// All of a run that cannot begin on the fast path.
pub(in crate::exec) fn run_from_start<'r, F: Flow, P: StoredSteps<F>>(
    driver: &'r mut Driver<F>,
    persistence: &'r mut P,
) -> RestOfRun<'r, F> {
    let mut planner = Planner::new(driver.plan());
    let mut frontier = Vec::new();
    planner.start(driver.plan(), &mut frontier);
    run_loop(driver, persistence, planner, frontier)
}

/// Runs superstep after superstep until the frontier is empty.
pub(in crate::exec) fn run_loop<'r, F: Flow, P: StoredSteps<F>>(
    driver: &'r mut Driver<F>,
    persistence: &'r mut P,
    mut planner: Planner,
    mut frontier: Vec<Task>,
) -> RestOfRun<'r, F> {
    Box::pin(async move {
        let plan = Arc::clone(&driver.scope.shared.plan);
        let bare = driver.is_bare();
        let mut executor = ParallelExecutor::new(driver, run_task::<F>);
        while !frontier.is_empty() {
            let single = if bare {
                single_fast_node(&plan, &frontier)
            } else {
                None
            };
            if P::STORED
                && let Some(node) = single
                && persistence.runs_all()
                && plan.interrupt_points.is_empty()
            {
                if driver.before_superstep(Some(node), &[])? {
                    driver.yield_now().await?;
                }
                driver.scope.superstep += 1;
                persistence
                    .single(driver, &mut planner, &mut frontier, node)
                    .await?;
            } else if !P::STORED
                && let Some(mut node) = single
            {
                frontier.clear();
                let end = loop {
                    if driver.before_superstep(Some(node), &[])? {
                        driver.yield_now().await?;
                    }
                    match run_fast_path!(driver, node) {
                        FastPathEnd::Before(next) => node = next,
                        end => break end,
                    }
                };
                let (node, end) = finish_fast_path(driver, end)?;
                plan_next(driver, &mut planner, node, &end, &mut frontier)?;
            } else {
                if driver.before_superstep(None, &frontier)? {
                    driver.yield_now().await?;
                }
                driver.scope.superstep += 1;
                driver.emit(|| EventKind::SuperstepStarted {
                    nodes: names_for_event(&plan, &frontier),
                });
                executor
                    .superstep(driver, &mut planner, &mut frontier, persistence)
                    .await?;
            }
        }
        all_joins_complete(&plan, &planner)
    })
}

/// Handles the way in which the fast path was left. Returns its last node, and how that ended.
fn finish_fast_path<F: Flow>(
    driver: &mut Driver<F>,
    end: FastPathEnd,
) -> Result<(NodeIdx, TaskEnd), Abort<F::State>> {
    match end {
        FastPathEnd::Before(node) | FastPathEnd::After(node) => Ok((node, TaskEnd::Done)),
        FastPathEnd::Failed(node, failure) => {
            let end = handle_failure(
                driver.extras.as_deref(),
                &driver.scope.shared.plan,
                &driver.scope,
                failure,
                &mut driver.effects,
            )?;
            // The record of the failure, if there is one, is the only write of this superstep.
            let (state, written) = (driver.state.get_mut(), &mut driver.fast_path.written);
            match commit_one(state, written, &mut driver.effects.update) {
                Ok(()) => Ok((node, end)),
                Err(error) => Err(Abort::refused(vec![driver.plan().name(node).into()], error)),
            }
        }
        FastPathEnd::Stopped(stop) => Err(Abort::stopped(stop)),
        FastPathEnd::Refused(node, error) => {
            Err(Abort::refused(vec![driver.plan().name(node).into()], error))
        }
    }
}

/// Plans what follows a node of the fast path.
fn plan_next<F: Flow>(
    driver: &mut Driver<F>,
    planner: &mut Planner,
    node: NodeIdx,
    end: &TaskEnd,
    frontier: &mut Vec<Task>,
) -> Result<(), Abort<F::State>> {
    let outcome = std::iter::once((node, end.outcome(&driver.effects)));
    let planned = planner.advance(driver.plan(), outcome, frontier);
    driver.effects.clear();
    planned.map_err(|missing| Abort::new(no_edge(driver.plan(), &missing)))
}

/// Whether every edge that the node has taken leads to END.
fn leads_to_end<F: Flow>(driver: &Driver<F>, node: NodeIdx) -> bool {
    let edges = &driver.plan().out_edges[node.index()];
    let targets = match driver.effects.chosen() {
        RouteChoice::Edges => &edges.plain,
        RouteChoice::One(route) => match edges.routes.get(route.index()) {
            Some(targets) if !targets.is_empty() => targets,
            _ => return false,
        },
        RouteChoice::Many => return false,
    };
    targets.iter().all(|target| *target == EdgeTarget::End)
}

/// The only node of the frontier, if the fast path can run it.
fn single_fast_node(plan: &ExecutionPlan, frontier: &[Task]) -> Option<NodeIdx> {
    match frontier {
        [
            Task {
                node,
                delivery: None,
                ..
            },
        ] if plan.out_edges[node.index()].fast => Some(*node),
        _ => None,
    }
}

/// Fails if a join still waits for one of its sides at the end of the run.
pub(in crate::exec) fn all_joins_complete<S: State>(
    plan: &ExecutionPlan,
    planner: &Planner,
) -> Result<(), Abort<S>> {
    let waiting = after_incomplete_joins(plan, planner);
    if waiting.is_empty() {
        Ok(())
    } else {
        Err(Abort::new(RunErrorKind::IncompleteJoin { waiting }))
    }
}

/// The names of the nodes after joins that still wait for a side. Not generic, because every program would compile it again.
fn after_incomplete_joins(plan: &ExecutionPlan, planner: &Planner) -> Vec<String> {
    let mut waiting = Vec::new();
    for join in planner.waiting() {
        for target in &plan.joins[join.index()].out {
            waiting.push(match target {
                EdgeTarget::Node(node) | EdgeTarget::Each(node) => plan.name(*node).to_string(),
                EdgeTarget::Join { .. } | EdgeTarget::End => "END".to_string(),
            });
        }
    }
    waiting
}
