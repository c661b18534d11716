//! The fast path: one node after another, with nothing around them. It is not taken by stored runs.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

use petalflow_graph::NodeIdx;
use pin_project_lite::pin_project;

use super::driver::Driver;
use super::watch::{Stop, Watch, poll_watch};
use crate::error::{BoxError, Failure, Payload};
use crate::flow::{Flow, Step, next_fast};
use crate::future::poll_caught;
use crate::state::WriteError;

/// How the poll of a step ended.
type StepResult = Result<Result<Result<(), BoxError>, Payload>, Stop>;

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
    pub(super) struct Watched<'w, T> {
        #[pin]
        pub(super) step: T,
        pub(super) watch: &'w mut Option<Box<Watch>>,
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

/// Runs nodes from `$node` on, until something other than one fast node follows or the driver has to check limits.
///
/// The loop neither allocates nor locks. From node to node the run stays in the generated dispatch, as long as
/// [`FastPath::advance`](crate::flow::FastPath::advance) returns the next node. A macro, because the future of a function has
/// a state and a pointer to the driver: two words of every run in flight.
macro_rules! run_fast_path {
    ($driver:ident, $node:ident) => {{
        $driver.fast_path.pause_at = $driver.pause_at();
        loop {
            if !$driver.begin_fast($node) {
                break FastPathEnd::Before($node);
            }
            // In a block: values that live across the await are part of every run in flight.
            let result = {
                let (flow, mut step, watch) = $driver.fast_step();
                let step = flow.step($node.as_u32(), &mut step);
                Watched { step, watch }.await
            };
            match $driver.end_fast(result) {
                Ok(next) => $node = next,
                Err(end) => break end,
            }
        }
    }};
}
pub(super) use run_fast_path;

impl<F: Flow> Driver<F> {
    /// Begins the superstep of this node. Returns whether it may begin.
    #[inline]
    pub(super) fn begin_fast(&mut self, node: NodeIdx) -> bool {
        let may_begin = !self.fast_path.is_paused(&self.scope);
        if may_begin {
            self.scope.superstep += 1;
            self.scope.node = node;
        }
        may_begin
    }

    #[inline]
    pub(super) fn fast_step(&mut self) -> (&F, Step<'_, F::State>, &mut Option<Box<Watch>>) {
        let (state, effects) = (self.state.get_mut(), &mut self.effects);
        let step = Step::fast_path(&mut self.fast_path, &mut self.scope, state, effects);
        (&self.flow, step, &mut self.watch)
    }

    /// Commits the superstep. Returns the next node, if the fast path continues.
    #[inline]
    pub(super) fn end_fast(&mut self, result: StepResult) -> Result<NodeIdx, FastPathEnd> {
        // The dispatch may have advanced.
        let node = self.scope.node;
        match result {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => return Err(FastPathEnd::Failed(node, Failure::error(error))),
            Ok(Err(payload)) if self.fast_path.pause_at == 0 => resume_unwind(payload),
            Ok(Err(payload)) => return Err(FastPathEnd::Failed(node, Failure::panic(payload))),
            Err(stop) => return Err(FastPathEnd::Stopped(stop)),
        }
        let next = next_fast(&self.scope.shared.plan, node, &mut self.effects);
        match self
            .fast_path
            .commit(self.state.get_mut(), &mut self.effects)
        {
            Ok(()) => next.ok_or(FastPathEnd::After(node)),
            Err(error) => Err(FastPathEnd::Refused(node, error)),
        }
    }
}
