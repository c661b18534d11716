//! The fast path: one node after another, with nothing around them. It is not taken by stored runs.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

use petalflow_graph::NodeIdx;
use pin_project_lite::pin_project;

use super::driver::Driver;
use crate::error::{BoxError, Failure, Payload};
use crate::exec::control::watch::{Stop, Watch, poll_watch};
use crate::flow::{Flow, next_fast};
use crate::future::poll_caught;
use crate::state::WriteError;

/// Why the fast path was left, and at which node.
pub(in crate::exec) enum FastPathEnd {
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

/// How the step ended, unless something stopped the run.
type Stepped = Result<Result<Result<(), BoxError>, Payload>, Stop>;

pin_project! {
    /// A step that something may stop. A type of its own, because a closure would point at the step and the watch, and every run
    /// in flight would store the pointers.
    pub(in crate::exec) struct Watched<'w, T> {
        #[pin]
        pub(in crate::exec) step: T,
        pub(in crate::exec) watch: &'w mut Option<Box<Watch>>,
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

/// Begins the superstep of a node. Returns false if the driver has to check limits, or to yield, before it.
pub(in crate::exec) fn enter<F: Flow>(driver: &mut Driver<F>, node: NodeIdx) -> bool {
    let Driver {
        fast_path, scope, ..
    } = driver;
    if fast_path.is_paused(scope) {
        return false;
    }
    scope.superstep += 1;
    scope.node = node;
    true
}

/// Commits the node that the step has run last, and returns the next node.
#[inline(never)]
pub(in crate::exec) fn leave<F: Flow>(
    driver: &mut Driver<F>,
    result: Stepped,
) -> Result<NodeIdx, FastPathEnd> {
    let Driver {
        scope,
        state,
        fast_path,
        effects,
        ..
    } = driver;
    // The dispatch may have advanced.
    let node = scope.node;
    match result {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => return Err(FastPathEnd::Failed(node, Failure::error(error))),
        Ok(Err(payload)) if fast_path.pause_at == 0 => resume_unwind(payload),
        Ok(Err(payload)) => return Err(FastPathEnd::Failed(node, Failure::panic(payload))),
        Err(stop) => return Err(FastPathEnd::Stopped(stop)),
    }
    let next = next_fast(&scope.shared.plan, node, effects);
    match fast_path.commit(state.get_mut(), effects) {
        Ok(()) => next.ok_or(FastPathEnd::After(node)),
        Err(error) => Err(FastPathEnd::Refused(node, error)),
    }
}

/// Runs nodes from `$node` on, until something other than one fast node follows or the driver has to check limits. The value is a
/// [`FastPathEnd`].
///
/// The loop neither allocates nor locks, and the future of the step is part of the future around it. From node to node the run
/// stays in the generated dispatch, as long as [`FastPath::advance`] returns the next node.
///
/// A macro, because the future of a function would store a pointer to the driver in every run in flight.
macro_rules! run_fast_path {
    ($driver:expr, $node:expr) => {{
        let mut node = $node;
        $driver.fast_path.pause_at = $driver.pause_at();
        loop {
            if !$crate::exec::supersteps::fast_path::enter(&mut *$driver, node) {
                break $crate::exec::supersteps::fast_path::FastPathEnd::Before(node);
            }
            // In a block: values that live across the await are part of every run in flight.
            let result = {
                let $crate::exec::supersteps::driver::Driver {
                    flow,
                    watch,
                    scope,
                    state,
                    fast_path,
                    effects,
                    ..
                } = &mut *$driver;
                let mut step =
                    $crate::flow::Step::fast_path(fast_path, scope, state.get_mut(), effects);
                let step = flow.step(node.as_u32(), &mut step);
                $crate::exec::supersteps::fast_path::Watched { step, watch }.await
            };
            match $crate::exec::supersteps::fast_path::leave(&mut *$driver, result) {
                Ok(next) => node = next,
                Err(end) => break end,
            }
        }
    }};
}
pub(in crate::exec) use run_fast_path;
