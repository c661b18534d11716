//! The fast path: one node after another, with nothing around them.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::task::Poll;

use super::driver::Driver;
use super::watch::{Stop, poll_watch};
use crate::error::Failure;
use crate::flow::{Flow, Step, follow};
use crate::future::poll_caught;
use crate::state::WriteError;

/// Why the lane was left, and at which node.
pub(crate) enum FastPathEnd {
    /// Before the node: the driver has something to look at.
    Before(u32),
    /// After the node, whose writes are committed: what follows is not one quick node.
    After(u32),
    /// In the node, which failed.
    Failed(u32, Failure),
    /// In the node: something stopped the run.
    Stopped(Stop),
    /// After the node, whose writes cannot be applied.
    Refused(u32, WriteError),
}

/// Runs from `node` on until something other than one quick node follows, or the driver has to look around.
///
/// The loop touches neither the heap nor a lock, and the step's future lives in this one. From node to node it stays in the
/// generated dispatch, as long as [`FastPath::go_on`] says so.
#[allow(
    clippy::manual_async_fn,
    reason = "the future of an `async fn` keeps its arguments twice"
)]
pub(crate) fn lane<F: Flow>(
    driver: &mut Driver<F>,
    mut node: u32,
) -> impl Future<Output = FastPathEnd> + Send {
    async move {
        driver.lane.pause = driver.pause();
        loop {
            let Driver { lane, scope, .. } = driver;
            if lane.pauses(scope) {
                return FastPathEnd::Before(node);
            }
            scope.superstep += 1;
            scope.node = node;
            // In a block: what lives across the await is part of every run in flight.
            let result = {
                let Driver {
                    flow,
                    watch,
                    scope,
                    state,
                    lane,
                    effects,
                    ..
                } = &mut *driver;
                let Some(state) = state else {
                    unreachable!("the state is at home between forks")
                };
                let mut step = Step::lane(lane, scope, state, effects);
                let mut step = pin!(flow.step(node, &mut step));
                // Moved in, so that it is not kept beside the closure.
                poll_fn(move |cx| match poll_caught(step.as_mut(), cx) {
                    Poll::Ready(result) => Poll::Ready(Ok(result)),
                    Poll::Pending => poll_watch(watch, cx).map(Err),
                })
                .await
            };
            let Driver {
                scope,
                state,
                lane,
                effects,
                ..
            } = &mut *driver;
            // The dispatch may have gone on.
            node = scope.node;
            match result {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => return FastPathEnd::Failed(node, Failure::error(error)),
                Ok(Err(payload)) if lane.pause == 0 => resume_unwind(payload),
                Ok(Err(payload)) => return FastPathEnd::Failed(node, Failure::panic(payload)),
                Err(stop) => return FastPathEnd::Stopped(stop),
            }
            let Some(state) = state else {
                unreachable!("the state is at home between forks")
            };
            if let Err(error) = lane.commit(state, effects) {
                return FastPathEnd::Refused(node, error);
            }
            match follow(&scope.shared.plan, node, effects) {
                Some(next) => node = next,
                None => return FastPathEnd::After(node),
            }
        }
    }
}
