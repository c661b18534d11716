//! The fast path: one node after another, with nothing around them.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::task::Poll;

use super::driver::Driver;
use super::watch::{Failure, Stop, poll_caught, poll_watch};
use crate::CancelToken;
use crate::flow::{ExecutionPlan, Step};
use crate::node::{Effects, RouteChoice, Scope};
use crate::superstep::commit_one;
use crate::{Flow, KeySet, State, Update as _, WriteError};

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

/// What the fast path needs at its barriers.
#[derive(Debug)]
pub(crate) struct FastPath {
    /// The keys that have been written.
    pub(crate) written: KeySet,
    /// How many supersteps may be made before the driver looks around; 0 while writes are being folded.
    pause: u64,
}

impl FastPath {
    pub(crate) fn new(written: KeySet) -> Self {
        FastPath { written, pause: 0 }
    }

    /// Goes through the barrier to the quick node that alone follows. `None`, and nothing has happened, where it does not,
    /// or where the driver has something to do or to say.
    #[inline]
    pub(crate) fn go_on<S: State>(
        &mut self,
        scope: &mut Scope,
        state: &mut S,
        effects: &mut Effects<S>,
    ) -> Option<u32> {
        if self.pauses(scope) {
            return None;
        }
        let next = follow(&scope.shared.plan, scope.node, effects)?;
        // So that a panic of a reducer is not taken for one of the node.
        let pause = std::mem::replace(&mut self.pause, 0);
        let result = self.commit(state, effects);
        self.pause = pause;
        // What is refused here is refused again by the driver, which says so.
        result.ok()?;
        scope.superstep += 1;
        scope.node = next;
        Some(next)
    }

    #[inline]
    fn pauses(&self, scope: &Scope) -> bool {
        let draining = || {
            let cancel = scope.shared.cancel.as_ref();
            cancel.is_some_and(CancelToken::is_draining)
        };
        scope.superstep >= self.pause || draining()
    }

    #[inline]
    fn commit<S: State>(
        &mut self,
        state: &mut S,
        effects: &mut Effects<S>,
    ) -> Result<(), WriteError> {
        if effects.update.written_any() || !S::EPHEMERAL.is_empty() {
            commit_one(state, &mut self.written, &mut effects.update)
        } else {
            Ok(())
        }
    }
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

/// The quick node that alone follows, if that is so; the choice is then forgotten.
#[inline]
pub(crate) fn follow<S: State>(
    plan: &ExecutionPlan,
    node: u32,
    effects: &mut Effects<S>,
) -> Option<u32> {
    if !effects.deliveries().is_empty() {
        return None;
    }
    match effects.chosen() {
        RouteChoice::Edges => Some(plan.chain_next[node as usize]).filter(|next| *next != u32::MAX),
        RouteChoice::One(route) => {
            let next =
                plan.only_fast_target(plan.out_edges[node as usize].routes.get(route as usize)?)?;
            effects.forget_choice();
            Some(next)
        }
        RouteChoice::Many => None,
    }
}
