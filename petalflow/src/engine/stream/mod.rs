//! Events of threads that an engine runs, for listeners in other processes.
//!
//! The processes that run tasks publish events through an [`EventSink`], each for itself. A listener reads them from an
//! [`EventSource`], and a [`StreamReader`] leaves out what does not count: what a process said that was lost in the middle of a
//! task, and what was published twice. The durable truth stays the checkpoint: an event can be lost, and a run waits for no
//! listener.

mod event;
mod pass_events;
mod publisher;
mod reader;
mod sink;
#[cfg(test)]
mod tests;

pub use event::{FollowedEvent, StreamedEvent};
pub(super) use pass_events::{PassEvents, Role};
pub(super) use publisher::Publisher;
pub use reader::StreamReader;
pub use sink::{EventSink, EventSource, StoredEvents};

/// The kinds of the events that say that a thread rests.
pub(super) const ENDS: [&str; 3] = ["finished", "interrupted", "failed"];

/// The kind of the event after the deletion of a thread.
const DELETED: &str = "deleted";
