//! Turns of requests that were queued: each begins when those before it in its thread have ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use petalflow::checkpoint::{ThreadInfo, ThreadStatus};

use super::clock::now_ms;
use super::requests;
use super::turn::{Turn, TurnItem};
use crate::message_queue::{Queued, Waiting};
use crate::refusal::Refusal;
use crate::request_labels::{self, Fate, Requested};
use crate::served::{Labels, ServedThreads};
use crate::server::Inner;

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
    Cancelled { at_ms: u64 },
}

/// What happens to a request, and in its turn.
pub(crate) enum Step {
    /// The turn of a queued message begins. It is not told of a message that was not queued.
    Begun(Turn),
    Item(TurnItem),
    /// The queued message was cancelled. It is the last step.
    Cancelled,
}

/// The steps of a request. The last one is the end of the turn, its cancellation, or an error.
pub(crate) type Steps = BoxStream<'static, Result<Step, Refusal>>;

/// Where a turn begins in its thread, as an id for clients says it. An id that was given to a queued request stays that of its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnStart {
    /// The number of the last event before the turn.
    After(u64),
    /// The short name of a request that was queued.
    Queued(String),
}

impl Begun {
    pub(crate) fn thread(&self) -> &str {
        match self {
            Begun::Turn(turn) => &turn.thread,
            Begun::Queued(queued) => &queued.thread,
        }
    }

    /// Waits until the turn has begun. `None`: it was cancelled before.
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
        let _lock = requests::lock(server, &self.thread).await?;
        // What a killed process has left comes first: the turn may be stored although the message is in the queue.
        server.advance(&self.flow, &self.thread).await?;
        let Some(QueueState::Waits(waiting)) = self.state(server).await? else {
            return Ok(false);
        };
        let queue = &server.settings.queue;
        queue.cancel(&waiting.record, now_ms()).await?;
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

impl TurnStart {
    pub(crate) fn of(begun: &Begun) -> Self {
        match begun {
            Begun::Turn(turn) => Self::of_turn(turn),
            Begun::Queued(queued) => TurnStart::Queued(queued.mark.clone()),
        }
    }

    pub(crate) fn of_turn(turn: &Turn) -> Self {
        let queued = turn.queued_as.clone().map(TurnStart::Queued);
        queued.unwrap_or(TurnStart::After(turn.after))
    }

    /// The turn after this event, as the labels of its thread say how clients know it.
    pub(crate) fn known_by(labels: &Labels, after: u64) -> Self {
        let mark = request_labels::queued_before(labels, after);
        mark.map_or(TurnStart::After(after), |mark| {
            TurnStart::Queued(mark.to_string())
        })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let Some(mark) = text.strip_prefix('q') else {
            return text.parse().ok().map(TurnStart::After);
        };
        let is_hex = mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| TurnStart::Queued(mark.to_string()))
    }

    /// The turn that begins here. `None` if the request is unknown.
    pub(crate) async fn begun(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
    ) -> Result<Option<Begun>, Refusal> {
        let mark = match self {
            TurnStart::After(after) => {
                return Ok(Some(Begun::Turn(Turn::attach(flow, thread, *after))));
            }
            TurnStart::Queued(mark) => mark.clone(),
        };
        let queued = QueuedTurn {
            flow: Arc::clone(flow),
            thread,
            mark,
        };
        Ok(queued.state(server).await?.map(|state| match state {
            QueueState::Begun(turn) => Begun::Turn(turn),
            QueueState::Waits(_) | QueueState::Cancelled { .. } => Begun::Queued(queued),
        }))
    }
}

impl fmt::Display for TurnStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TurnStart::After(after) => write!(f, "{after}"),
            TurnStart::Queued(mark) => write!(f, "q{mark}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_start_of_a_turn_is_read_as_it_is_written() {
        for start in [
            TurnStart::After(12),
            TurnStart::Queued(request_labels::mark("a")),
        ] {
            assert_eq!(TurnStart::parse(&start.to_string()), Some(start));
        }
        for other in ["", "q", "q12", "qzzzzzzzzzzzzzzzz", "-1"] {
            assert_eq!(TurnStart::parse(other), None);
        }
    }
}
