//! The keys of requests, in the store: a repetition gets the answer of the first one, and begins nothing.
//!
//! The start of a thread whose id the server chooses needs no record: the key chooses the id, so the thread itself is the record.

mod keys;

pub(crate) use keys::Keys;

/// How long keys are known, unless the program says otherwise.
pub(crate) const RETENTION: std::time::Duration = std::time::Duration::from_hours(24);
