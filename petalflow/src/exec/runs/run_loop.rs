//! The loop over supersteps.

use crate::exec::control::abort::Abort;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::persistence::{NoPersistence, Persistence};
use crate::exec::supersteps::commit::no_edge;
use crate::exec::supersteps::driver::Driver;
use crate::exec::supersteps::executor::run_superstep;
use crate::exec::supersteps::fast_path::{fast_node, run_fast_path};
use crate::future::BoxFuture;
use crate::node::RouteChoice;
use crate::outcome::RunErrorKind;
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::superstep::{Planner, Task};
use petalflow_graph::NodeIdx;

/// Runs a flow that is not stored, from its start. A run that stays on the fast path needs no planner.
pub(in crate::exec) async fn run_from_start(driver: &mut Driver) -> Result<(), Abort> {
    let plan = driver.plan();
    let first = plan
        .only_fast_target(&plan.entry)
        .filter(|_| driver.is_bare());
    let ended = match first {
        Some(node) => Some(run_fast_path(driver, node).await?),
        None => None,
    };
    match rest_of_run(driver, ended)? {
        Some(rest) => rest.await,
        None => Ok(()),
    }
}

/// What follows the fast path, or all of the run. `None` if the run has ended. Boxed, and apart from
/// [`run_from_start`], so that a chain or a loop does not carry its memory.
fn rest_of_run(
    driver: &mut Driver,
    ended: Option<(NodeIdx, TaskEnd)>,
) -> Result<Option<BoxFuture<'_, Result<(), Abort>>>, Abort> {
    if let Some((node, TaskEnd::Done)) = ended
        && leads_to_end(driver, node)
    {
        return Ok(None);
    }
    let mut planner = Planner::new(driver.plan());
    let mut frontier = Vec::new();
    match ended {
        Some((node, end)) => plan_after_fast_path(driver, &mut planner, node, &end, &mut frontier)?,
        None => planner.start(driver.plan(), &mut frontier),
    }
    Ok(Some(Box::pin(async move {
        run_loop(driver, &mut NoPersistence, planner, frontier).await
    })))
}

/// Runs superstep after superstep until the frontier is empty.
pub(in crate::exec) async fn run_loop(
    driver: &mut Driver,
    persistence: &mut dyn Persistence,
    mut planner: Planner,
    mut frontier: Vec<Task>,
) -> Result<(), Abort> {
    let has_fast_path = !persistence.is_stored() && driver.is_bare();
    let mut memory = Vec::new();
    while !frontier.is_empty() {
        if has_fast_path && let Some(node) = fast_node(driver.plan(), &frontier) {
            let (node, end) = run_fast_path(driver, node).await?;
            plan_after_fast_path(driver, &mut planner, node, &end, &mut frontier)?;
        } else {
            if driver.before_superstep(&frontier)? {
                driver.yield_now().await?;
                persistence.waited();
            }
            run_superstep(
                driver,
                persistence,
                &mut planner,
                &mut frontier,
                &mut memory,
            )
            .await?;
        }
    }
    all_joins_complete(driver.plan(), &planner)
}

/// Plans what follows the last node of the fast path.
fn plan_after_fast_path(
    driver: &mut Driver,
    planner: &mut Planner,
    node: NodeIdx,
    end: &TaskEnd,
    frontier: &mut Vec<Task>,
) -> Result<(), Abort> {
    frontier.clear();
    let outcome = std::iter::once((node, end.outcome(&*driver.effects)));
    let planned = planner.advance(driver.plan(), outcome, frontier);
    driver.effects.clear();
    planned.map_err(|missing| Abort::new(no_edge(driver.plan(), &missing)))
}

/// Whether every edge that the node has taken leads to END.
fn leads_to_end(driver: &Driver, node: NodeIdx) -> bool {
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

/// Fails if a join still waits for one of its sides at the end of the run.
pub(in crate::exec) fn all_joins_complete(
    plan: &ExecutionPlan,
    planner: &Planner,
) -> Result<(), Abort> {
    let waiting = after_incomplete_joins(plan, planner);
    if waiting.is_empty() {
        Ok(())
    } else {
        Err(Abort::new(RunErrorKind::IncompleteJoin { waiting }))
    }
}

/// The names of the nodes after joins that still wait for a side.
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
