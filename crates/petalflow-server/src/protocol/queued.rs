//! Turns of requests that were queued: each begins when those before it in its thread have ended.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use petalflow::checkpoint::{ThreadInfo, ThreadStatus};

use super::turn::{Turn, TurnItem};
use crate::message_queue::{Queued, Waiting};
use crate::refusal::Refusal;
use crate::request_labels::{self, Fate, Requested};
use crate::served::ServedThreads;
use crate::server::Inner;
#[cfg(any(feature = "a2a", feature = "openai"))]
use crate::start_lock::StartLock;

/// How often a request looks whether the turn of its queued message has begun.
const QUEUE_INTERVAL: Duration = Duration::from_millis(100);

/// What a request has begun.
#[derive(Clone)]
pub(crate) enum Begun {
    Turn(Turn),
    /// Its message waits for the end of another turn. It is stored, and stays queued if the client disconnects.
    Queued(QueuedTurn),
}

/// The turn of a queued message.
#[derive(Clone)]
pub(crate) struct QueuedTurn {
    pub(crate) flow: Arc<dyn ServedThreads>,
    pub(crate) thread: String,
    /// The short name of the request, as [`request_labels::mark`] makes it.
    pub(crate) mark: String,
}

/// What became of a queued message.
pub(crate) enum QueueState {
    /// It is in the queue.
    Waits(Waiting),
    /// Its turn has begun.
    Begun(Turn),
    /// It was cancelled at this time in milliseconds since 1970 (UTC).
    Cancelled {
        #[cfg_attr(
            not(feature = "a2a"),
            expect(dead_code, reason = "the other protocols do not say when")
        )]
        at_ms: u64,
    },
}

/// What happens to a request, and in its turn.
pub(crate) enum Step {
    /// The turn of a queued message begins. It is not told of a message that was not queued.
    Begun(
        #[cfg_attr(
            not(any(feature = "a2a", feature = "ag-ui")),
            expect(dead_code, reason = "the other protocols know it by its id")
        )]
        Turn,
    ),
    Item(TurnItem),
    /// The queued message was cancelled. It is the last step.
    Cancelled,
}

/// The steps of a request. The last one is the end of the turn, its cancellation, or an error.
pub(crate) type Steps = BoxStream<'static, Result<Step, Refusal>>;

impl Begun {
    #[cfg(feature = "openai")]
    pub(crate) fn thread(&self) -> &str {
        match self {
            Begun::Turn(turn) => &turn.thread,
            Begun::Queued(queued) => &queued.thread,
        }
    }

    /// Waits until the turn has begun. `None`: it was cancelled before.
    #[cfg(any(feature = "a2a", feature = "openai"))]
    pub(crate) async fn wait(&self, server: &Inner) -> Result<Option<Turn>, Refusal> {
        match self {
            Begun::Turn(turn) => Ok(Some(turn.clone())),
            Begun::Queued(queued) => queued.wait(server).await,
        }
    }

    /// What happens to the request, to the end of its turn. Dropping the stream changes nothing.
    pub(crate) fn steps(self, server: &Arc<Inner>) -> Steps {
        let queued = match self {
            Begun::Turn(turn) => return items(server, &turn),
            Begun::Queued(queued) => queued,
        };
        let server = Arc::clone(server);
        let waits = async move {
            match queued.wait(&server).await {
                Ok(Some(turn)) => {
                    let items = items(&server, &turn);
                    stream::iter([Ok(Step::Begun(turn))]).chain(items).boxed()
                }
                Ok(None) => stream::iter([Ok(Step::Cancelled)]).boxed(),
                Err(refusal) => stream::iter([Err(refusal)]).boxed(),
            }
        };
        stream::once(waits).flatten().boxed()
    }

    /// Deletes the thread.
    #[cfg(feature = "openai")]
    pub(crate) async fn delete(&self) -> Result<(), Refusal> {
        match self {
            Begun::Turn(turn) => turn.delete().await,
            Begun::Queued(queued) => Ok(queued.flow.delete(&queued.thread).await?),
        }
    }
}

fn items(server: &Arc<Inner>, turn: &Turn) -> Steps {
    turn.items(server).map(|item| item.map(Step::Item)).boxed()
}

impl QueuedTurn {
    /// What became of the message. `None` if it is unknown: its thread was deleted, or it was refused when its turn came.
    pub(crate) async fn state(&self, server: &Inner) -> Result<Option<QueueState>, Refusal> {
        // It leaves the queue when its turn has begun, so the queue is read first.
        let queue = &server.settings.queue;
        let waiting = queue.find(&self.thread, &self.mark).await?;
        if let Some(at_ms) = waiting.as_ref().and_then(|it| it.cancelled_ms) {
            return Ok(Some(QueueState::Cancelled { at_ms }));
        }
        let info = server.info(&self.thread).await?.unwrap_or_default();
        let requested = request_labels::find(&info.labels, &self.mark);
        Ok(match requested {
            Some(Requested {
                fate: Fate::Cancelled { at_ms },
                ..
            }) => Some(QueueState::Cancelled { at_ms }),
            Some(requested) if self.has_begun(&info, requested.after).await? => {
                Some(QueueState::Begun(self.turn(requested)))
            }
            _ => waiting.map(QueueState::Waits),
        })
    }

    /// Whether the turn after this event is stored. The label is stored before the turn, and the turn before its first event.
    async fn has_begun(&self, info: &ThreadInfo, after: u64) -> Result<bool, Refusal> {
        let runs = [ThreadStatus::Running, ThreadStatus::Stopped].contains(&info.status);
        Ok(runs || self.flow.last_event(&self.thread).await? > after)
    }

    fn turn(&self, requested: Requested<'_>) -> Turn {
        let turn = Turn::attach(&self.flow, self.thread.clone(), requested.after);
        Turn {
            queued_as: (requested.fate == Fate::Queued).then(|| self.mark.clone()),
            ..turn
        }
    }

    /// Waits until the turn has begun. `None`: it was cancelled before.
    async fn wait(&self, server: &Inner) -> Result<Option<Turn>, Refusal> {
        loop {
            match self.state(server).await? {
                Some(QueueState::Begun(turn)) => return Ok(Some(turn)),
                Some(QueueState::Cancelled { .. }) => return Ok(None),
                Some(QueueState::Waits(_)) => {}
                None => {
                    let text = "the queued message was refused, or its thread was deleted";
                    return Err(Refusal::new(StatusCode::CONFLICT, text));
                }
            }
            if server.is_stopping() {
                let text = "the server stops. The message is stored, and its turn begins later";
                return Err(Refusal::busy(text));
            }
            tokio::time::sleep(QUEUE_INTERVAL).await;
        }
    }

    /// Keeps the message from beginning a turn. Returns whether it has: its turn may have begun.
    #[cfg(any(feature = "a2a", feature = "openai"))]
    pub(crate) async fn cancel(&self, server: &Arc<Inner>) -> Result<bool, Refusal> {
        let _lock = StartLock::of_requests(server, &self.thread).await?;
        // What a killed process has left comes first: the turn may be stored although the message is in the queue.
        server.advance(&self.flow, &self.thread).await?;
        let Some(QueueState::Waits(waiting)) = self.state(server).await? else {
            return Ok(false);
        };
        let queue = &server.settings.queue;
        queue
            .cancel(&waiting.record, super::clock::now_ms())
            .await?;
        Ok(true)
    }

    /// What waits. `None` if it has left the queue.
    pub(crate) async fn read(
        &self,
        server: &Inner,
        waiting: &Waiting,
    ) -> Result<Option<Queued>, Refusal> {
        Ok(server.settings.queue.read(&waiting.record).await?)
    }
}
