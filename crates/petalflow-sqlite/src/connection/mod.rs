//! The connections to the database file: one that writes and a few that read, each on a thread of its own.

mod open;
mod queued_write;
mod readers;
pub(crate) mod schema;
pub(crate) mod transaction;
mod writer;

pub(crate) use readers::Readers;
pub(crate) use writer::Writer;
