//! Why a call of a store failed.

use super::ThreadInfo;
use crate::error::{BoxError, is_out_of_files, message_with_sources};

/// Why a call of a store failed.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoreError, StoredCheckpoint};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// // Another writer has appended since.
/// let late = store.append(Address::root("ann"), &first, None, 0..0, None).await;
/// assert!(matches!(late, Err(StoreError::Conflict { expected: None, found: Some(1), .. })));
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer appended to the same address first.
    #[error(
        "thread `{thread}` was written to by another run: expected checkpoint {} to be the newest, found {}",
        number(*expected),
        number(*found)
    )]
    Conflict {
        /// The thread.
        thread: String,
        /// The newest number that the writer knew.
        expected: Option<u64>,
        /// The newest number in the store.
        found: Option<u64>,
    },
    /// The owner in the call does not have the claim on the thread, or not any more. Nothing was changed.
    #[error(
        "the claim on thread `{thread}` is lost, so nothing more is written to it: the run was suspended or cut off from the store for too long, and the thread was free for other runs; what was stored before is intact, and `resume` continues from there"
    )]
    ClaimLost {
        /// The thread.
        thread: String,
    },
    /// The store cannot be reached or cannot write at the moment. Its contents are not known to be damaged.
    #[error("the store is not available: {}", message_with_sources(&**.0))]
    Unavailable(BoxError),
    /// The contents of the store cannot be read.
    #[error("what is stored of thread `{thread}` is damaged: {problem}")]
    Damaged {
        /// The thread.
        thread: String,
        /// What is wrong.
        problem: String,
    },
    /// A newer version of this library created the layout of the store.
    #[error(
        "the store has layout {found}, this program knows up to {known}: update petalflow, or use another store"
    )]
    NewerLayout {
        /// The layout in the store.
        found: u32,
        /// The newest layout that this program knows.
        known: u32,
    },
    /// The contents do not have the protection that the program requires.
    #[error("what is stored cannot be trusted: {0}")]
    Protection(String),
    /// Another failure.
    #[error("the store failed: {}", message_with_sources(&**.0))]
    Other(BoxError),
}

crate::error::debug_is_message!(StoreError);

impl StoreError {
    /// [`Unavailable`](StoreError::Unavailable), with a message that says what to do above the error of the store's client.
    ///
    /// ```
    /// use petalflow::checkpoint::StoreError;
    /// use petalflow::error::message_with_sources;
    ///
    /// let refused = std::io::Error::other("connection refused");
    /// let error = StoreError::unavailable("the server cannot be reached: check that it runs", refused);
    /// assert_eq!(
    ///     message_with_sources(&error),
    ///     "the store is not available: the server cannot be reached: check that it runs: connection refused",
    /// );
    /// ```
    ///
    /// If the cause is that no file descriptor is left, the message is replaced by one that says so.
    pub fn unavailable(message: impl Into<String>, source: impl Into<BoxError>) -> Self {
        let source = source.into();
        let message = if is_out_of_files(&*source) {
            "too many files and connections are open, and no other can be opened: raise the limit of the process (`ulimit -n`), or              open one store and share it (clones share their connections)"
                .into()
        } else {
            message.into()
        };
        StoreError::Unavailable(Explained::error(message, source))
    }

    /// [`Other`](StoreError::Other), with a message above the error of the store's client.
    pub fn other(message: impl Into<String>, source: impl Into<BoxError>) -> Self {
        StoreError::Other(Explained::error(message.into(), source.into()))
    }
}

/// A message of a store, and the error of its client that it explains.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Explained {
    message: String,
    source: BoxError,
}

impl Explained {
    fn error(message: String, source: BoxError) -> BoxError {
        Box::new(Explained { message, source })
    }
}

impl ThreadInfo {
    /// The thread that an error says is [damaged](Self::damage), for stores that list it among the others.
    ///
    /// ```
    /// use petalflow::checkpoint::{StoreError, ThreadInfo};
    ///
    /// let error = StoreError::Damaged { thread: "ann".into(), problem: "it has no size".into() };
    /// let listed = ThreadInfo::of_damage(error)?;
    /// assert_eq!((&*listed.id, listed.damage.as_deref()), ("ann", Some("it has no size")));
    /// # Ok::<(), StoreError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any other error.
    pub fn of_damage(error: StoreError) -> Result<Self, StoreError> {
        match error {
            StoreError::Damaged { thread, problem } => Ok(Self::damaged(thread, problem)),
            error => Err(error),
        }
    }
}

fn number(seq: Option<u64>) -> String {
    seq.map_or_else(|| "none".into(), |seq| seq.to_string())
}
