//! A thread's state at a checkpoint, and edits of it from outside.

mod edit;

pub use edit::Edit;

use crate::checkpoint::{Cause, DecisionRecord, Record, StoredCheckpoint};
use crate::error::NodeError;
use crate::plan::ExecutionPlan;
use crate::question::Interrupt;
use crate::state::State;

/// A thread at one of its checkpoints.
///
/// ```
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
/// let _ = thread.run("hello".to_string()).await?;
/// let snapshot = thread.snapshot().await?.expect("it has run");
/// assert_eq!((snapshot.state.text.as_str(), snapshot.info.superstep), ("hello", 0));
/// assert_eq!(snapshot.tasks[0].node, "publish");
/// assert!(!snapshot.is_finished(), "somebody is asked");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Snapshot<S: State> {
    /// What is known of the checkpoint.
    pub info: CheckpointInfo,
    /// The state.
    pub state: S,
    /// What runs next, and how far it has come.
    pub tasks: Vec<TaskState>,
    /// What people are asked.
    pub interrupts: Vec<Interrupt>,
}

/// What is known of a checkpoint without its state.
///
/// ```
/// use petalflow::checkpoint::Cause;
/// use petalflow::thread::HistoryQuery;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// // Newest first.
/// let history = thread.history(HistoryQuery::all()).await?;
/// assert_eq!(history.iter().map(|info| info.cause).collect::<Vec<_>>(), [Cause::Superstep, Cause::Input]);
/// assert_eq!((history[1].superstep, &history[1].next[..]), (0, &["reply".to_string()][..]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointInfo {
    /// Its number. [`Thread::snapshot_at`](crate::thread::Thread::snapshot_at) reads it;
    /// [`Thread::fork`](crate::thread::Thread::fork) continues from it.
    pub checkpoint: u64,
    /// The checkpoint before it.
    pub parent: Option<u64>,
    /// Why it was made.
    pub cause: Cause,
    /// Which turn of the thread, from 1.
    pub turn: u64,
    /// How many supersteps of the turn are done.
    pub superstep: u64,
    /// The nodes that run next, one per task; none when the run has ended.
    pub next: Vec<String>,
    /// What people decided since the checkpoint before.
    pub notes: Vec<DecisionRecord>,
    /// When it was made, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// How many bytes it takes in the store.
    pub bytes: u64,
}

/// A task that runs next.
///
/// ```
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
/// # let _ = thread.run("hello".to_string()).await?;
/// let snapshot = thread.snapshot().await?.expect("it has run");
/// let task = &snapshot.tasks[0];
/// assert_eq!((task.node.as_str(), task.finished), ("publish", false));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskState {
    /// The node.
    pub node: String,
    /// Its place among what was sent to the node.
    pub index: Option<usize>,
    /// Whether it has run already: what it left is kept, and it does not run again.
    pub finished: bool,
    /// How it failed when it was tried last.
    pub error: Option<NodeError>,
}

impl<S: State> Snapshot<S> {
    /// Whether nothing is left to run.
    pub fn is_finished(&self) -> bool {
        self.tasks.is_empty() && self.interrupts.is_empty()
    }
}

impl CheckpointInfo {
    /// With the nodes as the program calls them that reads it.
    #[inline]
    pub(crate) fn of(stored: &StoredCheckpoint, record: &Record, plan: &ExecutionPlan) -> Self {
        let header = &record.header;
        CheckpointInfo {
            checkpoint: stored.seq,
            parent: header.parent,
            cause: header.cause,
            turn: header.turn,
            superstep: header.superstep,
            next: header
                .frontier
                .iter()
                .map(|task| plan.current_name(&task.node).into())
                .collect(),
            notes: header.notes.clone(),
            created_ms: stored.created_ms,
            bytes: stored.bytes.len() as u64,
        }
    }
}

/// Which checkpoints to list.
///
/// ```
/// use petalflow::checkpoint::Cause;
/// use petalflow::thread::HistoryQuery;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let begun = thread.history(HistoryQuery::all().cause(Cause::Input).limit(10)).await?;
/// assert_eq!((begun.len(), begun[0].turn), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<usize>,
    pub(crate) cause: Option<Cause>,
    pub(crate) turn: Option<u64>,
}

impl HistoryQuery {
    /// All checkpoints.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only those with a smaller number: the last of the page before.
    #[must_use]
    pub fn before(mut self, checkpoint: u64) -> Self {
        self.before = Some(checkpoint);
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(mut self, checkpoints: usize) -> Self {
        self.limit = Some(checkpoints);
        self
    }

    /// Only those made for this reason.
    #[must_use]
    pub fn cause(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Only those of one turn.
    #[must_use]
    pub fn turn(mut self, turn: u64) -> Self {
        self.turn = Some(turn);
        self
    }

    pub(crate) fn covers(&self, info: &CheckpointInfo) -> bool {
        self.cause.is_none_or(|cause| cause == info.cause)
            && self.turn.is_none_or(|turn| turn == info.turn)
    }
}
