//! The virtual object of a thread: each superstep is one invocation.

use std::time::Duration;

use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{Batch, PassEnd, RecordChanges, TaskRequest, ThreadRecords};
use petalflow::event::TaskId;
use petalflow::state::Storable;
use restate_sdk::context::{
    ContextAwakeables, ContextClient, ContextReadState, ContextSideEffects as _, ContextWriteState,
    ObjectContext, RequestTarget, RunFuture as _, SharedObjectContext,
};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;

use crate::bodies::ThreadBodies;
use crate::flow::RestateFlow;
use crate::pass::{JournaledPass, Recorded, batch_of, now_ms, step_retries};
use crate::size_limit::{failed, size};
use crate::thread_state::{CallMeta, ChangeMeta, Listed, Message, Meta, ThreadState};

/// The key of the object's state.
const STATE: &str = "thread";

/// The key of what is listed of the thread.
pub(crate) const LISTED: &str = "listed";

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
const TOO_LARGE: u16 = 413;

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
    } = change.head;
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
    rest(flow, &ctx, state, &bodies, None).await
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
    let used = state.meta.used;
    let known = flow.engine.requests(ctx.key(), &state.records, used).await;
    let (called, mut end, mut at_ms) = match known {
        // Not a step of the journal: it follows from the state.
        Some(requests) => {
            let mut called = Vec::with_capacity(requests.len());
            for request in requests {
                called.push(call(flow, &ctx, &state, &bodies, request).await?);
            }
            (called, REQUESTED, None)
        }
        None => pass(flow, &ctx, &mut state, &bodies, true).await?,
    };
    if !called.is_empty() {
        let (status, due_ms, failure) = tasks(&mut state, &bodies, called, &end).await?;
        if status == ThreadStatus::Running {
            (_, end, at_ms) = pass(flow, &ctx, &mut state, &bodies, false).await?;
        } else {
            if at_ms.is_none() && due_ms.is_some() {
                at_ms = Some(time(&ctx).await?);
            }
            let changes = state.records.with_status(status, due_ms)?;
            state.records.apply(&changes);
            end = PassEnd {
                status,
                due_ms,
                committed: false,
                failure,
            };
        }
    }
    if let Some(problem) = bodies.too_large("the thread", size(&state.records)) {
        // It stays as it was before the superstep.
        state.records = load(flow, &ctx).await?.0.records;
        end = failed(problem).end.unwrap_or(end);
    }
    if end.status == ThreadStatus::Failed && state.records.status()?.0 == ThreadStatus::Running {
        let failed = state.records.with_status(ThreadStatus::Failed, None)?;
        state.records.apply(&failed);
    }
    state.meta.used += u64::from(end.committed);
    state.meta.failure = end.failure;
    let at_ms = say_end(flow, &ctx, &mut state, at_ms).await?;
    rest(flow, &ctx, state, &bodies, at_ms).await
}

/// A task that another process runs.
struct Called<'ctx> {
    task: TaskId,
    answer: futures_util::future::BoxFuture<'ctx, Result<Vec<u8>, TerminalError>>,
}

/// Makes a pass. Calls the tasks that it requests, which begin at once.
async fn pass<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &mut ThreadState,
    bodies: &ThreadBodies,
    places: bool,
) -> Result<(Vec<Called<'ctx>>, PassEnd, Option<u64>), HandlerError> {
    let journaled = JournaledPass::default();
    let mut called: Vec<Called<'ctx>> = Vec::new();
    loop {
        let (engine, thread) = (flow.engine.clone(), ctx.key().to_string());
        let (records, used) = (state.records.clone(), state.meta.used);
        let requested: Vec<TaskId> = called.iter().map(|called| called.task).collect();
        let begin = Box::new(move || engine.advance(&thread, records, used, requested));
        let (step, last) = journaled.step(None, bodies.clone(), begin);
        let step = ctx.run(step).retry_policy(step_retries()).name("pass");
        let Recorded { batch, at_ms } = batch_of(step, last, bodies).await?;
        state.records.apply(&batch.changes);
        if places {
            for request in batch.requests {
                called.push(call(flow, ctx, state, bodies, request).await?);
            }
        }
        if let Some(end) = batch.end {
            return Ok((called, end, Some(at_ms)));
        }
    }
}

/// Calls a node host.
async fn call<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &ThreadState,
    bodies: &ThreadBodies,
    request: TaskRequest,
) -> Result<Called<'ctx>, HandlerError> {
    let records = flow.engine.records_for(&state.records, &request);
    let TaskRequest { task, pool, .. } = request;
    let target = RequestTarget::service(flow.nodes_service(&pool), "run");
    let head = CallMeta {
        thread: ctx.key().to_string(),
        incarnation: state.meta.incarnation.clone(),
        version: state.meta.version + 1,
        used: state.meta.used,
        task: task.to_bytes(),
    };
    let body = bodies.put(records.to_bytes()).await?;
    let answer = ctx.request::<_, Vec<u8>>(target, Message { head, body });
    Ok(Called {
        task,
        answer: Box::pin(answer.call()),
    })
}

/// Awaits the tasks, in their order. Returns what the superstep comes to if it cannot be committed, and otherwise `Running`.
async fn tasks(
    state: &mut ThreadState,
    bodies: &ThreadBodies,
    called: Vec<Called<'_>>,
    end: &PassEnd,
) -> Result<(ThreadStatus, Option<u64>, Option<String>), HandlerError> {
    let mut whole = (end.status, end.due_ms);
    let mut failure = end
        .failure
        .clone()
        .filter(|_| end.status != ThreadStatus::Waiting);
    for Called { answer, .. } in called {
        let ended = match answer.await {
            Ok(bytes) => {
                let Batch { changes, end, .. } = Batch::from_bytes(&bodies.get(&bytes).await?)?;
                state.records.apply_task(&changes)?;
                end
            }
            // The invocation was cancelled or killed.
            Err(error) => Some(PassEnd {
                status: ThreadStatus::Failed,
                due_ms: None,
                committed: false,
                failure: Some(error.message().into()),
            }),
        };
        let ended = ended.ok_or("a node host has returned a task without its end")?;
        whole = ThreadRecords::worse(whole, (ended.status, ended.due_ms));
        let is_failure = ended.status != ThreadStatus::Waiting;
        failure = failure.or(ended.failure.filter(|_| is_failure));
    }
    Ok((whole.0, whole.1, failure))
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
    Ok(())
}

/// Holds the thread at its last barrier: only a resume continues it.
pub(crate) async fn hold<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: ObjectContext<'_>,
) -> Result<(), HandlerError> {
    let (mut state, bodies) = load(flow, &ctx).await?;
    if state.records.is_empty() || state.records.status()?.0 == ThreadStatus::Finished {
        return Ok(());
    }
    let has_run = !state.rests()?;
    let held = state.records.with_status(ThreadStatus::Held, None)?;
    state.records.apply(&held);
    let mut at_ms = None;
    if has_run {
        at_ms = say_end(flow, &ctx, &mut state, None).await?;
    }
    rest(flow, &ctx, state, &bodies, at_ms).await
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

/// Waits until the thread rests.
pub(crate) async fn wait<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: SharedObjectContext<'_>,
) -> Result<(), HandlerError> {
    let (id, rests) = ctx.awakeable::<()>();
    let target = RequestTarget::object(flow.threads_service(), ctx.key(), "subscribe");
    ctx.request::<_, ()>(target, id).send();
    rests.await?;
    Ok(())
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
