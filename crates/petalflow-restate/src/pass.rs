//! A pass whose batches are steps of a journal.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::{BoxFuture, Either, select};
use petalflow::engine::{Batch, Pass, PassEnd};
use restate_sdk::context::RunRetryPolicy;
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::bodies::ThreadBodies;
use crate::cancellation::Cancelled;
use crate::size_limit::{cut, failed, failure};
use crate::timeouts::Timeouts;

/// How often a node is begun again that was not heard of for too long.
const MAX_SILENCES: u32 = 3;

/// A step of the journal with nothing in it: a node said that it goes on, or a task waits for its turn.
const NEWS: [u8; 0] = [];

/// A step of the journal that says that nothing was heard for too long, so the pass was dropped. No batch begins so.
const SILENCE: [u8; 1] = [0];

/// The code with which Restate ends what it cancels.
pub(crate) const CANCELLED: u16 = 409;

/// A pass that begins when its first batch is needed. Batches that are in the journal come from there, so a pass that an earlier
/// process has begun goes on from its last batch.
#[derive(Clone)]
pub(crate) struct JournaledPass {
    running: Arc<Mutex<Option<Running>>>,
    settings: PassSettings,
}

/// What all steps of a pass have in common.
#[derive(Clone)]
pub(crate) struct PassSettings {
    pub(crate) limit: Option<Arc<Semaphore>>,
    pub(crate) timeouts: Timeouts,
    pub(crate) bodies: ThreadBodies,
}

struct Running {
    pass: Pass,
    _permit: Option<OwnedSemaphorePermit>,
}

/// What a step of the journal has.
pub(crate) enum Recorded {
    /// A batch, and the time at which it was recorded, in milliseconds since 1970 (UTC).
    Batch { batch: Batch, at_ms: u64 },
    /// Nothing. The pass goes on.
    News,
    /// Nothing was heard for too long. The pass begins again.
    Silence,
}

/// How often a pass was silent, one time after the other.
#[derive(Default)]
pub(crate) struct Silences(u32);

impl Silences {
    /// Counts. Returns the end of a pass that is not begun again.
    pub(crate) fn count(&mut self, recorded: &Recorded, timeouts: Timeouts) -> Option<PassEnd> {
        match recorded {
            Recorded::Batch { .. } => self.0 = 0,
            Recorded::News => {}
            Recorded::Silence => self.0 += 1,
        }
        (self.0 >= MAX_SILENCES).then(|| failure(timeouts.too_long(MAX_SILENCES)))
    }
}

/// A step of the journal: makes the bytes that it stores.
pub(crate) type Step = Box<dyn FnOnce() -> BoxFuture<'static, HandlerResult<Vec<u8>>> + Send>;

impl JournaledPass {
    pub(crate) fn new(settings: PassSettings) -> Self {
        JournaledPass {
            running: Arc::default(),
            settings,
        }
    }

    /// The step of the journal that makes the next batch, and what receives the batch if it is the last one. `begin` begins the pass,
    /// if this process has not begun it.
    pub(crate) fn step(
        &self,
        begin: Box<dyn FnOnce() -> Pass + Send>,
    ) -> (Step, oneshot::Receiver<Vec<u8>>) {
        let pass = self.clone();
        let cancelled = Cancelled::current();
        let (made, last) = oneshot::channel();
        let step = move || Box::pin(next(pass, begin, made, cancelled)) as _;
        (Box::new(step), last)
    }
}

/// What a step has recorded. A batch that others follow is stored when this returns. The last one may be on its way to the server: what
/// the handler sends after it is stored after it, because the server stores the messages of an invocation in their order. So a handler
/// does not wait for an acknowledgement that nothing depends on. `None` if the invocation was cancelled.
pub(crate) async fn recorded_of(
    step: impl Future<Output = Result<Vec<u8>, TerminalError>>,
    last: oneshot::Receiver<Vec<u8>>,
    bodies: &ThreadBodies,
) -> Result<Option<Recorded>, HandlerError> {
    let last = async {
        match last.await {
            Ok(bytes) => bytes,
            // The batch comes from the journal, or is not the last one.
            Err(_) => std::future::pending().await,
        }
    };
    // The step is polled first. When the other future is ready, the step has sent its result.
    let bytes = match select(pin!(step), pin!(last)).await {
        Either::Left((Err(error), _)) if error.code() == CANCELLED => return Ok(None),
        Either::Left((stored, _)) => stored?,
        Either::Right((bytes, _)) => bytes,
    };
    Recorded::from_bytes(&bytes, bodies).await.map(Some)
}

/// The next batch as the journal stores it. If it is the last one, it is sent too.
async fn next(
    pass: JournaledPass,
    begin: Box<dyn FnOnce() -> Pass + Send>,
    made: oneshot::Sender<Vec<u8>>,
    cancelled: Option<Cancelled>,
) -> HandlerResult<Vec<u8>> {
    let mut running = pass.running.lock().await;
    let cancelled = async {
        match cancelled {
            Some(cancelled) => cancelled.wait().await,
            None => std::future::pending().await,
        }
    };
    let heard = {
        let heard = pin!(hear(&mut running, &pass.settings, begin));
        match select(heard, pin!(cancelled)).await {
            Either::Left((heard, _)) => Some(heard?),
            Either::Right(_) => None,
        }
    };
    let Some(heard) = heard else {
        // Stops its nodes. The SDK reads the cancellation next.
        *running = None;
        return Err(TerminalError::new_with_code(CANCELLED, "cancelled").into());
    };
    let (body, is_last) = match heard {
        Heard::Batch(batch) => recorded(*batch, &pass.settings.bodies).await?,
        Heard::News => (NEWS.into(), false),
        Heard::Silence => {
            *running = None;
            (SILENCE.into(), false)
        }
    };
    let bytes = [&now_ms().to_be_bytes()[..], &body].concat();
    if is_last {
        // Of a handler that was dropped, nobody receives it.
        let _ = made.send(bytes.clone());
    }
    Ok(bytes)
}

/// The batch as a step stores it, and whether it is the last one.
async fn recorded(
    mut batch: Batch,
    bodies: &ThreadBodies,
) -> Result<(Vec<u8>, bool), HandlerError> {
    if let Some(end) = &mut batch.end {
        end.failure = end.failure.take().map(cut);
    }
    let mut is_last = batch.end.is_some();
    let mut body = batch.to_bytes();
    if let Some(problem) = bodies.too_large("what the superstep has recorded", body.len()) {
        // What follows it is not made.
        is_last = true;
        body = failed(problem).to_bytes();
    }
    Ok((bodies.put(body).await?, is_last))
}

/// What is heard of a pass.
enum Heard {
    Batch(Box<Batch>),
    News,
    Silence,
}

/// Waits for the next batch of the pass, which begins if it has not; or until there is something to say for it.
async fn hear(
    running: &mut Option<Running>,
    settings: &PassSettings,
    begin: Box<dyn FnOnce() -> Pass + Send>,
) -> Result<Heard, HandlerError> {
    let since = Instant::now();
    let interval = settings.timeouts.news_interval();
    if running.is_none() {
        let permit = match &settings.limit {
            Some(limit) => {
                let turn = pin!(Arc::clone(limit).acquire_owned());
                match select(turn, pin!(sleep_until(since + interval))).await {
                    Either::Left((permit, _)) => Some(permit?),
                    // Others run. It is not the fault of the task.
                    Either::Right(_) => return Ok(Heard::News),
                }
            }
            None => None,
        };
        *running = Some(Running {
            pass: begin(),
            _permit: permit,
        });
    }
    let ended = "the pass ended without its last batch";
    let Some(Running { pass, .. }) = running else {
        return Err(ended.into());
    };
    let heartbeats = pass.heartbeats();
    let mut look = since + interval;
    loop {
        if let Either::Left((batch, _)) = select(pin!(pass.next()), pin!(sleep_until(look))).await {
            return Ok(Heard::Batch(Box::new(batch.ok_or(ended)?)));
        }
        if pass.heartbeats() != heartbeats {
            return Ok(Heard::News);
        }
        if since.elapsed() >= settings.timeouts.silence() {
            return Ok(Heard::Silence);
        }
        look = (look + interval).min(since + settings.timeouts.silence());
    }
}

impl Recorded {
    /// What a step of the journal has.
    async fn from_bytes(bytes: &[u8], bodies: &ThreadBodies) -> Result<Self, HandlerError> {
        let (at_ms, body) = bytes
            .split_first_chunk::<8>()
            .ok_or("the step of the journal is too short")?;
        if body == NEWS {
            return Ok(Recorded::News);
        }
        if body == SILENCE {
            return Ok(Recorded::Silence);
        }
        let body: Cow<'_, [u8]> = bodies.get(body).await?;
        Ok(Recorded::Batch {
            batch: Batch::from_bytes(&body)?,
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
