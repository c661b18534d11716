//! A pass whose batches are steps of a journal.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::{BoxFuture, Either, select};
use petalflow::engine::{Batch, Pass};
use restate_sdk::context::RunRetryPolicy;
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};

use crate::bodies::ThreadBodies;
use crate::size_limit::failed;

/// A pass that begins when its first batch is needed. Batches that are in the journal come from there, so a pass that an earlier
/// process has begun goes on from its last batch.
#[derive(Clone, Default)]
pub(crate) struct JournaledPass(Arc<Mutex<Option<Running>>>);

struct Running {
    pass: Pass,
    _permit: Option<OwnedSemaphorePermit>,
}

/// A batch, and the time at which it was recorded, in milliseconds since 1970 (UTC).
pub(crate) struct Recorded {
    pub(crate) batch: Batch,
    pub(crate) at_ms: u64,
}

/// A step of the journal: makes the bytes that it stores.
pub(crate) type Step = Box<dyn FnOnce() -> BoxFuture<'static, HandlerResult<Vec<u8>>> + Send>;

impl JournaledPass {
    /// The step of the journal that makes the next batch, and what receives the batch if it is the last one. `begin` begins the pass,
    /// if this process has not begun it.
    pub(crate) fn step(
        &self,
        limit: Option<Arc<Semaphore>>,
        bodies: ThreadBodies,
        begin: Box<dyn FnOnce() -> Pass + Send>,
    ) -> (Step, oneshot::Receiver<Vec<u8>>) {
        let pass = Arc::clone(&self.0);
        let (made, last) = oneshot::channel();
        let step = move || Box::pin(next(pass, limit, bodies, begin, made)) as _;
        (Box::new(step), last)
    }
}

/// The batch of a step. A batch that others follow is stored when this returns. The last one may be on its way to the server: what the
/// handler sends after it is stored after it, because the server stores the messages of an invocation in their order. So a handler
/// does not wait for an acknowledgement that nothing depends on.
pub(crate) async fn batch_of(
    step: impl Future<Output = Result<Vec<u8>, TerminalError>>,
    last: oneshot::Receiver<Vec<u8>>,
    bodies: &ThreadBodies,
) -> Result<Recorded, HandlerError> {
    let last = async {
        match last.await {
            Ok(bytes) => bytes,
            // The batch comes from the journal, or is not the last one.
            Err(_) => std::future::pending().await,
        }
    };
    // The step is polled first. When the other future is ready, the step has sent its result.
    let bytes = match select(pin!(step), pin!(last)).await {
        Either::Left((stored, _)) => stored?,
        Either::Right((bytes, _)) => bytes,
    };
    Recorded::from_bytes(&bytes, bodies).await
}

/// The next batch as the journal stores it. If it is the last one, it is sent too.
async fn next(
    pass: Arc<Mutex<Option<Running>>>,
    limit: Option<Arc<Semaphore>>,
    bodies: ThreadBodies,
    begin: Box<dyn FnOnce() -> Pass + Send>,
    made: oneshot::Sender<Vec<u8>>,
) -> HandlerResult<Vec<u8>> {
    let mut running = pass.lock().await;
    if running.is_none() {
        let permit = match limit {
            Some(limit) => Some(limit.acquire_owned().await?),
            None => None,
        };
        *running = Some(Running {
            pass: begin(),
            _permit: permit,
        });
    }
    let batch = match running.as_mut() {
        Some(running) => running.pass.next().await,
        None => None,
    };
    let batch = batch.ok_or("the pass ended without its last batch")?;
    let mut is_last = batch.end.is_some();
    let mut body = batch.to_bytes();
    if let Some(problem) = bodies.too_large("what the superstep has recorded", body.len()) {
        // What follows it is not made.
        is_last = true;
        body = failed(problem).to_bytes();
    }
    let body = bodies.put(body).await?;
    let bytes = [&now_ms().to_be_bytes()[..], &body].concat();
    if is_last {
        // Of a handler that was dropped, nobody receives it.
        let _ = made.send(bytes.clone());
    }
    Ok(bytes)
}

impl Recorded {
    /// The batch of a step.
    async fn from_bytes(bytes: &[u8], bodies: &ThreadBodies) -> Result<Self, HandlerError> {
        let (at_ms, body) = bytes
            .split_first_chunk::<8>()
            .ok_or("the step of the journal is too short")?;
        Ok(Recorded {
            batch: Batch::from_bytes(&bodies.get(body).await?)?,
            at_ms: u64::from_be_bytes(*at_ms),
        })
    }
}

/// How a step is repeated that could not be made: at once, and for as long as it takes.
pub(crate) fn step_retries() -> RunRetryPolicy {
    RunRetryPolicy::new().initial_delay(Duration::from_millis(50))
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
