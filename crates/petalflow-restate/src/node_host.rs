//! The service of a pool: runs one task of a superstep.

use std::sync::Arc;

use petalflow::Flow;
use petalflow::engine::{Batch, ThreadRecords};
use petalflow::event::TaskId;
use petalflow::state::Storable;
use restate_sdk::context::{Context, ContextSideEffects as _, RunFuture as _};
use restate_sdk::errors::HandlerError;
use tokio::sync::Semaphore;

use crate::flow::RestateFlow;
use crate::pass::{JournaledPass, PassSettings, Recorded, Silences, recorded_of, step_retries};
use crate::size_limit::{failed, failure};
use crate::thread_state::{CallMeta, Message};

/// Runs the task, and returns all that it has recorded, with its end. Each effect of `once` is a step of the journal.
pub(crate) async fn run<F: Flow<State: Storable>>(
    flow: Arc<RestateFlow<F>>,
    limit: Option<Arc<Semaphore>>,
    ctx: Context<'_>,
    call: Message<CallMeta>,
) -> Result<Vec<u8>, HandlerError> {
    let Message { head: meta, body } = call;
    let bodies = flow.thread_bodies(&meta.thread, &meta.incarnation, meta.version);
    let mut records = ThreadRecords::from_bytes(&bodies.get(&body).await?)?;
    let task = TaskId::from_bytes(meta.task);
    let timeouts = flow.timeouts;
    let pass = JournaledPass::new(PassSettings {
        limit,
        timeouts,
        bodies: bodies.clone(),
    });
    let (mut whole, mut silences) = (Batch::default(), Silences::default());
    while whole.end.is_none() {
        let (engine, thread, known) = (flow.engine.clone(), meta.thread.clone(), records.clone());
        let begin = Box::new(move || engine.run_task(&thread, known, meta.used, task));
        let (step, last) = pass.step(begin);
        let step = ctx.run(step).retry_policy(step_retries()).name("pass");
        let Some(recorded) = recorded_of(step, last, &bodies).await? else {
            // What it has recorded is not lost: its driver waits for it.
            whole.end = Some(failure("the placed task was cancelled".into()));
            break;
        };
        whole.end = silences.count(&recorded, timeouts);
        if let Recorded::Batch { batch, .. } = recorded {
            let batch = batch.of_task();
            records.apply(&batch.changes);
            whole.changes.0.extend(batch.changes.0);
            whole.end = batch.end;
        }
    }
    let mut body = whole.to_bytes();
    if let Some(problem) = bodies.too_large("what the node has recorded", body.len()) {
        body = failed(problem).to_bytes();
    }
    Ok(bodies.put(body).await?)
}
