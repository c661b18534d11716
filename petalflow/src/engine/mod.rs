//! Runs whose supersteps the program drives: for durable execution engines, workers and simulators.
//!
//! There are two ways, for two kinds of programs:
//!
//! * An engine that keeps the records of a thread runs one superstep after the other with [`ThreadEngine`]. It has all that a
//!   thread in a store has: questions, approvals, `once`, sub-flows, history. Use this one.
//! * A program that keeps only the results of tasks rebuilds a run with [`Supersteps`].
//!
//! # Records
//!
//! [`ThreadRecords`] is all that a store has of one thread, as a map from keys to bytes. [`ThreadEngine`] starts a [`Pass`] over
//! such a map: it begins a thread, resumes it, executes exactly one superstep, or runs one task. The pass hands out what has
//! changed in the map. All rules of supersteps are those of a run with a store, because a pass is such a run.
//!
//! With [`ThreadEngine::stream_to`], listeners in other processes receive what nodes emit while they run. With
//! [`ThreadEngine::event_log`], the records have what happened, also after a restart of every process.
//!
//! # Results
//!
//! A [run](crate::Run) polls its tasks in one process. [`Supersteps`] is the same run without its driver: it plans the tasks
//! of a superstep, runs any of them, and commits their results. Planning and committing are pure: they read neither a clock
//! nor random numbers, and do not depend on which process ran a task or in which order tasks ended. The result of a task is
//! bytes. So a program that has the input and the results of all tasks can rebuild the run up to the last superstep, in any
//! process, without running a node again.
//!
//! A durable execution engine calls [`Supersteps::begin`] and [`commit`](Supersteps::commit) in its deterministic code, and
//! [`run`](Supersteps::run) in an activity whose result it records.
//!
//! For crash safety in one process, [stores](crate::checkpoint) need less code. `petalflow-workers` shares the tasks of a run
//! between processes.
//!
//! ```
//! use petalflow::engine::Supersteps;
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Essay {
//!     #[key(input)]
//!     topic: String,
//!     draft: String,
//!     #[key(append)]
//!     notes: Vec<String>,
//! }
//!
//! #[node(Essay)]
//! async fn write(topic: &str) -> EssayDraft {
//!     EssayDraft(format!("On {topic}"))
//! }
//!
//! #[node(Essay)]
//! async fn critique(draft: &str) -> EssayNotes {
//!     EssayNotes(vec![format!("{} characters", draft.len())])
//! }
//!
//! flow!(WriteEssay(Essay) { write -> critique });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let mut journal = Vec::new();
//! let mut run = Supersteps::begin(WriteEssay::new(), "essay-1", "petals".to_string())?;
//! while !run.is_finished() {
//!     let mut results = Vec::new();
//!     for task in 0..run.tasks().len() {
//!         results.push(run.run(task).await?);
//!     }
//!     run.commit(&results)?;
//!     journal.push(results);
//! }
//! assert_eq!(run.state().notes, ["9 characters"]);
//!
//! // Elsewhere, after a crash: no node runs again.
//! let mut replayed = Supersteps::begin(WriteEssay::new(), "essay-1", "petals".to_string())?;
//! for results in &journal {
//!     replayed.commit(results)?;
//! }
//! assert_eq!(replayed.into_state().draft, "On petals");
//! # Ok(())
//! # }
//! ```

mod batch;
mod logging;
mod pass;
mod pass_store;
mod placement;
mod record_form;
mod records;
mod records_error;
mod stream;
mod streaming;
mod supersteps;
mod thread_engine;

pub use batch::{Batch, PassEnd, TaskRequest};
pub use pass::Pass;
pub use records::{RecordChanges, ThreadRecords};
pub use records_error::RecordsError;
pub use stream::{
    EventSink, EventSource, FollowedEvent, StoredEvents, StreamReader, StreamedEvent,
};
pub use supersteps::Supersteps;
pub use thread_engine::ThreadEngine;
