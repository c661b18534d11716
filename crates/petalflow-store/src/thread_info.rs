//! The description of a thread in a store.

use std::collections::BTreeMap;
use std::fmt;

use super::Attribute;

/// The state of a thread's last run, as a store lists it.
///
/// ```
/// use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let posts = Publish::new().store(&InMemoryStore::new());
/// let _ = posts.thread("post").run("hello".to_string()).await?;
/// let waiting = ThreadQuery { status: Some(ThreadStatus::Waiting), ..ThreadQuery::default() };
/// assert_eq!(posts.list(waiting).await?[0].id, "post");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ThreadStatus {
    /// A run is in progress, or it was interrupted: its process ended, or its future was dropped. Resume it to find out: a thread
    /// with a run in progress is busy.
    #[default]
    Running,
    /// It waits for answers or approvals, or its run has finished and somebody has to do something before the next one, such as
    /// approve a call of an agent. It may sleep besides: then [`ThreadInfo::due_ms`] is set.
    Waiting,
    /// It waits for a time, or for the end of another thread, and for no person: [`ThreadInfo::due_ms`].
    Sleeping,
    /// Its last run was drained: its process stopped. The next process continues it.
    Stopped,
    /// Its last run failed, or a person rejected it.
    Failed,
    /// Its last run finished.
    Finished,
    /// A person holds it: its last run was cancelled, or it was edited, forked or copied. It continues only when it is resumed by
    /// its id.
    Held,
}

impl ThreadStatus {
    /// With their names, in the order of the declaration.
    const ALL: [(Self, &str); 7] = [
        (ThreadStatus::Running, "running"),
        (ThreadStatus::Waiting, "waiting"),
        (ThreadStatus::Sleeping, "sleeping"),
        (ThreadStatus::Stopped, "stopped"),
        (ThreadStatus::Failed, "failed"),
        (ThreadStatus::Finished, "finished"),
        (ThreadStatus::Held, "held"),
    ];

    /// Its name in a store, such as `waiting`.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The status with this name.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadStatus;
    ///
    /// assert_eq!(ThreadStatus::named("failed"), Some(ThreadStatus::Failed));
    /// assert_eq!(ThreadStatus::named("lost"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(status, _)| status)
    }
}

impl fmt::Display for ThreadStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a store knows of a thread without reading its checkpoints.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadQuery};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// let threads = store.threads(ThreadQuery::default()).await?;
/// assert_eq!((threads[0].id.as_str(), threads[0].checkpoints, threads[0].bytes), ("ann", 1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: String,
    /// How many checkpoints it has, in all namespaces: those of sub-flows, and the records of an event log, are counted.
    pub checkpoints: u64,
    /// The size of its checkpoints in bytes, in all namespaces.
    pub bytes: u64,
    /// When its first checkpoint was created, in milliseconds since 1970 (UTC). That checkpoint may have been pruned.
    pub created_ms: u64,
    /// When its newest checkpoint was created, in milliseconds since 1970 (UTC): the latest time of the newest checkpoints of its
    /// namespaces. It is smaller than before if the clock went back.
    pub updated_ms: u64,
    /// The name of its flow. Empty until its first run has ended.
    pub flow: String,
    /// The state of its last run.
    pub status: ThreadStatus,
    /// When it has to be resumed, in milliseconds since 1970 (UTC): when the first of its sleeps ends, or the first of the questions
    /// that it waits for expires.
    pub due_ms: Option<u64>,
    /// Its labels, by name.
    pub labels: BTreeMap<String, String>,
    /// Its search attributes, by name: the values of the keys with `#[key(indexed)]` at its newest checkpoint.
    pub attributes: BTreeMap<String, Attribute>,
    /// What is damaged of what is listed of it. Then everything but the id may be wrong, so a query may list the thread although
    /// it would not meet its conditions. `None` if nothing is damaged.
    pub damage: Option<String>,
}

/// A change of what is listed of a thread.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadChange, ThreadQuery, ThreadStatus};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// let failed = ThreadChange::Status { flow: "Talk", status: ThreadStatus::Failed, due_ms: None };
/// store.describe("ann", failed, None).await?;
/// assert_eq!(store.threads(ThreadQuery::default()).await?[0].status, ThreadStatus::Failed);
/// // The next checkpoint ends the status.
/// let second = StoredCheckpoint { seq: 2, ..first };
/// store.append(Address::root("ann"), &second, Some(1), 0..0, None).await?;
/// assert_eq!(store.threads(ThreadQuery::default()).await?[0].status, ThreadStatus::Running);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadChange<'a> {
    /// A run has ended. The status and `due_ms` hold until the thread's own flow, which has the empty namespace, gets another
    /// checkpoint. From then on the thread is [`Running`](ThreadStatus::Running) and has no `due_ms`. The flow remains.
    Status {
        /// The name of the flow.
        flow: &'a str,
        /// The status.
        status: ThreadStatus,
        /// When the thread has to be resumed, in milliseconds since 1970 (UTC). Below 2^63.
        due_ms: Option<u64>,
    },
    /// These labels take the place of all others. Names and values have at most 255 bytes and no NUL. The caller of a store
    /// ensures this.
    Labels(&'a BTreeMap<String, String>),
}

impl ThreadInfo {
    pub(crate) fn damaged(id: String, problem: String) -> Self {
        ThreadInfo {
            id,
            damage: Some(problem),
            ..ThreadInfo::default()
        }
    }
}
