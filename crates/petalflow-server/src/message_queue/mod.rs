//! The messages that wait for the end of a turn, in the store of the server.

mod queue;

pub(crate) use queue::{Queue, Queued, QueuedInput, Waiting};
