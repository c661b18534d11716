//! Cache of the messages built from a conversation's events.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cut::Cut;
use super::history::{self, Reader, ResultWithoutCall};
use crate::{AgentEvent, tokens};
use petalflow_llm::ChatMessage;

/// The messages built from a conversation's events. New messages are appended. All messages are rebuilt only if a
/// result does not follow its call, or if the reader changes.
#[derive(Default)]
pub(crate) struct View(Mutex<CachedMessages>);

#[derive(Default)]
struct CachedMessages {
    reader: Reader,
    /// Where the messages begin: the identity of a [`Cut`].
    cut: (usize, usize),
    /// The number of events in it, and the id of the last one.
    events: usize,
    last: String,
    messages: Arc<Vec<ChatMessage>>,
    /// The number of messages whose tokens are counted, and their tokens.
    counted: usize,
    tokens: u64,
}

impl View {
    /// The messages of these events, for this reader, with what replaces those before the cut.
    pub(crate) fn messages(
        &self,
        events: &[AgentEvent],
        reader: &Reader,
        cut: Option<&Cut>,
    ) -> Result<Arc<Vec<ChatMessage>>, ResultWithoutCall> {
        Ok(Arc::clone(&self.updated(events, reader, cut)?.messages))
    }

    /// The number of these messages, and an estimate of their tokens.
    pub(crate) fn size(
        &self,
        events: &[AgentEvent],
        reader: &Reader,
        cut: Option<&Cut>,
    ) -> Result<(usize, u64), ResultWithoutCall> {
        let mut cache = self.updated(events, reader, cut)?;
        let new = cache.messages[cache.counted..].iter();
        cache.tokens += new.map(tokens::of_message).sum::<u64>();
        cache.counted = cache.messages.len();
        Ok((cache.counted, cache.tokens))
    }

    /// The cache, with the messages of all these events.
    fn updated(
        &self,
        events: &[AgentEvent],
        reader: &Reader,
        cut: Option<&Cut>,
    ) -> Result<MutexGuard<'_, CachedMessages>, ResultWithoutCall> {
        let identity = cut.map_or((0, 0), Cut::identity);
        // After a panic, incomplete messages are not marked as cached.
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.cut != identity || !cache.continues(events, reader) || !cache.extend(events) {
            let messages = history::messages(events, reader, cut)?.into_iter();
            *cache = CachedMessages {
                reader: reader.clone(),
                cut: identity,
                messages: Arc::new(messages.map(|(_, message)| message).collect()),
                ..CachedMessages::default()
            };
        }
        cache.mark(events);
        Ok(cache)
    }
}

impl CachedMessages {
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
            // No model reads the turn, so its first messages are removed.
            if event.blocks_input() {
                return false;
            }
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
