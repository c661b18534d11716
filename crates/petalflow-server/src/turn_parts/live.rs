//! The pieces of answers that the log does not have yet: it is written superstep by superstep, and a model call is one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use petalflow::event::{Event, EventKind, LoggedEvent};
use petalflow::state::State;
use petalflow_agent::AgentEvent;
use petalflow_conversations::ConversationEvent;
use tokio::sync::watch;

use super::logged::{Logged, restarts};
use super::streamed::{Streamed, Voice};

/// An event of a run that readers of its turn need before it is in the log.
pub(crate) enum LiveEvent {
    /// A node of the flow itself has finished. The log will have what was before.
    NodeFinished,
    Streamed(Streamed),
}

/// The newest pieces of a run of this process. A reader finds them by their number, which the log gives them too: the first one
/// of the run has the number 0.
#[derive(Debug)]
pub(crate) struct Live {
    pieces: Mutex<Pieces>,
    changes: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// The number of nodes that have finished.
    nodes: u64,
    /// The number of the first piece that is kept.
    first: u64,
    kept: Vec<Streamed>,
}

impl LiveEvent {
    /// The event of a run, if it is one that readers need.
    pub(crate) fn of<S: State>(event: &Event<S>) -> Option<Self> {
        match &event.kind {
            EventKind::NodeFinished { .. } | EventKind::NodeRestored { .. } => {
                Some(LiveEvent::NodeFinished)
            }
            EventKind::Retry { .. } => Some(LiveEvent::Streamed(Streamed::Retry)),
            EventKind::Custom(custom) => {
                if let Some(piece) = custom.downcast_ref::<AgentEvent>() {
                    return Streamed::of_agent(piece).map(LiveEvent::Streamed);
                }
                let Some(ConversationEvent::Piece { text }) = custom.downcast_ref() else {
                    return None;
                };
                Some(LiveEvent::Streamed(Streamed::text(
                    Voice::default(),
                    text.clone(),
                )))
            }
            _ => None,
        }
    }
}

impl LiveEvent {
    /// The events that readers need of a published event of a thread that an engine runs. `restarts`: what its task has said before
    /// does not count.
    pub(crate) fn of_published(event: &LoggedEvent) -> Vec<Self> {
        let restarts = restarts(event).then_some(LiveEvent::Streamed(Streamed::Retry));
        let event = match Logged::of(event) {
            Some(Logged::NodeFinished) => Some(LiveEvent::NodeFinished),
            Some(Logged::Streamed(piece)) => Some(LiveEvent::Streamed(piece)),
            _ => None,
        };
        restarts.into_iter().chain(event).collect()
    }
}

impl Default for Live {
    fn default() -> Self {
        Live {
            pieces: Mutex::default(),
            changes: watch::Sender::new(()),
        }
    }
}

impl Live {
    /// Adds an event of the run.
    pub(crate) fn add(&self, event: LiveEvent) {
        let mut pieces = self.pieces();
        match event {
            LiveEvent::NodeFinished => {
                pieces.nodes += 1;
                // Readers that have not read them get them from the log.
                pieces.first += pieces.kept.len() as u64;
                pieces.kept.clear();
            }
            LiveEvent::Streamed(piece) => pieces.kept.push(piece),
        }
        drop(pieces);
        self.changes.send_replace(());
    }

    /// The piece with this number, for a reader that has read from the log that so many nodes have finished. `None` if it is
    /// not there yet, or the log has to be read first.
    pub(crate) fn piece(&self, number: u64, nodes: u64) -> Option<Streamed> {
        let pieces = self.pieces();
        let index = number.checked_sub(pieces.first)?;
        let piece = pieces.kept.get(usize::try_from(index).ok()?)?;
        (pieces.nodes == nodes).then(|| piece.clone())
    }

    /// A channel that is notified after each change.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        // Nothing under this lock can panic.
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> LiveEvent {
        LiveEvent::Streamed(Streamed::text(Voice::default(), text.into()))
    }

    #[test]
    fn a_piece_waits_for_the_log_of_the_nodes_before_it() {
        let live = Live::default();
        live.add(piece("a"));
        assert!(live.piece(0, 0).is_some());
        live.add(LiveEvent::NodeFinished);
        assert!(live.piece(0, 0).is_none(), "the log will have it");
        live.add(piece("b"));
        assert!(live.piece(1, 0).is_none(), "the log has to be read first");
        assert!(live.piece(1, 1).is_some());
        assert!(live.piece(2, 1).is_none());
    }
}
