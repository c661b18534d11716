//! Cache of the messages built from a conversation's events.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::history::{self, Reader, ResultWithoutCall};
use crate::AgentEvent;
use petalflow_llm::ChatMessage;

/// The messages built from a conversation's events. New messages are appended. All messages are rebuilt only if a
/// result does not follow its call, or if the reader changes.
#[derive(Default)]
pub struct View {
    seen: Mutex<Seen>,
    /// The permits for the tools that run at once in a run.
    permits: OnceLock<Semaphore>,
}

#[derive(Default)]
struct Seen {
    reader: Reader,
    /// The number of events in it, and the id of the last one.
    events: usize,
    last: String,
    messages: Arc<Vec<ChatMessage>>,
}

impl View {
    /// The messages of these events, for this reader.
    pub(crate) fn messages(
        &self,
        events: &[AgentEvent],
        reader: &Reader,
    ) -> Result<Arc<Vec<ChatMessage>>, ResultWithoutCall> {
        // After a panic, incomplete messages are not marked as seen.
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

    /// Waits until another tool may run.
    pub(crate) async fn permit(&self, tools: usize) -> Option<SemaphorePermit<'_>> {
        let permits = self.permits.get_or_init(|| Semaphore::new(tools));
        // The semaphore is never closed.
        permits.acquire().await.ok()
    }
}

impl Seen {
    /// Whether these events begin with those that are already in it.
    fn continues(&self, events: &[AgentEvent], reader: &Reader) -> bool {
        let last = self.events.checked_sub(1).and_then(|last| events.get(last));
        self.reader == *reader && last.is_some_and(|last| last.id == self.last)
    }

    /// Appends the new messages. Returns `false` if that is not possible; the existing messages are then invalid.
    fn extend(&mut self, events: &[AgentEvent]) -> bool {
        // The messages have no other owner while no request is in progress. Then nothing is copied.
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

/// A clone is empty, because copies of a conversation continue differently.
impl Clone for View {
    fn clone(&self) -> Self {
        View::default()
    }
}

/// The view is not stored: it serializes as nothing.
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
