//! Writes what the driver reports, barrier by barrier, and removes old checkpoints.

pub(super) mod checkpoint_writer;
pub(super) mod event_log;
pub(super) mod persistence;
pub(super) mod prune;
