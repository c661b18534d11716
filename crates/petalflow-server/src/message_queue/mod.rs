//! The messages that wait for the end of a turn, in the store of the server.

mod known;
mod queue;

pub(crate) use known::{is_known, with};
pub(crate) use queue::{Queue, Queued, QueuedInput};
