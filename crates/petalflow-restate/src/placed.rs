//! Tasks that node hosts run, as their driver sees them.

use std::time::Duration;

use futures_util::future::BoxFuture;
use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{Batch, PassEnd, RecordsError, TaskRequest, ThreadRecords};
use petalflow::event::TaskId;
use petalflow::state::Storable;
use restate_sdk::context::{
    ContextClient as _, ContextTimers as _, ObjectContext, RequestTarget,
    macro_support::SealedDurableFuture,
};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk_shared_core::NotificationHandle;

use crate::bodies::{BodyError, ThreadBodies};
use crate::flow::RestateFlow;
use crate::size_limit::{cut, failure};
use crate::thread_state::{CallMeta, Message, ThreadState};

/// How long a cancelled superstep waits for what its placed tasks have recorded. A host that is away does not hold it for longer.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// How often a host is asked whose answer cannot be read.
const MAX_CALLS: u32 = 3;

/// A task that another process runs.
pub(crate) struct Called<'ctx> {
    request: TaskRequest,
    answer: BoxFuture<'ctx, Result<Vec<u8>, TerminalError>>,
    handle: NotificationHandle,
    inner: ContextInternal,
}

impl Called<'_> {
    pub(crate) fn task(&self) -> TaskId {
        self.request.task
    }

    /// Waits until there is an answer. `false`: the time has come before. An error: the invocation was cancelled.
    fn is_answered(
        &self,
        until: Option<NotificationHandle>,
    ) -> impl Future<Output = Result<bool, TerminalError>> + Send + use<> {
        let (inner, handle) = (self.inner.clone(), self.handle);
        async move {
            let handles = [Some(handle), until].into_iter().flatten();
            Ok(inner.select(handles.collect()).await? == 0)
        }
    }
}

/// Calls a node host.
pub(crate) async fn call<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &ThreadState,
    bodies: &ThreadBodies,
    request: TaskRequest,
) -> Result<Called<'ctx>, HandlerError> {
    let records = flow.engine.records_for(&state.records, &request);
    let target = RequestTarget::service(flow.nodes_service(&request.pool), "run");
    let head = CallMeta {
        thread: ctx.key().to_string(),
        incarnation: state.meta.incarnation.clone(),
        version: state.meta.version + 1,
        used: state.meta.used,
        task: request.task.to_bytes(),
    };
    let body = bodies.put(records.to_bytes()).await?;
    let answer = ctx
        .request::<_, Vec<u8>>(target, Message { head, body })
        .call();
    Ok(Called {
        request,
        handle: answer.handle(),
        inner: answer.inner_context(),
        answer: Box::pin(answer),
    })
}

/// Awaits the tasks, in their order, and adds what they have recorded. Returns what the superstep comes to: if it can be committed, it is
/// `Running`; if it is cancelled, it is `Held`.
pub(crate) async fn tasks<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &mut ThreadState,
    bodies: &ThreadBodies,
    called: Vec<Called<'ctx>>,
    mut whole: PassEnd,
) -> Result<PassEnd, HandlerError> {
    if is_pause(whole.status) {
        whole.failure = None;
    }
    let stopped = || ctx.sleep(LAST_RECORDS);
    let mut until = (whole.status == ThreadStatus::Held).then(stopped);
    for called in called {
        if until.is_none() && called.is_answered(None).await.is_err() {
            whole = PassEnd {
                status: ThreadStatus::Held,
                due_ms: None,
                failure: None,
                ..whole
            };
            until = Some(stopped());
        }
        let deadline = until.as_ref().map(SealedDurableFuture::handle);
        if deadline.is_some() {
            if let Ok(true) = called.is_answered(deadline).await {
                answer(flow, ctx, state, bodies, called).await?;
            }
            continue;
        }
        let ended = answer(flow, ctx, state, bodies, called).await?;
        let rest = (whole.status, whole.due_ms);
        (whole.status, whole.due_ms) = ThreadRecords::worse(rest, (ended.status, ended.due_ms));
        let is_failure = !is_pause(ended.status);
        whole.failure = whole.failure.or(ended.failure.filter(|_| is_failure));
    }
    Ok(whole)
}

/// Whether a pass with this status waits for a person or a time.
fn is_pause(status: ThreadStatus) -> bool {
    matches!(status, ThreadStatus::Waiting | ThreadStatus::Sleeping)
}

/// Adds what a task has recorded, and returns how it ended. An answer that cannot be read is asked for again.
async fn answer<'ctx, F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    ctx: &ObjectContext<'ctx>,
    state: &mut ThreadState,
    bodies: &ThreadBodies,
    called: Called<'ctx>,
) -> Result<PassEnd, HandlerError> {
    let request = called.request.clone();
    let mut called = Some(called);
    let mut problem = String::new();
    for _ in 0..MAX_CALLS {
        let asked = match called.take() {
            Some(called) => called,
            None => call(flow, ctx, state, bodies, request.clone()).await?,
        };
        let bytes = match asked.answer.await {
            Ok(bytes) => bytes,
            Err(error) => {
                let stopped = format!(
                    "node `{}` was stopped in Restate: {}",
                    request.node,
                    error.message()
                );
                return Ok(failure(stopped));
            }
        };
        let body = match bodies.get(&bytes).await {
            Err(BodyError::Damaged) => Err(BodyError::Damaged.to_string()),
            body => Ok(body?),
        };
        match body.and_then(|body| add(state, &body).map_err(|error| error.to_string())) {
            Ok(end) => return Ok(end),
            Err(unreadable) => problem = unreadable,
        }
    }
    Ok(failure(format!(
        "the answer of `{}` for node `{}` cannot be read, {MAX_CALLS} times: {problem}; deploy node hosts with the same version of petalflow \
         as the drivers, and resume the thread",
        flow.nodes_service(&request.pool),
        request.node
    )))
}

/// Adds what a task has recorded, if all of it can be read. Returns how it ended.
fn add(state: &mut ThreadState, body: &[u8]) -> Result<PassEnd, RecordsError> {
    let Batch { changes, end, .. } = Batch::from_bytes(body)?;
    let no_end = || RecordsError::Damaged("it does not say how the task ended".into());
    let mut end = end.ok_or_else(no_end)?;
    let mut records = state.records.clone();
    records.apply_task(&changes)?;
    state.records = records;
    end.failure = end.failure.map(cut);
    Ok(end)
}
