//! The state of a thread at a checkpoint, and edits of it.

mod edit;
mod stored;

pub(crate) use edit::AnyEdit;
pub use edit::Edit;
pub use stored::{StoredSnapshot, StoredSubflowRun};

use crate::checkpoint::{Cause, DecisionRecord, Record, StoredCheckpoint, StoredWrite};
use crate::erased::{EffectsBox, StateBox, into_state, into_update};
use crate::error::NodeError;
use crate::ids::TaskId;
use crate::plan::NodeNames;
use crate::question::Interrupt;
use crate::state::{State, Update};
use crate::task_services::Receipt;

/// The state of a thread at one of its checkpoints.
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
    /// The properties of the checkpoint.
    pub info: CheckpointInfo,
    /// The state.
    pub state: S,
    /// The tasks that run next, with their progress.
    pub tasks: Vec<TaskState>,
    /// The open interrupts.
    pub interrupts: Vec<Interrupt>,
    /// The writes of tasks that have finished, by the index in `tasks`.
    pending: Vec<(usize, Update<S>)>,
}

/// A [`Snapshot`] without the type of the state.
pub(crate) struct AnySnapshot {
    pub(crate) info: CheckpointInfo,
    pub(crate) state: StateBox,
    pub(crate) tasks: Vec<TaskState>,
    pub(crate) interrupts: Vec<Interrupt>,
    /// The writes of tasks that have finished, by the index in `tasks`.
    pub(crate) pending: Vec<(usize, EffectsBox)>,
}

/// The properties of a checkpoint, without its state.
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
    /// The parent checkpoint.
    pub parent: Option<u64>,
    /// Why it was created.
    pub cause: Cause,
    /// The turn of the thread, from 1.
    pub turn: u64,
    /// The number of completed supersteps in the turn.
    pub superstep: u64,
    /// The nodes that run next: those of the tasks that have not finished, one per task, in the order of the declaration and then
    /// of the items. A task that waits for a person is one of them. Empty after the end of the run.
    pub next: Vec<String>,
    /// The decisions of people since the parent checkpoint.
    pub notes: Vec<DecisionRecord>,
    /// The time of creation, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// Its size in the store, in bytes.
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
    /// The name of the node.
    pub node: String,
    /// The index among the items sent to the node.
    pub index: Option<usize>,
    /// Whether it has already run: its result is stored, and it does not run again.
    pub finished: bool,
    /// The failure of its last attempt.
    pub error: Option<NodeError>,
    /// The messages for which it waits.
    pub receives: Vec<Awaited>,
}

/// A message for which a node waits: see [`Context::receive`](crate::Context::receive).
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Order {
///     #[key(receive)]
///     payment: u32,
///     paid: u32,
/// }
///
/// #[node(Order)]
/// async fn wait(cx: Context) -> petalflow::Result<OrderPaid> {
///     Ok(OrderPaid(cx.receive::<OrderPayment>().await?))
/// }
///
/// flow!(Wait(Order) { wait });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let thread = Wait::new().store(&InMemoryStore::new()).thread("order-7");
/// let _ = thread.run(()).await?;
/// let snapshot = thread.snapshot().await?.expect("it has run");
/// let awaited = &snapshot.tasks[0].receives[0];
/// assert_eq!((awaited.key.as_str(), awaited.until_ms), ("payment", None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Awaited {
    /// The name of the key in storage: that of the key, unless it has an `id`.
    pub key: String,
    /// Since when, in milliseconds since 1970 (UTC), by the clock of the store.
    pub since_ms: u64,
    /// Until when. `None`: without end.
    pub until_ms: Option<u64>,
}

impl TaskState {
    /// The messages for which a task without a result waits, by the records beside its checkpoint.
    pub(crate) fn awaited(task: TaskId, finished: bool, writes: &[StoredWrite]) -> Vec<Awaited> {
        if finished {
            return Vec::new();
        }
        let own = writes.iter().filter(|write| write.task == task);
        let receipts = own.filter_map(Receipt::of);
        let open = receipts.filter(Receipt::is_open);
        open.map(|receipt| Awaited {
            key: receipt.key,
            since_ms: receipt.since_ms,
            until_ms: receipt.until_ms,
        })
        .collect()
    }
}

impl<S: State> Snapshot<S> {
    pub(crate) fn typed(any: AnySnapshot) -> Self {
        let pending = any.pending.into_iter();
        Snapshot {
            info: any.info,
            state: into_state(any.state),
            tasks: any.tasks,
            interrupts: any.interrupts,
            pending: pending
                .map(|(task, writes)| (task, into_update::<S>(writes)))
                .collect(),
        }
    }

    /// Whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.tasks.is_empty() && self.interrupts.is_empty()
    }

    /// The tasks that have [finished](TaskState::finished) while another one asked, failed or was stopped, with their writes. The
    /// writes are not part of [`state`](Self::state): they are applied when the whole superstep has finished.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::interrupt::Ask;
    /// # use petalflow::prelude::*;
    /// # #[derive(serde::Serialize, serde::Deserialize, Ask)]
    /// # #[ask(answer = bool)]
    /// # struct MayPost;
    /// # #[state]
    /// # struct Post { draft: String, approved: bool }
    /// #[node(Post)]
    /// async fn write() -> PostDraft {
    ///     PostDraft("petals".into())
    /// }
    ///
    /// #[node(Post)]
    /// async fn approve(cx: Context) -> petalflow::Result<PostApproved> {
    ///     Ok(PostApproved(cx.ask(MayPost).await?))
    /// }
    ///
    /// flow!(Both(Post) { START -> write & approve });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Both::new().store(&InMemoryStore::new()).thread("post");
    /// assert_eq!(thread.run(()).await?.interrupts().len(), 1);
    /// let snapshot = thread.snapshot().await?.expect("it has run");
    /// let (task, writes) = snapshot.pending().next().expect("`write` has finished");
    /// assert_eq!((&*task.node, writes.of::<PostDraft>().only().unwrap().as_str()), ("write", "petals"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending(&self) -> impl Iterator<Item = (&TaskState, &Update<S>)> {
        let pending = self.pending.iter();
        pending.filter_map(|(task, update)| Some((self.tasks.get(*task)?, update)))
    }
}

impl CheckpointInfo {
    /// With the node names of the program that reads it, as if none of its tasks had finished.
    pub(crate) fn of(stored: &StoredCheckpoint, record: &Record, names: NodeNames<'_>) -> Self {
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
                .map(|task| names.of(&task.node).into())
                .collect(),
            notes: header.notes.clone(),
            created_ms: stored.created_ms,
            bytes: stored.bytes.len() as u64,
        }
    }
}

/// A filter for the checkpoints of a thread.
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
    pub(crate) superstep: Option<u64>,
}

impl HistoryQuery {
    /// All checkpoints.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only those with a smaller number: the last one of the previous page.
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

    /// Only those created for this reason.
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

    /// Only those after this number of completed supersteps in their turn: normally one in each turn, and more if the thread was
    /// resumed with answers or edits there. The newest of a turn is what [`Thread::fork`](crate::thread::Thread::fork) needs.
    ///
    /// ```
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
    /// let begun = thread.history(HistoryQuery::all().turn(1).superstep(0).limit(1)).await?;
    /// let snapshot = thread.snapshot_at(begun[0].checkpoint).await?;
    /// assert_eq!(snapshot.state.lines, ["hello"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn superstep(mut self, superstep: u64) -> Self {
        self.superstep = Some(superstep);
        self
    }

    pub(crate) fn covers(&self, info: &CheckpointInfo) -> bool {
        self.cause.is_none_or(|cause| cause == info.cause)
            && self.turn.is_none_or(|turn| turn == info.turn)
            && self
                .superstep
                .is_none_or(|superstep| superstep == info.superstep)
    }
}
