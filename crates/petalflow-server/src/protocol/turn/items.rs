//! The items of a turn as a stream.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::LoggedEvent;
use petalflow::thread::{FollowedEvents, ThreadError};
use serde_json::Value;
use tokio::sync::watch;

use super::begin::Turn;
use super::end::{self, TurnOutcome};
use super::item::{ItemKind, TurnItem};
use super::reader::Reader;
use crate::refusal::Refusal;
use crate::served::ServedThreads;
use crate::server::Inner;
use crate::turn_parts::{Live, Logged, Streamed, Voice};

/// The items of a turn. The last one is its end, or an error of the store.
pub(crate) type TurnItems = BoxStream<'static, Result<TurnItem, Refusal>>;

impl Turn {
    /// What happens in the turn, from its start to its end. Dropping the stream changes nothing: the run does not depend on it.
    pub(crate) fn items(&self, server: &Arc<Inner>) -> TurnItems {
        let live = server.live(&self.thread);
        let source = Source {
            events: self.flow.follow_log(&self.thread, self.after),
            turn: TurnReader {
                server: Some(Arc::clone(server)),
                ..TurnReader::of(self)
            },
            changes: live.as_ref().map(|live| live.changes()),
            live,
            ready: VecDeque::new(),
        };
        stream::unfold(source, async |mut source| {
            let next = source.next().await?;
            Some((next, source))
        })
        .boxed()
    }

    /// What has happened in the turn so far. The last item is its end, if it has ended.
    pub(crate) async fn so_far(&self) -> Result<Vec<TurnItem>, Refusal> {
        let mut turn = TurnReader::of(self);
        let mut items = Vec::new();
        for event in self.flow.events_since(&self.thread, self.after).await? {
            items.extend(turn.read(&event).await?);
            if turn.ended {
                break;
            }
        }
        Ok(items)
    }
}

/// Where items come from: the log, and before it has them, the run.
struct Source {
    events: FollowedEvents,
    turn: TurnReader,
    live: Option<Arc<Live>>,
    changes: Option<watch::Receiver<()>>,
    ready: VecDeque<TurnItem>,
}

/// What comes next.
enum Next {
    Logged(Option<Result<LoggedEvent, ThreadError>>),
    Live(Streamed),
    /// The run has more pieces, or has ended.
    Changed(bool),
}

impl Source {
    async fn next(&mut self) -> Option<Result<TurnItem, Refusal>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(Ok(item));
            }
            if self.turn.ended {
                return None;
            }
            let items = match self.wait().await {
                Next::Live(piece) => self.turn.reader.live(&piece),
                Next::Changed(is_running) => {
                    if !is_running {
                        (self.live, self.changes) = (None, None);
                    }
                    continue;
                }
                Next::Logged(Some(Ok(event))) => match self.turn.read(&event).await {
                    Ok(items) => items,
                    Err(refusal) => return Some(self.fail(refusal)),
                },
                Next::Logged(Some(Err(error))) => return Some(self.fail(error.into())),
                // The log has no end: the run could not store it.
                Next::Logged(None) => match self.turn.end(TurnOutcome::Stopped, Vec::new()).await {
                    Ok(end) => vec![end],
                    Err(refusal) => return Some(self.fail(refusal)),
                },
            };
            self.ready.extend(items);
        }
    }

    fn fail(&mut self, refusal: Refusal) -> Result<TurnItem, Refusal> {
        self.turn.ended = true;
        Err(refusal)
    }

    /// The next stored event, or a piece that is not stored yet. The log comes first.
    async fn wait(&mut self) -> Next {
        let (number, nodes) = (self.turn.reader.next_piece(), self.turn.reader.nodes);
        let live = self.live.as_ref();
        let piece = async {
            match live.and_then(|live| live.piece(number, nodes)) {
                Some(piece) => Next::Live(piece),
                None => match &mut self.changes {
                    Some(changes) => Next::Changed(changes.changed().await.is_ok()),
                    None => std::future::pending().await,
                },
            }
        };
        tokio::select! {
            biased;
            logged = self.events.next() => Next::Logged(logged),
            piece = piece => piece,
        }
    }
}

/// A turn that is read, event by event.
struct TurnReader {
    /// The server whose runs may continue the turn.
    server: Option<Arc<Inner>>,
    flow: Arc<dyn ServedThreads>,
    thread: String,
    reader: Reader,
    ended: bool,
}

impl TurnReader {
    fn of(turn: &Turn) -> Self {
        TurnReader {
            server: None,
            flow: Arc::clone(&turn.flow),
            thread: turn.thread.clone(),
            reader: Reader::new(turn.flow.facts().holds_pieces),
            ended: false,
        }
    }

    /// The items of a stored event.
    async fn read(&mut self, event: &LoggedEvent) -> Result<Vec<TurnItem>, Refusal> {
        let Some(event) = Logged::of(event) else {
            return Ok(Vec::new());
        };
        let mut items = self.reader.logged(&event);
        let (outcome, interrupts) = match event {
            Logged::Finished => (TurnOutcome::Finished, Vec::new()),
            Logged::Interrupted(interrupts) => (TurnOutcome::Interrupted, interrupts),
            Logged::Failed { error, reason } => match reason.as_deref() {
                Some("cancelled") => (TurnOutcome::Cancelled, Vec::new()),
                Some("drained") => (TurnOutcome::Stopped, Vec::new()),
                _ => (TurnOutcome::Failed(error), Vec::new()),
            },
            _ => return Ok(items),
        };
        if outcome == TurnOutcome::Stopped && self.continues().await? {
            return Ok(items);
        }
        items.push(self.end(outcome, interrupts).await?);
        Ok(items)
    }

    /// Whether this or another process continues a turn that was stopped: then its events follow.
    async fn continues(&mut self) -> Result<bool, Refusal> {
        // A run that was recovered is here before the store has its status.
        let runs = |server: &Arc<Inner>| server.is_running(&self.thread) && !server.is_stopping();
        if self.server.as_ref().is_some_and(runs) {
            return Ok(true);
        }
        let info = self.flow.info(&self.thread).await?;
        Ok(info.is_none_or(|info| info.status != ThreadStatus::Stopped))
    }

    async fn end(
        &mut self,
        outcome: TurnOutcome,
        interrupts: Vec<Value>,
    ) -> Result<TurnItem, Refusal> {
        self.ended = true;
        let checkpoint = self.reader.checkpoint;
        let end = end::read(&*self.flow, &self.thread, checkpoint, outcome, interrupts).await?;
        Ok(TurnItem {
            voice: Voice::default(),
            kind: ItemKind::End(Box::new(end)),
        })
    }
}
