//! Threads of durable execution engines, and of other programs that drive supersteps.
//!
//! [`ThreadRecords`] is all that a store has of one thread, as a map from keys to bytes. An engine keeps this map. [`ThreadEngine`]
//! starts a [`Pass`] over it: it begins a thread, resumes it, executes exactly one superstep, or runs one task. The pass hands out
//! what has changed in the map. All rules of supersteps are those of a run with a store, because a pass is such a run: questions,
//! approvals, `once`, sub-flows and history are the same.
//!
//! A pass commits, requests, waits or fails. A pass that would do none of these is an error, because it would be made again without end.
//!
//! Tasks of [placed](ThreadEngine::place) nodes run in other processes: a pass requests them, and their results are changes of the
//! map. What a request and a result contain is bytes, so any message bus can carry them.
//!
//! With [`ThreadEngine::stream_to`], listeners in other processes receive what nodes emit while they run. With
//! [`ThreadEngine::event_log`], the records have what happened, also after a restart of every process.
//!
//! For crash safety in one process, [stores](crate::checkpoint) need less code.

mod batch;
mod engine_store;
mod engine_threads;
mod erased;
mod law;
mod logging;
mod pass;
mod pass_store;
mod placement;
mod record_changes;
mod record_form;
mod record_store;
mod records;
mod records_error;
mod replay;
mod replay_tasks;
mod stream;
mod streaming;
mod thread_address;
mod thread_engine;

pub use batch::{Batch, PassEnd, TaskRequest};
pub use engine_store::EngineStore;
pub use engine_threads::EngineThreads;
pub use pass::Pass;
pub use record_changes::RecordChanges;
pub use records::ThreadRecords;
pub use records_error::RecordsError;
pub use replay::{ContinuedReplay, Difference, DifferenceKind, Replayed};
pub use stream::{
    EventSink, EventSource, FollowedEvent, StoredEvents, StreamReader, StreamedEvent,
};
pub use thread_address::ThreadAddress;
pub use thread_engine::ThreadEngine;
