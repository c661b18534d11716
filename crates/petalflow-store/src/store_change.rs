//! Changes of a thread that take effect together.

use std::ops::Range;

use super::{StoredCheckpoint, StoredWrite, ThreadStatus};

/// One of several changes of a thread that take effect together: see [`Store::apply`](super::Store::apply).
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
/// store.apply("ann", &[append("review"), append(""), held]).await?;
/// assert_eq!(store.threads(ThreadQuery::default()).await?[0].status, ThreadStatus::Held);
/// // One of the two cannot be appended, so none is.
/// store.apply("ann", &[append("other"), append("")]).await.expect_err("it has a checkpoint");
/// assert_eq!(store.namespaces("ann").await?, ["", "review"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// As [`Store::append`](super::Store::append).
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
    /// As [`Store::write`](super::Store::write).
    Write {
        /// The namespace of the flow.
        namespace: String,
        /// The number of the checkpoint.
        seq: u64,
        /// The writes.
        writes: Vec<StoredWrite>,
    },
    /// As [`ThreadChange::Status`](super::ThreadChange::Status). It holds from the changes before it on.
    Status {
        /// The name of the flow.
        flow: String,
        /// The status.
        status: ThreadStatus,
        /// When the thread has to be resumed, in milliseconds since 1970 (UTC). Below 2^63.
        due_ms: Option<u64>,
    },
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
            StoreChange::Status { .. } => 0,
        }
    }
}
