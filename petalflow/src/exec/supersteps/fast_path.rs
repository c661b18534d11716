//! The fast path of the executor: nodes that are alone in their supersteps and have nothing around them, in a run that is not
//! stored. One runs after another without a list of tasks, an allocation or a lock.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use petalflow_graph::NodeIdx;

use super::driver::Driver;
use crate::error::{Failure, Panicked};
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::poll_watch;
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::task::failure::handle_failure;
use crate::flow::Lane;
use crate::flow::next_on_fast_path;
use crate::future::poll_caught;
use crate::plan::ExecutionPlan;
use crate::superstep::{Task, commit_one};

/// The only node of the frontier, if the fast path can run it.
pub(in crate::exec) fn fast_node(plan: &ExecutionPlan, frontier: &[Task]) -> Option<NodeIdx> {
    match frontier {
        [task] if task.delivery.is_none() && plan.out_edges[task.node.index()].fast => {
            Some(task.node)
        }
        _ => None,
    }
}

/// Runs nodes from this one on, until something other than one such node follows. Returns the last node, whose writes are
/// committed, and how it ended.
///
/// From node to node the run stays in the generated dispatch, as long as [`Step::advance`] returns the next one: leaving and
/// entering it costs more than the rest of a superstep.
pub(in crate::exec) async fn run_fast_path(
    driver: &mut Driver,
    mut node: NodeIdx,
) -> Result<(NodeIdx, TaskEnd), Abort> {
    loop {
        if driver.before_superstep(&[Task::plain(node)])? {
            driver.yield_now().await?;
        }
        driver.fast_path.pause_at = driver.pause_at();
        driver.scope.superstep += 1;
        driver.scope.node = node;
        driver.scope.life.renew();
        let ended = {
            let Driver {
                flow,
                watch,
                scope,
                state,
                fast_path,
                effects,
                ..
            } = &mut *driver;
            let mut lane = flow.run_lane(Lane {
                fast_path,
                scope,
                state: &mut **state,
                effects: &mut **effects,
            });
            poll_fn(|cx| match poll_caught(Pin::new(&mut lane), cx) {
                Poll::Ready(ended) => Poll::Ready(Ok(ended)),
                Poll::Pending => poll_watch(watch, cx).map(Err),
            })
            .await
            .map_err(Abort::stopped)?
        };
        let Driver {
            extras,
            scope,
            state,
            fast_path,
            effects,
            ..
        } = &mut *driver;
        // The dispatch may have advanced.
        node = scope.node;
        let failure = match ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(Failure::error(error)),
            // A reducer panicked, not the node.
            Err(payload) if fast_path.pause_at == 0 => {
                return Err(Abort::panicked(Panicked::new(&*payload)));
            }
            Err(payload) => Some(Failure::panic(payload)),
        };
        let refused = |error| Abort::refused(vec![scope.shared.plan.name(node).to_string()], error);
        let Some(failure) = failure else {
            let next = next_on_fast_path(&scope.shared.plan, node, effects.choice());
            commit_one(&mut **state, &mut fast_path.written, &mut **effects).map_err(refused)?;
            match next {
                Some(next) => {
                    effects.choice_mut().clear();
                    node = next;
                }
                None => return Ok((node, TaskEnd::Done)),
            }
            continue;
        };
        let end = handle_failure(extras.as_deref(), scope, failure, &mut **effects)?;
        // The record of the failure, if there is one, is the only write of this superstep.
        commit_one(&mut **state, &mut fast_path.written, &mut **effects).map_err(refused)?;
        return Ok((node, end));
    }
}
