//! The service of a pool: runs one task of a superstep.

use std::sync::Arc;

use petalflow::Flow;
use petalflow::engine::Batch;
use petalflow::event::TaskId;
use petalflow::state::Storable;
use restate_sdk::context::{Context, ContextSideEffects as _, RunFuture as _};
use restate_sdk::errors::HandlerError;
use tokio::sync::Semaphore;

use crate::flow::RestateFlow;
use crate::pass::{JournaledPass, Recorded, batch_of, step_retries};
use crate::size_limit::{failed, too_large};
use crate::thread_state::TaskCall;

/// Runs the task, and returns all that it has recorded, with its end. Each effect of `once` is a step of the journal.
pub(crate) async fn run<F: Flow<State: Storable>>(
    flow: Arc<RestateFlow<F>>,
    limit: Option<Arc<Semaphore>>,
    ctx: Context<'_>,
    call: TaskCall,
) -> Result<Vec<u8>, HandlerError> {
    let TaskCall { meta, mut records } = call;
    let task = TaskId::from_bytes(meta.task);
    let pass = JournaledPass::default();
    let mut whole = Batch::default();
    while whole.end.is_none() {
        let (engine, thread, known) = (flow.engine.clone(), meta.thread.clone(), records.clone());
        let begin = Box::new(move || engine.run_task(&thread, known, meta.used, task));
        let (step, last) = pass.step(limit.clone(), begin);
        let step = ctx.run(step).retry_policy(step_retries()).name("pass");
        let Recorded { batch, .. } = batch_of(step, last).await?;
        let batch = batch.of_task();
        records.apply(&batch.changes);
        whole.changes.0.extend(batch.changes.0);
        whole.end = batch.end;
    }
    let bytes = whole.to_bytes();
    Ok(match too_large("what the node has recorded", bytes.len()) {
        Some(problem) => failed(problem).to_bytes(),
        None => bytes,
    })
}
