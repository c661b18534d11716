//! The messages that were made of a conversation's events, so that they are made once.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::AgentEvent;
use super::history::{self, Reader, Uncalled};
use petalflow_llm::ChatMessage;

/// The messages that were made of a conversation's events: what is new is pushed behind them. Only a result that does not
/// follow its call, or another reader, makes them all anew.
#[derive(Default)]
pub struct View {
    seen: Mutex<Seen>,
    /// How many tools may run at once in a run.
    permits: OnceLock<Semaphore>,
}

#[derive(Default)]
struct Seen {
    reader: Reader,
    /// How many events are in it, and the id of the last of them.
    events: usize,
    last: String,
    messages: Arc<Vec<ChatMessage>>,
}

impl View {
    /// The messages of these events, for this reader.
    pub(super) fn messages(
        &self,
        events: &[AgentEvent],
        reader: &Reader,
    ) -> Result<Arc<Vec<ChatMessage>>, Uncalled> {
        // What a panic leaves half done is not marked as seen.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.continues(events, reader) || !seen.extend(events) {
            *seen = Seen {
                reader: reader.clone(),
                messages: Arc::new(history::messages(events, reader)?),
                ..Seen::default()
            };
        }
        seen.mark(events);
        Ok(Arc::clone(&seen.messages))
    }

    /// Waits until one more tool may run.
    pub(super) async fn permit(&self, tools: usize) -> Option<SemaphorePermit<'_>> {
        let permits = self.permits.get_or_init(|| Semaphore::new(tools));
        // It is never closed.
        permits.acquire().await.ok()
    }
}

impl Seen {
    /// Whether these events begin with those that are in it.
    fn continues(&self, events: &[AgentEvent], reader: &Reader) -> bool {
        let last = self.events.checked_sub(1).and_then(|last| events.get(last));
        self.reader == *reader && last.is_some_and(|last| last.id == self.last)
    }

    /// Pushes what is new behind the others; false if that cannot be done, and what is there is of no use then.
    fn extend(&mut self, events: &[AgentEvent]) -> bool {
        // Nobody else has the messages while no request is under way, so that nothing is copied.
        let messages = Arc::make_mut(&mut self.messages);
        for event in &events[self.events..] {
            if !self.reader.sees(event) {
                continue;
            }
            let Some(message) = self.reader.view(event) else {
                continue;
            };
            if !history::follows(messages.last(), &message) {
                return false;
            }
            messages.push(message);
        }
        true
    }

    fn mark(&mut self, events: &[AgentEvent]) {
        self.events = events.len();
        self.last.clear();
        if let Some(last) = events.last() {
            self.last.push_str(&last.id);
        }
    }
}

/// Not the same one: two conversations that were one go on differently.
impl Clone for View {
    fn clone(&self) -> Self {
        View::default()
    }
}

/// It is never stored: as data it is nothing.
impl Serialize for View {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| View::default())
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}
