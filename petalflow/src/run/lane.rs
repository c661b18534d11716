//! The fast path: one node after another, with nothing around them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::CancelToken;
use super::drive::Engine;
use super::guard::{Failure, Stop, poll_caught, poll_watch};
use crate::flow::{Step, Wiring};
use crate::node::{Chosen, Effects};
use crate::superstep::commit_one;
use crate::{Flow, State, Update as _, WriteError};

/// Why the lane was left, and at which node.
pub(super) enum LaneEnd {
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

/// Runs from `node` on until something other than one quick node follows, or `pause` supersteps have been made in all.
///
/// The loop touches neither the heap nor a lock, and the step's future lives in this one.
pub(super) async fn lane<F: Flow>(engine: &mut Engine<F>, mut node: u32, pause: u64) -> LaneEnd {
    loop {
        let Engine { scope, .. } = engine;
        if scope.superstep >= pause
            || scope
                .shared
                .cancel
                .as_ref()
                .is_some_and(CancelToken::is_draining)
        {
            return LaneEnd::Before(node);
        }
        scope.superstep += 1;
        scope.node = node;
        // In a block: what lives across the await is part of every run in flight.
        let result = {
            let Engine {
                flow,
                watch,
                scope,
                state,
                effects,
                ..
            } = &mut *engine;
            let Some(state) = state else {
                unreachable!("the state is at home between forks")
            };
            let mut step = Step {
                scope,
                state,
                effects,
            };
            let mut step = pin!(flow.step(node, &mut step));
            poll_fn(|cx| match poll_caught(step.as_mut(), cx) {
                Poll::Ready(result) => Poll::Ready(Ok(result)),
                Poll::Pending => poll_watch(watch, cx).map(Err),
            })
            .await
        };
        match result {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => return LaneEnd::Failed(node, failure),
            Err(stop) => return LaneEnd::Stopped(stop),
        }
        let Engine {
            scope,
            state,
            written,
            effects,
            ..
        } = &mut *engine;
        let Some(state) = state else {
            unreachable!("the state is at home between forks")
        };
        if (effects.update.written_any() || !F::State::EPHEMERAL.is_empty())
            && let Err(error) = commit_one(state, written, &mut effects.update)
        {
            return LaneEnd::Refused(node, error);
        }
        match follow(&scope.shared.wiring, node, effects) {
            Some(next) => node = next,
            None => return LaneEnd::After(node),
        }
    }
}

/// The quick node that alone follows, if that is so; the choice is then forgotten.
#[inline]
fn follow<S: State>(wiring: &Wiring, node: u32, effects: &mut Effects<S>) -> Option<u32> {
    if !effects.deliveries().is_empty() {
        return None;
    }
    match effects.chosen() {
        Chosen::Edges => Some(wiring.straight[node as usize]).filter(|next| *next != u32::MAX),
        Chosen::One(route) => {
            let next = wiring.lone(wiring.ways[node as usize].routes.get(route as usize)?)?;
            effects.forget_choice();
            Some(next)
        }
        Chosen::Many => None,
    }
}
