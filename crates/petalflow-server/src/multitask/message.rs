//! A message to a thread: it begins a turn, or what the strategy says if a run has the thread.

use std::sync::Arc;

use axum::http::StatusCode;
use petalflow::checkpoint::ThreadStatus;

use super::steering;
use crate::MultitaskStrategy;
use crate::message_queue::{Queued, QueuedInput};
use crate::refusal::Refusal;
use crate::served::{Input, InputValue, Labels, ServedThreads, Stop, known_message, no_thread};
use crate::server::Inner;

/// A message of a client.
pub(crate) struct Message {
    /// Its id, if the client has given it one. A message with the same id is stored once.
    pub(crate) id: Option<String>,
    pub(crate) value: InputValue,
    pub(crate) discards: bool,
    pub(crate) strategy: MultitaskStrategy,
}

/// What was done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has begun a turn.
    Begun,
    /// It begins a turn when the running one has ended.
    Enqueued,
    /// The agent reads it before its next call of the model.
    Steered,
}

/// Begins a turn of a thread with a message, or does what its strategy says. What is done is stored when this returns.
pub(crate) async fn take(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    thread: &str,
    message: Message,
) -> Result<Taken, Refusal> {
    let Message {
        id,
        value,
        discards,
        strategy,
    } = message;
    let _lock = server.settle_queue(flow, thread, strategy).await?;
    let waits = matches!(
        strategy,
        MultitaskStrategy::Enqueue | MultitaskStrategy::Steer
    );
    let queue = &server.settings.queue;
    // With an id, what begins the turn is known after a crash, so that a repetition begins no other. And what was queued before comes
    // first.
    let is_known_later = id.is_some() && may_begin_later(server, thread).await?;
    if waits && (is_known_later || !queue.of(thread).await?.is_empty()) {
        let queued = Queued::of(id, value, discards);
        return store_and_begin(server, flow, thread, queued, strategy).await;
    }
    let input = Input {
        value: value.clone(),
        labels: Labels::new(),
        discards,
        rolls_back: strategy == MultitaskStrategy::Rollback,
        message: None,
    };
    if stops(strategy) {
        stop_for(server, flow, thread, &value, strategy).await?;
    }
    let (of_turn, thread_of_turn) = (Arc::clone(flow), thread.to_string());
    let begin = async move |token| of_turn.begin(&thread_of_turn, input, &token).await;
    match server.begin(thread.to_string(), begin).await {
        Ok(()) => Ok(Taken::Begun),
        Err(refusal) if waits && refusal.is_of_busy_thread() => {
            let queued = Queued::of(id, value, discards);
            store(server, flow, thread, queued, strategy).await
        }
        Err(refusal) => Err(refusal),
    }
}

/// Whether the queue can begin the next turn of the thread: a run has it, or has ended.
async fn may_begin_later(server: &Inner, thread: &str) -> Result<bool, Refusal> {
    let info = server.info(thread).await?;
    Ok(info.is_some_and(|info| {
        matches!(
            info.status,
            ThreadStatus::Running | ThreadStatus::Finished | ThreadStatus::Failed
        )
    }))
}

/// Stores a message behind the others, and begins the turn of the first one if no run has the thread. The caller has the lock of the
/// requests of the thread.
async fn store_and_begin(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    thread: &str,
    queued: Queued,
    strategy: MultitaskStrategy,
) -> Result<Taken, Refusal> {
    let id = queued.id.clone();
    let info = server.info(thread).await?.ok_or_else(no_thread)?;
    if known_message::is_known(&info.labels, &id) {
        return Ok(Taken::Begun);
    }
    let taken = store(server, flow, thread, queued, strategy).await?;
    server.advance(flow, thread).await?;
    let waits = server.settings.queue.has(thread, &id).await?;
    Ok(if waits { taken } else { Taken::Begun })
}

impl Queued {
    /// A message with the id that the client has given it. `None`: it gets one.
    pub(crate) fn of(id: Option<String>, value: InputValue, discards: bool) -> Self {
        let is_named = id.is_some();
        Queued {
            id: id.unwrap_or_else(|| format!("{:032x}", fastrand::u128(..))),
            is_named,
            checksum: None,
            steers: false,
            input: value.into(),
            discards,
        }
    }
}

/// Stores a message to a thread that a run has. The caller has the lock of the requests of the thread.
pub(crate) async fn store(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    thread: &str,
    mut queued: Queued,
    strategy: MultitaskStrategy,
) -> Result<Taken, Refusal> {
    // What can never begin a turn is refused now.
    let value: InputValue = read_back(&queued.input)?;
    flow.check_input(value)?;
    queued.steers = strategy == MultitaskStrategy::Steer;
    let steering = if queued.steers {
        Some(steering::write(&queued.id, &queued.input)?)
    } else {
        None
    };
    let queue = &server.settings.queue;
    queue.add(thread, &queued).await?;
    server.expect_queued(thread);
    let Some(write) = steering else {
        return Ok(Taken::Enqueued);
    };
    let key = steering::KEY.to_string();
    let sent = flow.send(thread, key, write, Some(queued.id.clone())).await;
    if let Err(refusal) = sent {
        // The flow is no agent, or the store fails: nothing was sent.
        queue.withdraw(thread, &queued.id).await?;
        return Err(refusal);
    }
    Ok(Taken::Steered)
}

fn read_back(input: &QueuedInput) -> Result<InputValue, Refusal> {
    let copy = serde_json::to_value(input).and_then(serde_json::from_value::<QueuedInput>);
    let unfit = |error: serde_json::Error| {
        let text = format!("the message cannot be stored: {error}");
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    };
    Ok(copy.map_err(unfit)?.into())
}

/// Whether the running turn is stopped.
pub(crate) fn stops(strategy: MultitaskStrategy) -> bool {
    matches!(
        strategy,
        MultitaskStrategy::Interrupt | MultitaskStrategy::Rollback
    )
}

/// Stops the run of a thread for this input, in whichever process it is. Returns when no run has the thread. Input that cannot begin a
/// turn stops nothing.
pub(crate) async fn stop_for(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    thread: &str,
    value: &InputValue,
    strategy: MultitaskStrategy,
) -> Result<(), Refusal> {
    flow.check_input(value.clone())?;
    let info = server.info(thread).await?;
    if info.is_some_and(|info| info.status == ThreadStatus::Running) {
        if strategy == MultitaskStrategy::Rollback {
            flow.check_rollback(thread, value.clone()).await?;
        }
        // Those of this process that wait for the thread would continue it.
        server.cancel(thread);
        flow.stop(thread, Stop::Cancel).await?;
    }
    Ok(())
}

/// Fails if an engine keeps the thread, and the message of a protocol is to be read in the running turn: the request is found by a label,
/// which such a thread gets between its turns only.
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
pub(crate) fn check_engine(
    flow: &dyn ServedThreads,
    strategy: MultitaskStrategy,
) -> Result<(), Refusal> {
    if strategy == MultitaskStrategy::Steer && flow.elsewhere().is_some() {
        let text = "an engine keeps the thread, so the protocol cannot `steer` its turn: use `enqueue` or `interrupt`, or send the message as a                     turn of the thread";
        return Err(Refusal::new(StatusCode::CONFLICT, text));
    }
    Ok(())
}
