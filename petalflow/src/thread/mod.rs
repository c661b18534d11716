//! Threads: runs that a store remembers.
//!
//! A run on a thread is written down barrier by barrier, so that it can go on after a crash, a deploy, or the three weeks in
//! which somebody thinks about a question.
//!
//! The promise: **a node runs at least once; its recorded effect is applied exactly once.** A node that was under way when
//! the process died runs again from its top, so whatever it did outside the state may happen twice, unless it was done through
//! [`Context::once`](crate::Context::once) or the other side knows [`Context::task_id`](crate::Context::task_id). What a node
//! returned is never applied twice and never in part. What a crash can cost beyond that is said at [`Durability`].
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Chat {
//!     #[key(input, append)]
//!     lines: Vec<String>,
//! }
//!
//! #[node(Chat)]
//! async fn reply(lines: &[String]) -> ChatLines {
//!     ChatLines(vec![format!("{} so far", lines.len())])
//! }
//!
//! flow!(Talk(Chat) { reply });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let store = InMemoryStore::new();
//! let thread = Talk::new().store(&store).thread("ann");
//! thread.run(vec!["hello".to_string()]).await?.into_finished()?;
//! let chat = thread.run(vec!["again".to_string()]).await?.into_finished()?;
//! assert_eq!(chat.lines, ["hello", "1 so far", "again", "3 so far"]);
//! # Ok(())
//! # }
//! ```

mod flow_lock;
mod handle;
mod run;
mod threads;

pub use crate::checkpoint::retention::Retention;
pub use crate::checkpoint::settings::{Durability, OnBusy};
pub use crate::outcome::{Outcome, Paused, ThreadError};
pub use crate::snapshot::{CheckpointInfo, Edit, HistoryQuery, Snapshot, TaskState};
pub use flow_lock::{FlowLock, FlowLockError};
pub use handle::Thread;
pub use run::ThreadRun;
pub use threads::Threads;
