//! What threads tell each other: that one has ended for which another one waits, and that one is held with the other.

use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{ThreadAddress, ThreadRecords};
use petalflow::state::Storable;
use restate_sdk::context::{
    ContextClient as _, ContextReadState as _, ContextWriteState as _, ObjectContext, RequestTarget,
};
use restate_sdk::errors::HandlerError;

use crate::driver::STATE;
use crate::flow::RestateFlow;
use crate::thread_state::{Message, Meta, ThreadState};

/// Whether those that wait for the end of the thread go on.
pub(crate) fn is_end(status: ThreadStatus) -> bool {
    use ThreadStatus::{Failed, Finished, Held};
    matches!(status, Finished | Failed | Held)
}

/// Remembers that a thread waits for the end of this one, or tells it at once that there is nothing to wait for.
pub(crate) async fn join<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    by: String,
) -> Result<(), HandlerError> {
    let mut stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    let records = records(flow, &ctx, &stored).await?;
    if records.is_empty() || is_end(records.status()?.0) {
        tell_end(&ctx, vec![by]);
    } else if !stored.head.joining.contains(&by) {
        stored.head.joining.push(by);
        ctx.set(STATE, stored);
    }
    Ok(())
}

/// Lets the threads look that wait for the end of this one. After its state is set, which they read next.
pub(crate) fn tell_end(ctx: &ObjectContext<'_>, joining: Vec<String>) {
    for address in joining
        .iter()
        .filter_map(|joining| ThreadAddress::parse(joining))
    {
        let target = RequestTarget::object(address.engine, address.thread, "look");
        ctx.request::<_, ()>(target, ()).send();
    }
}

/// Executes the next superstep of a thread that sleeps or waits, because a thread has ended for which it waits. One that runs was
/// behind this call, and has looked.
pub(crate) async fn look<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
) -> Result<(), HandlerError> {
    let stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    let version = stored.head.version;
    let (status, due_ms) = records(flow, &ctx, &stored).await?.status()?;
    let sleeps = matches!(status, ThreadStatus::Sleeping | ThreadStatus::Waiting);
    if sleeps && due_ms.is_some() {
        let target = RequestTarget::object(flow.threads_service(), ctx.key(), "advance");
        ctx.request::<_, ()>(target, version).send();
    }
    Ok(())
}

/// Stops the threads that are stopped with this one, which a person holds.
pub(crate) fn stop_children(ctx: &ObjectContext<'_>, records: &ThreadRecords) {
    for child in records.cancelled_children() {
        for handler in ["stop", "hold"] {
            let target = RequestTarget::object(&*child.engine, &*child.thread, handler);
            ctx.request::<_, ()>(target, ()).send();
        }
    }
}

async fn records<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'_>,
    stored: &Message<Meta>,
) -> Result<ThreadRecords, HandlerError> {
    let Meta {
        version,
        incarnation,
        ..
    } = &stored.head;
    let bodies = flow.thread_bodies(ctx.key(), incarnation, *version);
    Ok(ThreadState::open(stored.clone(), &bodies).await?.records)
}
