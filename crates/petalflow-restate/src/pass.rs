//! A pass whose batches are steps of a journal.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use petalflow::engine::{Batch, Pass};
use restate_sdk::context::RunRetryPolicy;
use restate_sdk::errors::{HandlerError, HandlerResult};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

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

impl JournaledPass {
    /// The step of the journal that makes the next batch. `begin` begins the pass, if this process has not begun it.
    pub(crate) fn step(
        &self,
        limit: Option<Arc<Semaphore>>,
        begin: Box<dyn FnOnce() -> Pass + Send>,
    ) -> impl FnOnce() -> BoxFuture<'static, HandlerResult<Vec<u8>>> + Send + 'static {
        let pass = Arc::clone(&self.0);
        move || Box::pin(next(pass, limit, begin))
    }
}

/// The next batch as the journal stores it.
async fn next(
    pass: Arc<Mutex<Option<Running>>>,
    limit: Option<Arc<Semaphore>>,
    begin: Box<dyn FnOnce() -> Pass + Send>,
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
    Ok([&now_ms().to_be_bytes()[..], &batch.to_bytes()].concat())
}

impl Recorded {
    /// The batch of a step.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, HandlerError> {
        let (at_ms, batch) = bytes
            .split_first_chunk::<8>()
            .ok_or("the step of the journal is too short")?;
        Ok(Recorded {
            batch: Batch::from_bytes(batch)?,
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
