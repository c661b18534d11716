//! The virtual object of a thread: each superstep is one invocation.

use std::time::Duration;

use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{PassEnd, RecordChanges};
use petalflow::event::TaskId;
use petalflow::state::Storable;
use restate_sdk::context::{
    ContextAwakeables as _, ContextClient as _, ContextReadState as _, ContextSideEffects as _,
    ContextTimers as _, ContextWriteState as _, ObjectContext, RequestTarget, RunFuture as _,
    SharedObjectContext, macro_support::SealedDurableFuture as _,
};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;

use crate::bodies::ThreadBodies;
use crate::flow::RestateFlow;
use crate::links::{is_end, stop_children, tell_end};
use crate::pass::{
    JournaledPass, PassSettings, Recorded, Silences, Step, now_ms, recorded_of, step_retries,
};
use crate::placed::{Called, call, tasks};
use crate::size_limit::{failure, size};
use crate::thread_state::{ChangeMeta, Listed, Message, Meta, SentMessage, ThreadState};

/// The key of the object's state.
pub(crate) const STATE: &str = "thread";

/// The key of what is listed of the thread.
pub(crate) const LISTED: &str = "listed";

/// The key of the id of the invocation that executes a superstep, or has executed the last one.
const ADVANCING: &str = "advancing";

/// The end of a pass that has only requested tasks.
const REQUESTED: PassEnd = PassEnd {
    status: ThreadStatus::Running,
    due_ms: None,
    committed: false,
    failure: None,
};

/// The answer of a handler that refuses a change because the thread has another version.
pub(crate) const CONFLICT: u16 = 409;

/// The answer of a handler that refuses a change because the thread would be too large.
pub(crate) const TOO_LARGE: u16 = 413;

/// The state, and the bodies of its next version. Deletes the objects of the versions before it.
async fn load<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'_>,
) -> Result<(ThreadState, ThreadBodies), HandlerError> {
    let stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    let Meta {
        version,
        incarnation,
        objects,
        ..
    } = &stored.head;
    let bodies = flow.thread_bodies(ctx.key(), incarnation, version + 1);
    // The version before has ended, so nothing reads them again.
    if *objects > 0 && objects + 1 >= *version {
        bodies.delete_before(*version).await?;
    }
    Ok((ThreadState::open(stored, &bodies).await?, bodies))
}

/// The state, for a client. Its body may be an object.
pub(crate) async fn read(ctx: SharedObjectContext<'_>) -> Result<Message<Meta>, HandlerError> {
    Ok(ctx.get(STATE).await?.unwrap_or_default())
}

/// Makes the change of a client that knows the newest version.
pub(crate) async fn change<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    change: Message<ChangeMeta>,
) -> Result<(), HandlerError> {
    let (mut state, mut bodies) = load(flow, &ctx).await?;
    let ChangeMeta {
        version,
        incarnation,
        key,
    } = change.head;
    if key.as_ref().is_some_and(|key| state.meta.has_begun(key)) {
        return Ok(());
    }
    if state.meta.version != version {
        let problem = format!("the thread has version {}", state.meta.version);
        return Err(TerminalError::new_with_code(CONFLICT, problem).into());
    }
    if version == 0 {
        bodies = flow.thread_bodies(ctx.key(), &incarnation, version + 1);
        state.meta.incarnation = incarnation;
    }
    let changes = bodies.get(&change.body).await?;
    state.records.apply(&RecordChanges::from_bytes(&changes)?);
    if let Some(problem) = bodies.too_large("the thread", size(&state.records)) {
        return Err(TerminalError::new_with_code(TOO_LARGE, problem).into());
    }
    state.meta.used = 0;
    state.meta.failure = None;
    state.meta.begun_with(key);
    let now_ms = time_if_due(&ctx, &state).await?;
    rest(flow, &ctx, state, &bodies, now_ms).await
}

/// Adds a message between two supersteps. Clients do not wait for it, so they have found its mistakes before.
pub(crate) async fn send<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    message: SentMessage,
) -> Result<(), HandlerError> {
    let (mut state, bodies) = load(flow, &ctx).await?;
    let (engine, thread, records) = (
        flow.engine.clone(),
        ctx.key().to_string(),
        state.records.clone(),
    );
    let add: Step = Box::new(move || {
        Box::pin(async move {
            let edited = engine.edit(&thread, &records, async move |thread| {
                message.send_to(&thread).await
            });
            let (sent, changes) = edited.await?;
            // The thread was deleted, or has another program.
            sent.map_err(|error| TerminalError::new(error.to_string()))?;
            Ok(changes.to_bytes())
        })
    });
    let changes = ctx.run(add).retry_policy(step_retries()).name("message");
    let changes = RecordChanges::from_bytes(&changes.await?)?;
    if changes.is_empty() {
        return Ok(());
    }
    state.records.apply(&changes);
    if let Some(problem) = bodies.too_large("the thread", size(&state.records)) {
        return Err(TerminalError::new_with_code(TOO_LARGE, problem).into());
    }
    let now_ms = time_if_due(&ctx, &state).await?;
    rest(flow, &ctx, state, &bodies, now_ms).await
}

/// The time, if the thread goes on at a time.
async fn time_if_due(
    ctx: &ObjectContext<'_>,
    state: &ThreadState,
) -> Result<Option<u64>, HandlerError> {
    Ok(match state.records.status()? {
        (ThreadStatus::Sleeping | ThreadStatus::Waiting, Some(_)) => Some(time(ctx).await?),
        _ => None,
    })
}

/// Executes the next superstep of this version, and stores the next version.
pub(crate) async fn advance<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    version: u64,
) -> Result<(), HandlerError> {
    let (mut state, bodies) = load(flow, &ctx).await?;
    if state.meta.version != version || state.records.is_empty() {
        return Ok(());
    }
    // What stops the thread cancels this invocation.
    ctx.set(ADVANCING, ctx.invocation_id().to_string());
    let (mut end, mut at_ms) = superstep(flow, &ctx, &mut state, &bodies).await?;
    if let Some(problem) = bodies.too_large("the thread", size(&state.records)) {
        // It stays as it was before the superstep.
        state.records = load(flow, &ctx).await?.0.records;
        end = failure(problem);
    }
    let is_running = state.records.status()?.0 == ThreadStatus::Running;
    if end.status != ThreadStatus::Running && (is_running || !end.committed) {
        if at_ms.is_none() && end.due_ms.is_some() {
            at_ms = Some(time(&ctx).await?);
        }
        let changes = state.records.with_status(end.status, end.due_ms)?;
        state.records.apply(&changes);
    }
    if end.status == ThreadStatus::Held {
        stop_children(&ctx, &state.records);
    }
    state.meta.used += u64::from(end.committed);
    state.meta.failure = end.failure;
    let at_ms = say_end(flow, &ctx, &mut state, at_ms).await?;
    rest(flow, &ctx, state, &bodies, at_ms).await
}

/// Runs the tasks of the next superstep, and commits it if all of them have a result. Returns how it ended, and the time if it is known.
async fn superstep<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'_>,
    state: &mut ThreadState,
    bodies: &ThreadBodies,
) -> Result<(PassEnd, Option<u64>), HandlerError> {
    let used = state.meta.used;
    let known = flow.engine.requests(ctx.key(), &state.records, used).await;
    let (called, mut end, at_ms) = match known {
        // Not a step of the journal: it follows from the state.
        Some(requests) => {
            let mut called = Vec::with_capacity(requests.len());
            for request in requests {
                called.push(call(flow, ctx, state, bodies, request).await?);
            }
            (called, REQUESTED, None)
        }
        None => pass(flow, ctx, state, bodies, Aim::Tasks).await?,
    };
    if called.is_empty() {
        return Ok((end, at_ms));
    }
    end = tasks(flow, ctx, state, bodies, called, end).await?;
    if end.status != ThreadStatus::Running {
        return Ok((end, at_ms));
    }
    let (_, end, at_ms) = pass(flow, ctx, state, bodies, Aim::Commit).await?;
    Ok((end, at_ms))
}

/// What a pass is for.
#[derive(Clone, Copy)]
enum Aim {
    /// To run the tasks of the superstep, or to request them.
    Tasks,
    /// To commit the superstep, whose tasks have ended.
    Commit,
}

/// How a superstep ends that was cancelled: a person holds the thread, and what was recorded remains.
const STOPPED: PassEnd = PassEnd {
    status: ThreadStatus::Held,
    due_ms: None,
    committed: false,
    failure: None,
};

/// Makes a pass. Calls the tasks that it requests, which begin at once.
async fn pass<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &mut ThreadState,
    bodies: &ThreadBodies,
    aim: Aim,
) -> Result<(Vec<Called<'ctx>>, PassEnd, Option<u64>), HandlerError> {
    let timeouts = flow.timeouts;
    let journaled = JournaledPass::new(PassSettings {
        limit: None,
        timeouts,
        bodies: bodies.clone(),
    });
    let mut silences = Silences::default();
    let mut called: Vec<Called<'ctx>> = Vec::new();
    loop {
        let (engine, thread) = (flow.engine.clone(), ctx.key().to_string());
        let (records, used) = (state.records.clone(), state.meta.used);
        let requested: Vec<TaskId> = called.iter().map(Called::task).collect();
        let begin = Box::new(move || match aim {
            Aim::Tasks => engine.advance(&thread, records, used, requested),
            Aim::Commit => engine.commit(&thread, records, used),
        });
        let (step, last) = journaled.step(begin);
        let step = ctx.run(step).retry_policy(step_retries()).name("pass");
        let Some(recorded) = recorded_of(step, last, bodies).await? else {
            return Ok((called, STOPPED, None));
        };
        if let Some(end) = silences.count(&recorded, timeouts) {
            return Ok((called, end, None));
        }
        let Recorded::Batch { batch, at_ms } = recorded else {
            continue;
        };
        state.records.apply(&batch.changes);
        for request in batch.requests {
            called.push(call(flow, ctx, state, bodies, request).await?);
        }
        if let Some(end) = batch.end {
            return Ok((called, end, Some(at_ms)));
        }
    }
}

/// The time, as a step of the journal, in milliseconds since 1970 (UTC).
async fn time(ctx: &ObjectContext<'_>) -> Result<u64, HandlerError> {
    Ok(ctx.run(async || Ok(now_ms())).name("time").await?)
}

/// Tells listeners and the log how the thread rests, if it does. Returns the time, if it is known. The number for listeners is that of
/// the next version, so that an invocation that is replayed says the same again.
async fn say_end<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'_>,
    state: &mut ThreadState,
    at_ms: Option<u64>,
) -> Result<Option<u64>, HandlerError> {
    let Meta {
        version, failure, ..
    } = &state.meta;
    let (engine, records, failure) = (&flow.engine, &state.records, failure.as_deref());
    engine
        .publish_end(ctx.key(), records, version + 1, failure)
        .await?;
    if !engine.has_event_log() || !state.rests()? {
        return Ok(at_ms);
    }
    let at_ms = match at_ms {
        Some(at_ms) => at_ms,
        None => time(ctx).await?,
    };
    let end = engine.log_end(ctx.key(), records, at_ms, failure).await?;
    state.records.apply(&end);
    Ok(Some(at_ms))
}

/// Stores the next version, and sends what follows: the next superstep, the time at which a question expires, or the deletion.
async fn rest<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'_>,
    mut state: ThreadState,
    bodies: &ThreadBodies,
    now_ms: Option<u64>,
) -> Result<(), HandlerError> {
    state.meta.version += 1;
    let version = state.meta.version;
    let (status, due_ms) = state.records.status()?;
    let object = |handler: &str| RequestTarget::object(flow.threads_service(), ctx.key(), handler);
    let is_removed = state.records.is_empty();
    match status {
        _ if is_removed => {}
        ThreadStatus::Running => {
            ctx.request::<_, ()>(object("advance"), version).send();
        }
        ThreadStatus::Finished => {
            if let Some(after) = flow.delete_after {
                ctx.request::<_, ()>(object("delete"), version)
                    .send_after(after);
            }
        }
        _ => {
            if let Some(due_ms) = due_ms {
                // An answer that comes first makes another version.
                let wait = due_ms.saturating_sub(now_ms.unwrap_or(due_ms));
                let wait = Duration::from_millis(wait);
                ctx.request::<_, ()>(object("advance"), version)
                    .send_after(wait);
            }
        }
    }
    let rests = is_removed || status != ThreadStatus::Running;
    let waiting = if rests {
        std::mem::take(&mut state.meta.waiting)
    } else {
        Vec::new()
    };
    let joining = if is_removed || is_end(status) {
        std::mem::take(&mut state.meta.joining)
    } else {
        Vec::new()
    };
    match state.info(ctx.key())? {
        Some(info) => {
            // While it runs, the list has what was so when it began to.
            if status != ThreadStatus::Running || state.meta.used == 0 {
                ctx.set(LISTED, Json(Listed::new(info)));
            }
            let stored = state.stored(bodies).await?;
            ctx.set(STATE, stored);
        }
        None => forget(flow, ctx, &state.meta),
    }
    wake(ctx, waiting);
    tell_end(ctx, joining);
    Ok(())
}

/// Holds the thread at its last barrier: only a resume continues it.
pub(crate) async fn hold<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
) -> Result<(), HandlerError> {
    let (mut state, bodies) = load(flow, &ctx).await?;
    if state.records.is_empty() || is_end(state.records.status()?.0) {
        return Ok(());
    }
    let has_run = !state.rests()?;
    stop_children(&ctx, &state.records);
    let held = state.records.with_status(ThreadStatus::Held, None)?;
    state.records.apply(&held);
    let mut at_ms = None;
    if has_run {
        at_ms = say_end(flow, &ctx, &mut state, None).await?;
    }
    rest(flow, &ctx, state, &bodies, at_ms).await
}

/// Cancels the superstep that is executed at the moment. It ends then, and the thread is held.
pub(crate) async fn stop(ctx: SharedObjectContext<'_>) -> Result<(), HandlerError> {
    if let Some(advancing) = ctx.get::<String>(ADVANCING).await? {
        // Nothing happens to an invocation that has ended.
        ctx.invocation_handle(advancing).cancel();
    }
    Ok(())
}

/// Executes the next superstep if no invocation does: one that was killed has left no other behind. An invocation that comes twice for
/// a version does nothing.
pub(crate) async fn nudge<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
) -> Result<(), HandlerError> {
    let stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    let Meta {
        version,
        incarnation,
        ..
    } = &stored.head;
    let version = *version;
    let bodies = flow.thread_bodies(ctx.key(), incarnation, version);
    if !ThreadState::open(stored, &bodies).await?.rests()? {
        let target = RequestTarget::object(flow.threads_service(), ctx.key(), "advance");
        ctx.request::<_, ()>(target, version).send();
    }
    Ok(())
}

/// Deletes the thread if it has this version; 0 for any.
pub(crate) async fn delete<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    version: u64,
) -> Result<(), HandlerError> {
    // The body is not read: an object store that has lost it does not keep a thread from being deleted.
    let stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    if version != 0 && version != stored.head.version {
        return Ok(());
    }
    flow.engine.forget_events(ctx.key()).await;
    forget(flow, &ctx, &stored.head);
    wake(&ctx, stored.head.waiting);
    tell_end(&ctx, stored.head.joining);
    Ok(())
}

/// Removes what Restate has of a thread, and then its objects.
fn forget<F: Flow<State: Storable>>(flow: &RestateFlow<F>, ctx: &ObjectContext<'_>, meta: &Meta) {
    ctx.clear_all();
    if meta.objects > 0 {
        // Not here: a handler that is replayed reads them again.
        let target = RequestTarget::object(flow.threads_service(), ctx.key(), "forget");
        ctx.request::<_, ()>(target, meta.incarnation.clone())
            .send();
    }
}

/// Deletes the objects of an incarnation that is gone.
pub(crate) async fn forget_objects<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: SharedObjectContext<'_>,
    incarnation: String,
) -> Result<(), HandlerError> {
    let bodies = flow.thread_bodies(ctx.key(), &incarnation, 0);
    Ok(bodies.delete_all().await?)
}

/// Tells those that wait that the thread rests. After its state is set, which they read next.
fn wake(ctx: &ObjectContext<'_>, waiting: Vec<String>) {
    for waiting in waiting {
        ctx.resolve_awakeable(&waiting, ());
    }
}

/// How long a listener waits before it asks whether a superstep is executed.
const FIRST_LOOK: Duration = Duration::from_secs(10);

/// The longest time between two such looks.
const LAST_LOOK: Duration = Duration::from_mins(10);

/// Waits until the thread rests.
pub(crate) async fn wait<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: SharedObjectContext<'_>,
) -> Result<(), HandlerError> {
    let (id, rests) = ctx.awakeable::<()>();
    let object = |handler: &str| RequestTarget::object(flow.threads_service(), ctx.key(), handler);
    ctx.request::<_, ()>(object("subscribe"), id).send();
    let mut look = FIRST_LOOK;
    loop {
        let sleeps = ctx.sleep(look);
        let inner = rests.inner_context();
        let first = inner.select(vec![rests.handle(), sleeps.handle()]);
        if first.await? == 0 {
            return Ok(rests.await?);
        }
        ctx.request::<_, ()>(object("nudge"), ()).send();
        look = (look * 2).min(LAST_LOOK);
    }
}

/// Resolves the awakeable when the thread rests.
pub(crate) async fn subscribe<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
    id: String,
) -> Result<(), HandlerError> {
    let mut stored = ctx.get::<Message<Meta>>(STATE).await?.unwrap_or_default();
    let Meta {
        version,
        incarnation,
        ..
    } = &stored.head;
    let bodies = flow.thread_bodies(ctx.key(), incarnation, *version);
    if ThreadState::open(stored.clone(), &bodies).await?.rests()? {
        ctx.resolve_awakeable(&id, ());
    } else {
        stored.head.waiting.push(id);
        ctx.set(STATE, stored);
    }
    Ok(())
}
