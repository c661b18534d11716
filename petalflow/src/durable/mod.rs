//! Runs on threads: resumes a thread from its checkpoints, and stores it barrier by barrier.
//!
//! [`thread_run`] is a run on a thread. It uses the folders, each of which uses only those above it:
//!
//! | folder | what it does |
//! | --- | --- |
//! | [`record`] | what a checkpoint consists of: numbers, changed keys, tasks, the fingerprint of the flow |
//! | [`results`] | stores and reads the results of tasks |
//! | [`load`] | reads checkpoints |
//! | [`write`] | writes checkpoints and the event log, and removes old ones |
//! | [`inbox`] | the messages to a thread |
//! | [`begin_due`] | threads that begin without a run |
//! | [`links`] | threads that others have started, and that those wait for |
//! | [`claim`] | gives one run the right to change a thread |
//! | [`resume`] | resumes or begins a thread: applies an input, or answers and decisions, to the newest checkpoint |
//! | [`ops`] | reads and changes a thread without a run: snapshots, edits, forks, copies |
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

mod begin_due;
mod claim;
mod finished_status;
mod inbox;
mod links;
mod load;
mod ops;
mod record;
mod results;
mod resume;
mod thread_run;
mod write;

pub(crate) use begin_due::{Begins, begin_due};
pub(crate) use claim::due_signal::{due_signal, tell_due};
pub(crate) use claim::live_runs::live_run;
pub(crate) use claim::stop::StopKind;
pub(crate) use claim::thread_claim::{ThreadClaim, new_owner};
pub(crate) use inbox::{message_to, send};
pub(crate) use links::{
    ThreadEnd, add_cancelled_child, add_joining, address_of, end_of, started_by,
};
#[cfg(feature = "engine")]
pub(crate) use load::slice::slice;
pub(crate) use ops::history::history;
#[cfg(feature = "engine")]
pub(crate) use ops::replayed::{
    ReadCheckpoint, adopted_result, outline_of, read_checkpoint, read_untyped,
};
pub(crate) use ops::stopping::stop;
pub(crate) use ops::store_copy::copy_to_store;
pub(crate) use ops::stored_snapshot::{stored_snapshot, subflow_runs};
pub(crate) use ops::subflow_history::{copy, copy_labels};
pub(crate) use ops::thread_ops::{edit, fork, snapshot};
#[cfg(feature = "engine")]
pub(crate) use ops::thread_ops::{has_result, reads_result};
pub(crate) use ops::verify::verify;
pub(crate) use ops::waiting::describe_waiting;
pub(crate) use record::fingerprint::Fingerprint;
pub(crate) use results::cached::find_cached;
pub(crate) use results::task_form::{result_from_form, result_to_form};
pub(crate) use resume::thread_start::{Command, Nested, ThreadStart};
pub(crate) use write::event_log::{events_since, last_event};
#[cfg(feature = "engine")]
pub(crate) use write::event_log::{moved_after, record_of};
pub(crate) use write::prune::{NewBase, prune};
