//! Runs on threads: opens a thread from its checkpoints, and stores it barrier by barrier.
//!
//! [`thread_run`] is a run on a thread. [`open`] loads the newest checkpoint and applies an input or a resume to it;
//! [`persistence`] stores what the driver reports, through the [`checkpoint_writer`]. [`thread_ops`] changes a thread
//! without running it.
//!
//! `#[inline]` means here, as in `petalflow-graph`, that a function is compiled where it is called. A program that stores
//! nothing then does not compile the functions without type parameters, which would double its build time.
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

mod answered;
mod answers;
mod cached;
mod checkpoint_writer;
mod claim;
mod dirty_keys;
mod event_log;
mod fingerprint;
mod load;
mod open;
mod opener;
mod persistence;
mod prune;
mod replay;
mod restored_frontier;
#[cfg(feature = "engine")]
mod result_codec;
mod resume;
mod seq;
mod subflow_history;
mod task_entries;
mod task_results;
mod thread_ops;
mod thread_run;
mod thread_start;

pub(crate) use answered::{AnswerTarget, check_unanswered};
pub(crate) use cached::find_cached;
pub(crate) use checkpoint_writer::ParentBarrier;
pub(crate) use claim::ThreadClaim;
pub(crate) use event_log::events_since;
pub(crate) use fingerprint::Fingerprint;
pub(crate) use prune::prune;
#[cfg(feature = "engine")]
pub(crate) use result_codec::ResultCodec;
pub(crate) use subflow_history::copy;
pub(crate) use thread_ops::{describe, edit, fork, snapshot};
pub(crate) use thread_start::{Command, Nested, ThreadStart};
