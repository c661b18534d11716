//! Threads: sequences of runs that a store records.
//!
//! A run on a thread is stored at its barriers. So it can resume after a crash, after a deployment, or when a person answers
//! a question three weeks later.
//!
//! The promise: **a node runs at least once; its recorded effect is applied exactly once.** If the process ends while a node
//! runs, the node runs again from its beginning. So an effect outside of the state may happen twice, unless the node uses
//! [`Context::once`](crate::Context::once), or the other system compares [`Context::task_id`](crate::Context::task_id). The
//! values that a node returns are never applied twice, and never in part. [`Durability`] states what else a crash can lose.
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

mod begin_at;
mod bulk;
mod children;
mod erased;
mod event_log;
mod flow_lock;
mod follow;
mod handle;
mod reading;
mod run;
mod stop;
mod stored;
mod stored_changes;
mod threads;
mod wake;

#[cfg(feature = "engine")]
pub(crate) use erased::{AnyThread, AnyThreads};

pub use crate::checkpoint::document_version::DocumentVersion;
pub use crate::checkpoint::retention::Retention;
pub use crate::checkpoint::settings::{Durability, OnBusy};
pub use crate::outcome::{Outcome, Paused, ThreadError};
pub use crate::snapshot::{
    Awaited, CheckpointInfo, Edit, HistoryQuery, Snapshot, StoredSnapshot, StoredSubflowRun,
    TaskState,
};
pub use crate::thread_file::{FileError, ThreadFile};
pub use children::{JoinError, StartChild};
pub use flow_lock::{FlowLock, FlowLockError};
pub use follow::FollowedEvents;
#[doc(hidden)]
pub use handle::IsThread;
pub use handle::Thread;
pub use run::ThreadRun;
pub use stored::StoredThreads;
pub use threads::Threads;
pub use wake::Wake;
