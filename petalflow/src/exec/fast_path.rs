//! The fast path: one node after another, with nothing around them. It is not taken by stored runs.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

use petalflow_graph::NodeIdx;
use pin_project_lite::pin_project;

use super::driver::Driver;
use super::watch::{Stop, Watch, poll_watch};
use crate::error::{Failure, Payload};
use crate::flow::{Flow, Step, next_fast};
use crate::future::poll_caught;
use crate::state::WriteError;

/// Why the fast path was left, and at which node.
pub(super) enum FastPathEnd {
    /// Before the node: the driver has to check limits, or to yield.
    Before(NodeIdx),
    /// After the node, whose writes are committed: something other than one fast node follows.
    After(NodeIdx),
    /// In the node, which failed.
    Failed(NodeIdx, Failure),
    /// In the node: something stopped the run.
    Stopped(Stop),
    /// After the node, whose writes cannot be applied.
    Refused(NodeIdx, WriteError),
}

pin_project! {
    /// A step that something may stop. A type of its own, because a closure would point at the step and the watch, and every run
    /// in flight would store the pointers.
    struct Watched<'w, T> {
        #[pin]
        step: T,
        watch: &'w mut Option<Box<Watch>>,
    }
}

impl<T: Future> Future for Watched<'_, T> {
    type Output = Result<Result<T::Output, Payload>, Stop>;

    // A function of its own, so that the loop over the nodes is inlined into it.
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match poll_caught(this.step, cx) {
            Poll::Ready(result) => Poll::Ready(Ok(result)),
            Poll::Pending => poll_watch(this.watch, cx).map(Err),
        }
    }
}

/// Runs nodes from `node` on, until something other than one fast node follows or the driver has to check limits.
///
/// The loop neither allocates nor locks, and the future of the step is part of this future. From node to node the run stays
/// in the generated dispatch, as long as [`FastPath::advance`] returns the next node.
#[allow(
    clippy::manual_async_fn,
    reason = "the future of an `async fn` stores its arguments twice"
)]
pub(super) fn run_fast_path<F: Flow>(
    driver: &mut Driver<F>,
    mut node: NodeIdx,
) -> impl Future<Output = FastPathEnd> + Send {
    async move {
        driver.fast_path.pause_at = driver.pause_at();
        loop {
            let Driver {
                fast_path, scope, ..
            } = driver;
            if fast_path.is_paused(scope) {
                return FastPathEnd::Before(node);
            }
            scope.superstep += 1;
            scope.node = node;
            // In a block: values that live across the await are part of every run in flight.
            let result = {
                let Driver {
                    flow,
                    watch,
                    scope,
                    state,
                    fast_path,
                    effects,
                    ..
                } = &mut *driver;
                let mut step = Step::fast_path(fast_path, scope, state.get_mut(), effects);
                let step = flow.step(node.as_u32(), &mut step);
                Watched { step, watch }.await
            };
            let Driver {
                scope,
                state,
                fast_path,
                effects,
                ..
            } = &mut *driver;
            // The dispatch may have advanced.
            node = scope.node;
            match result {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => return FastPathEnd::Failed(node, Failure::error(error)),
                Ok(Err(payload)) if fast_path.pause_at == 0 => resume_unwind(payload),
                Ok(Err(payload)) => return FastPathEnd::Failed(node, Failure::panic(payload)),
                Err(stop) => return FastPathEnd::Stopped(stop),
            }
            let next = next_fast(&scope.shared.plan, node, effects);
            if let Err(error) = fast_path.commit(state.get_mut(), effects) {
                return FastPathEnd::Refused(node, error);
            }
            match next {
                Some(next) => node = next,
                None => return FastPathEnd::After(node),
            }
        }
    }
}
