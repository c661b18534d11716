//! Passes streaming on to the agents that tools run.

use std::sync::atomic::{AtomicBool, Ordering};

use super::ctx::Ctx;
use petalflow::Context;

/// A managed value of the runs of agents that stream: agents that their tools run stream as well.
pub(crate) struct StreamsBelow;

/// A managed value of each run in which only some of the agents stream: whether the agent whose calls are made does.
#[derive(Default)]
pub(crate) struct CallerStreams(AtomicBool);

impl CallerStreams {
    /// Whether the agent that called the tool of this context streams, in a run in which others do not.
    pub(crate) fn is_set(cx: &Context) -> bool {
        let caller = cx.managed::<CallerStreams>();
        caller.is_some_and(|caller| caller.0.load(Ordering::Relaxed))
    }

    /// Notes whether the current agent streams, before it makes a call. All calls of a superstep are those of one agent.
    pub(super) fn note(ctx: Ctx<'_>) {
        // The value of a run above this one is not for this run.
        if ctx.root().streams_in_part()
            && let Some(caller) = ctx.cx.managed::<CallerStreams>()
        {
            let streams = ctx.tree.streams(ctx.index);
            caller.0.store(streams, Ordering::Relaxed);
        }
    }
}
