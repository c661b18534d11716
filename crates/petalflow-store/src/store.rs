//! The trait of stores, and the types in its methods.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{
    Attribute, StoreError, ThreadChange, ThreadCount, ThreadInfo, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
use crate::ids::TaskId;
use async_trait::async_trait;

/// The first bytes of each payload that `petalflow-encryption` has sealed. No checkpoint and no stored value begins with them,
/// so a program that reads a sealed checkpoint without its protection gets [`StoreError::Protection`].
///
/// ```
/// assert_eq!(petalflow::checkpoint::SEALED_MARKER, *b"\xc1PFS");
/// ```
pub const SEALED_MARKER: [u8; 4] = [0xc1, b'P', b'F', b'S'];

/// The location of the checkpoints of one flow: a thread, and the namespace of the flow in it. The namespace is empty for
/// the thread's own flow, and for example `review/dig[3]` for a sub-flow.
///
/// Both have at most [`Address::LONGEST`] bytes and no NUL. The thread is not empty. The caller of a store ensures this.
///
/// ```
/// use petalflow::checkpoint::Address;
///
/// let inside = Address { thread: "ann", namespace: "review" };
/// assert!(Address::root("ann") < inside, "the thread's own flow comes first");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address<'a> {
    /// The thread's id.
    pub thread: &'a str,
    /// The namespace of the flow.
    pub namespace: &'a str,
}

impl<'a> Address<'a> {
    /// The longest thread id and the longest namespace, in bytes.
    pub const LONGEST: usize = 1024;

    /// The thread's own flow.
    pub fn root(thread: &'a str) -> Self {
        Address {
            thread,
            namespace: "",
        }
    }
}

/// A checkpoint in the form that a store receives.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// // It needs the one before.
/// let second = StoredCheckpoint { seq: 2, base: 1, created_ms: 0, bytes: vec![8] };
/// store.append(Address::root("ann"), &second, Some(1), 0..0, None).await?;
/// let stored = store.read(Address::root("ann"), None).await?.expect("it is there");
/// assert_eq!(stored.chain, [first, second]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredCheckpoint {
    /// Its number. Numbers grow within an [`Address`], and may have gaps. They are below 2^63, so a signed integer of a
    /// database can store them.
    pub seq: u64,
    /// The oldest checkpoint that is needed to read this one: `seq` itself if it needs no other. All checkpoints between
    /// the two are needed as well.
    pub base: u64,
    /// When it was created, in milliseconds since 1970 (UTC). Below 2^63.
    pub created_ms: u64,
    /// Its contents, which the store does not interpret.
    pub bytes: Vec<u8>,
}

/// A record that a task writes before its superstep is committed: its result, its failure, a question, or the result of a
/// side effect.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, StoredWrite};
/// use petalflow::event::TaskId;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// let write = StoredWrite { task: TaskId::from_bytes([1; 16]), name: "result".into(), bytes: vec![9] };
/// store.write(Address::root("ann"), 1, &[write.clone()], None).await?;
/// assert_eq!(store.writes(Address::root("ann"), 0..2).await?, [(1, write)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredWrite {
    /// The task.
    pub task: TaskId,
    /// Its name: at most 255 bytes without NUL. A superstep has at most one write for each task and name.
    pub name: String,
    /// Its contents, which the store does not interpret.
    pub bytes: Vec<u8>,
}

/// One of several changes of a thread that take effect together: see [`Store::apply`](Store::apply).
///
/// ```
/// use petalflow::checkpoint::{
///     Address, InMemoryStore, Store, StoreChange, StoredCheckpoint, ThreadQuery, ThreadStatus,
/// };
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// let append = |namespace: &str| StoreChange::Append {
///     namespace: namespace.into(),
///     checkpoint: first.clone(),
///     after: None,
///     settled: 0..0,
/// };
/// let held = StoreChange::Status { flow: "Talk".into(), status: ThreadStatus::Held, due_ms: None };
/// store.apply("ann", &[append("review"), append(""), held], None).await?;
/// assert_eq!(store.threads(ThreadQuery::default()).await?[0].status, ThreadStatus::Held);
/// // One of the two cannot be appended, so none is.
/// store.apply("ann", &[append("other"), append("")], None).await.expect_err("it has a checkpoint");
/// assert_eq!(store.namespaces("ann").await?, ["", "review"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// As [`Store::append`](Store::append).
    Append {
        /// The namespace of the flow.
        namespace: String,
        /// The checkpoint.
        checkpoint: StoredCheckpoint,
        /// The newest number at the address before this change.
        after: Option<u64>,
        /// The numbers of the writes that are removed.
        settled: Range<u64>,
    },
    /// As [`Store::write`](Store::write).
    Write {
        /// The namespace of the flow.
        namespace: String,
        /// The number of the checkpoint.
        seq: u64,
        /// The writes.
        writes: Vec<StoredWrite>,
    },
    /// As [`ThreadChange::Status`](ThreadChange::Status). It holds from the changes before it on.
    Status {
        /// The name of the flow.
        flow: String,
        /// The status.
        status: ThreadStatus,
        /// When the thread has to be resumed, in milliseconds since 1970 (UTC). Below 2^63.
        due_ms: Option<u64>,
    },
    /// These search attributes take the place of all others of the thread. They hold until the next such change, whatever checkpoints
    /// the thread gets. Names have at most 255 bytes and no NUL.
    Attributes(BTreeMap<String, Attribute>),
}

impl StoreChange {
    /// The bytes of its checkpoint or writes.
    ///
    /// ```
    /// use petalflow::checkpoint::{StoreChange, StoredCheckpoint};
    ///
    /// let checkpoint = StoredCheckpoint { bytes: vec![7; 3], ..StoredCheckpoint::default() };
    /// let append = StoreChange::Append { namespace: String::new(), checkpoint, after: None, settled: 0..0 };
    /// assert_eq!(append.size(), 3);
    /// ```
    pub fn size(&self) -> usize {
        match self {
            StoreChange::Append { checkpoint, .. } => checkpoint.bytes.len(),
            StoreChange::Write { writes, .. } => writes.iter().map(|write| write.bytes.len()).sum(),
            StoreChange::Status { .. } | StoreChange::Attributes(_) => 0,
        }
    }
}

/// A checkpoint, with everything that is needed to read it.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, Stored, StoredCheckpoint};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// let stored = store.read(Address::root("ann"), Some(1)).await?;
/// assert_eq!(stored, Some(Stored { chain: vec![first], writes: vec![] }));
/// assert_eq!(store.read(Address::root("bob"), None).await?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The checkpoints from the base to the checkpoint itself, which is last, in the order of their numbers.
    pub chain: Vec<StoredCheckpoint>,
    /// The writes of the tasks of the superstep after it, in the order of task and name.
    pub writes: Vec<StoredWrite>,
}

/// Whether a claim was granted.
///
/// ```
/// use petalflow::checkpoint::{Claim, InMemoryStore, Store};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// assert_eq!(store.claim("ann", "one").await?, Claim::Granted);
/// assert_eq!(store.claim("ann", "two").await?, Claim::Busy { owner: "one".into() });
/// store.release("ann", "one");
/// assert_eq!(store.claim("ann", "two").await?, Claim::Granted);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The owner has the thread until it releases the claim or its process ends.
    Granted,
    /// Another owner has the thread.
    Busy {
        /// The other owner.
        owner: String,
    },
}

/// Stores checkpoints. This crate has [`InMemoryStore`](super::InMemoryStore); `petalflow-sqlite`, `petalflow-postgres` and
/// `petalflow-redis` have stores for databases. Implement it for another, and test it with `petalflow_testing::store_contract!`.
///
/// # The contract
///
/// * **Atomic**: each call takes effect completely or not at all, also if the process or the machine fails during the call.
/// * **Durable**: when a call that writes has returned, its effect survives the failures that the store promises to survive.
/// * **Ordered**: a call sees the effects of all calls that returned before it began, in any process.
/// * **Cancel safe**: dropping a future leaves the store as before the call or as after it.
/// * **Opaque**: ids are any text within their limits, compared by bytes. `bytes` are returned as they were given.
/// * **Numbers** that are stored are below 2^63. A number that only limits a search can have any value: a range can be
///   empty, or end at [`u64::MAX`].
/// * **Fenced**: a call that writes takes an `owner`. If there is one, the call has an effect only while this owner has the claim on
///   the thread. Otherwise it changes nothing and fails with [`ClaimLost`](StoreError::ClaimLost). The check and the change are one
///   step. Without an owner, the call is not part of a run, and nothing is checked.
/// * A failure is an error. A store neither panics nor retries without end.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Appends a checkpoint, and removes the writes whose checkpoint number is in `settled`: both or neither.
    ///
    /// `after` is the newest number that the caller knows at this address. `checkpoint.seq` is greater.
    ///
    /// # Errors
    ///
    /// * [`ClaimLost`](StoreError::ClaimLost) if `owner` does not have the claim.
    /// * [`Conflict`](StoreError::Conflict) if the newest number in the store is another: another writer appended first.
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Adds writes beside the checkpoint `seq`, all or none. The checkpoint need not exist yet. A write replaces an earlier
    /// one of the same task and name, also within a call.
    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Makes several changes of a thread in their order: all or none. Each sees the effects of those before it.
    ///
    /// # Errors
    ///
    /// As the calls that make one of the changes.
    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError>;

    /// The checkpoint with this number, or the newest, with everything that is needed to read it. All of it is of one moment.
    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError>;

    /// The writes beside the checkpoints whose numbers are in `seqs`, with these numbers, in the order of number, task and name.
    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError>;

    /// The checkpoints at an address whose numbers are below `before`, newest first.
    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError>;

    /// The namespaces of a thread that have a checkpoint or a write, in the order of their bytes. An unknown thread has none.
    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError>;

    /// The threads that have a checkpoint and that the query [covers](ThreadQuery::covers), in the order of the query. A thread of
    /// which what is listed is damaged is among them, with its [`damage`](ThreadInfo::damage): it does not hide the others. One that
    /// has lost the time by which the list is ordered may be listed in the order of ids only.
    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError>;

    /// How many threads the query [covers](ThreadQuery::covers), by flow and status, in this order. The order, the place and the
    /// limit of the query do not matter. Damaged threads need not be counted.
    ///
    /// The default lists all of them. A store with an index counts there.
    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        let all = ThreadQuery {
            order: ThreadOrder::Id,
            after: None,
            limit: None,
            ..query
        };
        Ok(ThreadCount::of(&self.threads(all).await?))
    }

    /// Changes what is listed of a thread beside its checkpoints. The thread need not exist: what is set is listed when it has a
    /// checkpoint. [`ThreadChange`] says how long a status holds.
    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Removes all checkpoints at an address whose numbers are below `seq`, and the writes beside numbers below `writes`: both or
    /// neither. The thread's [`created_ms`](ThreadInfo::created_ms) remains, while it has other checkpoints.
    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Removes a thread with all its namespaces and writes, and what is listed of it. Does nothing for an unknown thread. A claim
    /// on it remains.
    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError>;

    /// Removes several threads, as [`delete`](Self::delete) does: each completely or not at all. If `owner` does not have the claim
    /// on one of them, this one remains.
    ///
    /// The default deletes one after the other. A store that can delete them in one step does so.
    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let mut lost = Ok(());
        for thread in threads {
            match self.delete(thread, owner).await {
                Err(error @ StoreError::ClaimLost { .. }) => lost = Err(error),
                deleted => deleted?,
            }
        }
        lost
    }

    /// The incarnation of a thread of which nothing is stored: a number that no thread with this id had that was deleted. It is zero
    /// until a thread is deleted. Ids of tasks contain it, so that they do not repeat when a thread with the id of a deleted one
    /// begins.
    ///
    /// How many threads were deleted from the store is such a number.
    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError>;

    /// Gives the space of what was removed back to the system, as far as the store holds it back. Contents do not change.
    ///
    /// The default does nothing, for stores that hold nothing back, or whose server has means of its own.
    async fn reclaim(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What is damaged of the store itself and belongs to no thread that it lists, in words. The threads are checked one by one.
    ///
    /// The default finds nothing.
    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Claims a thread for an owner, so that two runs never work on it at the same time, in any processes. If the owner has
    /// the claim already, it is renewed. The thread need not exist.
    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError>;

    /// Whether the owner still has the claim that it was granted: no other owner has had the thread since. The claim is renewed. A
    /// claim that was lost is not granted again.
    ///
    /// The answer is that of the place which decides about claims. So after a yes, the thread is not free for others for as long as
    /// [`claim_lasts`](Self::claim_lasts), or before the place notices that the process has ended or cannot be reached.
    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError>;

    /// Releases a claim. Does nothing if the owner does not have it. Must not block: a store that has to wait does so in the
    /// background, before it grants a later claim.
    fn release(&self, thread: &str, owner: &str);

    /// How long a claim lasts unless it is renewed. `None` if it lasts until its owner releases it or its process ends.
    fn claim_lasts(&self) -> Option<std::time::Duration> {
        None
    }

    /// Whether other processes can reach what is stored. If so, a run that lasts for longer than a second looks once in a second
    /// whether another process has told it to stop. A store that wraps another returns the answer of that store.
    fn is_shared(&self) -> bool {
        true
    }

    /// Whether bytes can change while they are stored, as on a disk. If so, petalflow stores a checksum with all bytes, and
    /// reports bytes that changed, or that have no checksum, as [`Damaged`](StoreError::Damaged). A store that wraps another
    /// returns the answer of that store.
    fn needs_checksums(&self) -> bool {
        true
    }

    /// The time of the store's clock, in milliseconds since 1970 (UTC): that of its server, or of this machine if it has none.
    /// Times that several machines compare, such as those of schedules, come from it, so that the clock of one machine cannot mislead
    /// the others. A store that wraps another returns the answer of that store.
    async fn now_ms(&self) -> Result<u64, StoreError> {
        Ok(crate::clock::now_ms())
    }

    /// Called when a node of a run over this store says that it goes on, as `Context::heartbeat` and each emitted value do. A store
    /// needs to do nothing.
    fn heard(&self) {}

    /// The name under which an engine has the threads of this store, if it is not a store but the view of an engine. Threads of
    /// engines reach each other by it. `None`, the default, for a store.
    fn engine(&self) -> Option<&str> {
        None
    }

    /// Whether a task that has no record of this effect must not run it, because the run replays what was recorded. The run then
    /// reports it.
    #[doc(hidden)]
    fn refuses_effect(&self, _task: TaskId, _name: &str) -> bool {
        false
    }

    /// Whether the run replays what was recorded.
    #[doc(hidden)]
    fn is_replay(&self) -> bool {
        false
    }

    /// Whether a replay runs this task of a node, given by the names that lead to it, which may be a sub-flow. All others are left.
    #[doc(hidden)]
    fn runs_in_replay(&self, _task: TaskId, _node: &str, _is_subflow: bool) -> bool {
        true
    }

    /// Whether a replay runs this effect of a task as far as the requests to models that were recorded in it. Its recorded result is given
    /// afterwards.
    #[doc(hidden)]
    fn enters_effect(&self, _task: TaskId, _name: &str) -> bool {
        false
    }

    /// Whether the run replays this task only as far as its requests to models.
    #[doc(hidden)]
    fn prepares(&self, _task: TaskId) -> bool {
        false
    }

    /// Gives the replay a request that a task makes of a model: its number in the task, and its group and its index in that. Returns the
    /// answer that was recorded. Of other runs nothing calls it.
    #[doc(hidden)]
    fn take_request(
        &self,
        _task: TaskId,
        _at: (u32, &[String], u32),
        _request: Vec<u8>,
    ) -> Option<Vec<u8>> {
        None
    }
}
