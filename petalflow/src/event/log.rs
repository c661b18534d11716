//! Events that are stored: those that are not in the store yet, and those that were read from it.

use std::sync::{Arc, Mutex, PoisonError};

use super::newest_superstep::NewestSuperstep;
use super::{AnyEvent, CustomEvent, Event, EventKind, EventTypes, TaskInfo};
use crate::clock::now_ms;
use crate::ids::Namespace;
use crate::state::RawValue;

/// A stored event of a thread, read by [`Thread::events_since`](crate::thread::Thread::events_since).
///
/// ```
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(cx: Context) -> ChatLines { cx.emit("half done"); ChatLines(vec!["hi".into()]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let events = thread.events_since(0).await?;
/// let custom = events.iter().find(|event| event.kind == "custom").expect("the node emits");
/// assert_eq!(serde_json::to_value(&custom.value)?["value"], "half done");
/// assert_eq!(custom.number, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedEvent {
    /// Its number in the log of the thread, from 1. Later events have greater numbers.
    pub number: u64,
    /// When it happened, in milliseconds since 1970 (UTC), by the clock of its process. Of an event that an earlier version has
    /// stored: when it was stored.
    pub recorded_ms: u64,
    /// The name of its kind, with `_` between words: `node_finished`.
    pub kind: String,
    /// The event, in the form in which an [`Event`] is serialized, but without the states in it. `Display` prints JSON.
    pub value: RawValue,
}

/// The name of the kind of an event, and the event.
pub(crate) type LogEntry = (String, RawValue);

/// An event that is not in the store yet.
pub(crate) struct TimedEntry {
    /// When it happened.
    pub(crate) at_ms: u64,
    pub(crate) entry: LogEntry,
}

/// An event in the form in which it is stored: without the states in it.
pub(crate) struct WithoutState<'a, S: EventTypes>(pub(crate) &'a Event<S>);

/// What is known of an event when it is decided whether to store it.
#[cfg_attr(not(feature = "engine"), allow(dead_code))]
pub(crate) struct LogCandidate<'a> {
    pub(crate) namespace: &'a Namespace,
    /// The name of its kind.
    pub(crate) kind: &'a str,
    pub(crate) task: Option<&'a TaskInfo>,
    /// Whether a later event has the whole of it.
    pub(crate) is_partial: bool,
}

/// Whether an event is stored.
pub(crate) type EventFilter = Arc<dyn Fn(&LogCandidate<'_>) -> bool + Send + Sync>;

/// What a run is of a turn, which decides when its events are stored, and whether its end is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogRole {
    /// All of it.
    #[default]
    Whole,
    /// Its start, if it is drained: an engine continues it.
    Start,
    /// A superstep or a task of it. An engine stores how the turn ends.
    Part,
}

/// Which events are stored.
pub(crate) struct LogSettings {
    /// How many events remain at least.
    pub(crate) events: u64,
    pub(crate) filter: Option<EventFilter>,
    pub(crate) role: LogRole,
}

/// Events that are not in the store yet.
pub(crate) struct LogBuffer {
    entries: Mutex<Vec<TimedEntry>>,
    filter: Option<EventFilter>,
    pub(crate) newest_superstep: NewestSuperstep,
}

impl LogBuffer {
    pub(crate) fn new(filter: Option<EventFilter>) -> Self {
        LogBuffer {
            entries: Mutex::default(),
            filter,
            newest_superstep: NewestSuperstep::default(),
        }
    }

    pub(crate) fn record(&self, event: &AnyEvent) {
        self.newest_superstep.update(event);
        if self.keeps(event) {
            let entry = event.stored_entry();
            entry.into_iter().for_each(|entry| self.push(entry));
        }
    }

    /// Whether the log has such events.
    pub(crate) fn keeps(&self, event: &AnyEvent) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        let name = match &event.kind {
            EventKind::Nested(nested) => nested.name(),
            kind => kind.name(),
        };
        filter(&LogCandidate {
            namespace: &event.namespace,
            kind: name,
            task: event.task.as_ref(),
            is_partial: event.kind.is_partial(),
        })
    }

    pub(crate) fn push(&self, entry: LogEntry) {
        let at_ms = now_ms();
        self.entries(|entries| entries.push(TimedEntry { at_ms, entry }));
    }

    /// Takes all events.
    pub(crate) fn take(&self) -> Vec<TimedEntry> {
        self.entries(std::mem::take)
    }

    fn entries<T>(&self, access: impl FnOnce(&mut Vec<TimedEntry>) -> T) -> T {
        // Nothing under this lock can panic.
        access(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AnyEvent {
    /// The event as a log has it. `None` if no log has it.
    pub(crate) fn stored_entry(&self) -> Option<LogEntry> {
        match &self.kind {
            // A state. The thread has it.
            EventKind::Values { .. } => None,
            // The next value replaces it.
            EventKind::Custom(custom) if custom.is_transient() => None,
            EventKind::Nested(nested) => nested.entry.as_deref().cloned(),
            _ => self.log_entry(),
        }
    }

    /// The event as it is stored.
    fn log_entry(&self) -> Option<LogEntry> {
        let value = RawValue::new(&WithoutState(self)).or_else(|error| {
            // The value of a node cannot be serialized.
            RawValue::new(&WithoutState(&AnyEvent {
                namespace: self.namespace.clone(),
                superstep: self.superstep,
                task: self.task.clone(),
                kind: EventKind::Custom(CustomEvent::named("error", error.to_string())),
            }))
        });
        Some((self.kind.name().to_string(), value.ok()?))
    }
}
