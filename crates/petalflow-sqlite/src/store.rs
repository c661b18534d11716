//! The store itself: which thread an operation runs on, and the [`Store`] contract.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadCount, ThreadInfo, ThreadQuery, ThreadStatus,
};
use rusqlite::Connection;

use crate::connection::{Readers, Writer, transaction};
use crate::error::{DatabaseFile, TransactionError};
use crate::log::{self, Alone, Tails};
use crate::options::{SqliteOptions, Synchronous};
use crate::statements::{Listing, change, claims, counts, listing, query, verify};

/// Writes of more bytes always run on the writer's thread: copying them would block the caller's thread for too long.
const MAX_BYTES_HERE: usize = 64 * 1024;

/// Stores checkpoints in a SQLite database: a file, which several processes on one machine can share, or memory. Clones share
/// their connections. When the last clone is dropped, the writes that are queued are still made.
///
/// **Claims** end when the process ends, also if it is killed, and when the last clone of the store is dropped. They need no lease:
/// a store that claims holds a lock on a file `….db-lock-…` beside the database, which the operating system releases with the
/// process. Do not delete that file while the process runs. A release that fails, because the disk is full or another process
/// locks the file for too long, is repeated before the next claim.
///
/// **The database file** must stay at its path. If it was deleted, moved or replaced, every call fails until the file is back or
/// the store is opened again.
///
/// ```
/// use petalflow::checkpoint::{Address, Store};
/// use petalflow_sqlite::SqliteStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("petalflow-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).expect("a folder can be made");
/// let store = SqliteStore::open(folder.join("essays.db")).await?;
/// assert_eq!(store.read(Address::root("essay-42"), None).await?, None);
/// # drop(store);
/// # let _ = std::fs::remove_dir_all(folder);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    file: DatabaseFile,
    writer: Writer,
    /// `None` for a database in memory, which has one connection.
    readers: Option<Readers>,
    /// Whether small writes run on the caller's thread if the writer is idle: a commit without a sync is quicker than another thread.
    writes_here: bool,
    tails: Tails,
    /// Releases that failed, because the disk was full or another process held the lock for too long.
    failed_releases: Arc<Mutex<Vec<Release>>>,
}

/// The release of a claim: its thread and its owner.
type Release = (String, String);

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.0.file.path)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the database at this path, and creates it if it does not exist. Its folder must exist and be on a local disk.
    ///
    /// # Errors
    ///
    /// [`NewerLayout`](StoreError::NewerLayout) if a newer petalflow has written it.
    /// [`Unavailable`](StoreError::Unavailable) if it cannot be opened or written at the moment.
    /// [`Other`](StoreError::Other) if it is not a database, or that of another program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the file as before the call or as after it; a new file may be left, ready to be used.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::options(path).open().await
    }

    /// Settings for opening the database at this path.
    ///
    /// ```
    /// use petalflow_sqlite::{SqliteStore, Synchronous};
    ///
    /// let options = SqliteStore::options("essays.db").synchronous(Synchronous::Normal);
    /// # let _ = options;
    /// ```
    pub fn options(path: impl AsRef<Path>) -> SqliteOptions {
        SqliteOptions::new(path.as_ref())
    }

    /// A database in memory. It is gone when the last clone is dropped.
    ///
    /// ```
    /// use petalflow::checkpoint::{Address, Store};
    /// use petalflow_sqlite::SqliteStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = SqliteStore::in_memory()?;
    /// assert_eq!(store.read(Address::root("essay-42"), None).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`](StoreError::Unavailable) if there is no memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        let file = DatabaseFile::in_memory();
        let writer = Writer::in_memory(file.clone())?;
        Ok(SqliteStore(Arc::new(Inner {
            file,
            writer,
            readers: None,
            writes_here: true,
            tails: Tails::default(),
            failed_releases: Arc::default(),
        })))
    }

    /// Writes on the caller's thread if that is quick (`now`), or on the writer's (`later` makes an operation that owns its data).
    async fn write_now_or_later<T, L>(
        &self,
        thread: Option<&str>,
        size: usize,
        now: impl FnOnce(&Connection) -> Result<T, TransactionError>,
        later: impl FnOnce() -> L,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        L: FnMut(&Connection) -> Result<T, TransactionError> + Send + 'static,
    {
        if let Some(result) = self.write_here(thread, size, now) {
            return result;
        }
        self.write_on_thread(thread, later()).await
    }

    /// Writes on the caller's thread if that is quick.
    pub(crate) fn write_here<T>(
        &self,
        thread: Option<&str>,
        size: usize,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError>,
    ) -> Option<Result<T, StoreError>> {
        self.run_here(thread, size, |connection| {
            transaction::commit_one(connection, work)
        })
    }

    /// Writes on the caller's thread if that is quick. `work` begins and ends its own transaction.
    fn run_here<T>(
        &self,
        thread: Option<&str>,
        size: usize,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError>,
    ) -> Option<Result<T, StoreError>> {
        let writer = &self.0.writer;
        if self.0.readers.is_none() {
            return Some(writer.run_here(thread, work));
        }
        (self.0.writes_here && size <= MAX_BYTES_HERE)
            .then(|| writer.try_here(thread, work))
            .flatten()
    }

    /// Writes on the writer's thread.
    pub(crate) async fn write_on_thread<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnMut(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.run_on_thread(thread, work).await
    }

    /// Releases the claims whose release failed, before anything that is written later.
    fn retry_releases(&self) {
        let failed = std::mem::take(&mut *lock(&self.0.failed_releases));
        for (thread, owner) in failed {
            self.release(&thread, &owner);
        }
    }

    /// Reads on one of the reading threads.
    pub(crate) async fn read_on_thread<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.0.readers {
            Some(readers) => readers.read(thread, work).await,
            None => self.0.writer.run_here(thread, work),
        }
    }
}

impl SqliteOptions {
    /// Opens the store, and creates the file if it does not exist.
    ///
    /// # Errors
    ///
    /// See [`SqliteStore::open`].
    ///
    /// # Cancel safety
    ///
    /// As [`SqliteStore::open`].
    pub async fn open(self) -> Result<SqliteStore, StoreError> {
        // An absolute path cannot be taken for `:memory:` or a URI, and does not depend on the working folder.
        let path = std::path::absolute(&self.path).map_err(|error| {
            let message = format!("`{}` is not a path to a file", self.path.display());
            DatabaseFile::unavailable(message, Some(error))
        })?;
        let file = DatabaseFile {
            path: path.into(),
            busy_timeout: self.busy_timeout,
            opened: Arc::default(),
        };
        let (readers, gone) = Readers::new(file.clone(), self.read_connections);
        let writes_here = self.synchronous == Synchronous::Normal;
        let writer = Writer::open(self, file.clone(), gone).await?;
        Ok(SqliteStore(Arc::new(Inner {
            file,
            writer,
            readers: Some(readers),
            writes_here,
            tails: Tails::default(),
            failed_releases: Arc::default(),
        })))
    }
}

/// An address that owns its texts.
struct OwnedAddress {
    thread: String,
    namespace: String,
}

impl From<Address<'_>> for OwnedAddress {
    fn from(address: Address<'_>) -> Self {
        OwnedAddress {
            thread: address.thread.into(),
            namespace: address.namespace.into(),
        }
    }
}

impl OwnedAddress {
    fn address(&self) -> Address<'_> {
        Address {
            thread: &self.thread,
            namespace: &self.namespace,
        }
    }
}

/// A [`ThreadChange`] that owns its texts.
enum OwnedChange {
    Status(String, ThreadStatus, Option<u64>),
    Labels(BTreeMap<String, String>),
}

impl From<ThreadChange<'_>> for OwnedChange {
    fn from(change: ThreadChange<'_>) -> Self {
        match change {
            ThreadChange::Status {
                flow,
                status,
                due_ms,
            } => OwnedChange::Status(flow.into(), status, due_ms),
            ThreadChange::Labels(labels) => OwnedChange::Labels(labels.clone()),
        }
    }
}

impl OwnedChange {
    fn change(&self) -> ThreadChange<'_> {
        match self {
            OwnedChange::Status(flow, status, due_ms) => ThreadChange::Status {
                flow,
                status: *status,
                due_ms: *due_ms,
            },
            OwnedChange::Labels(labels) => ThreadChange::Labels(labels),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let (thread, size) = (Some(address.thread), checkpoint.bytes.len());
        let known = self.0.tails.get(address);
        if let Some(tail) = known.filter(|tail| {
            settled.is_empty() && Some(tail.newest) == after && !counts::covers_newest(address)
        }) && let Some(Ok(Some(added))) = self.run_here(thread, size, |connection| {
            transaction::alone(connection, |connection| {
                let alone = Alone {
                    thread: address.thread,
                    owner,
                };
                log::add_to_last_row(connection, &tail, checkpoint, Some(alone))
            })
        }) {
            self.0.tails.set(address, added);
            return Ok(());
        }
        let added = self.write_now_or_later(
            thread,
            size,
            |connection| {
                change::append(
                    connection, address, checkpoint, after, &settled, known, owner,
                )
            },
            || {
                let (owned, checkpoint) = (OwnedAddress::from(address), checkpoint.clone());
                let (settled, owner) = (settled.clone(), owner.map(String::from));
                move |connection: &Connection| {
                    let (address, owner) = (owned.address(), owner.as_deref());
                    change::append(
                        connection,
                        address,
                        &checkpoint,
                        after,
                        &settled,
                        known,
                        owner,
                    )
                }
            },
        );
        self.0.tails.set(address, added.await?);
        Ok(())
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write_now_or_later(
            Some(address.thread),
            writes.iter().map(|write| write.bytes.len()).sum(),
            |connection| change::write(connection, address, seq, writes, owner),
            || {
                let (owned, writes) = (OwnedAddress::from(address), writes.to_vec());
                let owner = owner.map(String::from);
                move |connection: &Connection| {
                    change::write(connection, owned.address(), seq, &writes, owner.as_deref())
                }
            },
        )
        .await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write_now_or_later(
            Some(thread),
            changes.iter().map(StoreChange::size).sum(),
            |connection| change::apply(connection, thread, changes, owner),
            || {
                let (thread, changes) = (thread.to_string(), changes.to_vec());
                let owner = owner.map(String::from);
                move |connection: &Connection| {
                    change::apply(connection, &thread, &changes, owner.as_deref())
                }
            },
        )
        .await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let owned = OwnedAddress::from(address);
        let work = move |connection: &Connection| query::read(connection, owned.address(), seq);
        self.read_on_thread(Some(address.thread), work).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let owned = OwnedAddress::from(address);
        let work = move |connection: &Connection| query::writes(connection, owned.address(), &seqs);
        self.read_on_thread(Some(address.thread), work).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let owned = OwnedAddress::from(address);
        let work = move |connection: &Connection| {
            query::history(connection, owned.address(), before, limit)
        };
        self.read_on_thread(Some(address.thread), work).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let owned = thread.to_string();
        let work = move |connection: &Connection| query::namespaces(connection, &owned);
        self.read_on_thread(Some(thread), work).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let listing = Listing::new(&query);
        let work = move |connection: &Connection| listing::threads(connection, &listing);
        self.read_on_thread(None, work).await
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        // Counts have no pages.
        let listing = Listing::new(&ThreadQuery {
            after: None,
            ..query
        });
        let work = move |connection: &Connection| listing::counts(connection, &listing);
        self.read_on_thread(None, work).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write_now_or_later(
            Some(thread),
            0,
            |connection| listing::describe(connection, thread, change, owner),
            || {
                let (thread, change) = (thread.to_string(), OwnedChange::from(change));
                let owner = owner.map(String::from);
                move |connection: &Connection| {
                    listing::describe(connection, &thread, change.change(), owner.as_deref())
                }
            },
        )
        .await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write_now_or_later(
            Some(address.thread),
            usize::MAX,
            |connection| change::prune(connection, address, seq, writes, owner),
            || {
                let (owned, owner) = (OwnedAddress::from(address), owner.map(String::from));
                move |connection: &Connection| {
                    change::prune(connection, owned.address(), seq, writes, owner.as_deref())
                }
            },
        )
        .await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.delete_many(&[thread], owner).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let owned: Vec<String> = threads.iter().map(ToString::to_string).collect();
        let owner = owner.map(String::from);
        let thread = (threads.len() == 1).then(|| threads[0]);
        let work = move |connection: &Connection| {
            change::delete_many(connection, &owned, owner.as_deref())
        };
        let lost = if self.0.readers.is_none() {
            let writer = &self.0.writer;
            writer.run_here(thread, |connection| {
                transaction::commit_one(connection, work)
            })
        } else {
            self.write_on_thread(thread, work).await
        };
        lost?.map_or(Ok(()), Err)
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        let thread = thread.to_owned();
        let count = move |connection: &Connection| listing::deletions(connection, &thread);
        self.read_on_thread(None, count).await
    }

    /// Returns the free pages of the file to the file system, some at a time, and empties the log. Other writes go on in
    /// between. A file that an unreleased version of this crate has created keeps its free pages.
    async fn reclaim(&self) -> Result<(), StoreError> {
        if self.0.readers.is_none() {
            return Ok(());
        }
        let mut left = i64::MAX;
        loop {
            let free = self.write_on_thread(None, listing::reclaim_pages).await?;
            // Pages may become free at the same time.
            if free == 0 || free >= left {
                break;
            }
            left = free;
        }
        let empty_log = self.0.writer.empty_log();
        self.read_on_thread(None, |_| empty_log()).await
    }

    /// Checks the pages and indices of the file, and looks for rows of no thread.
    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.read_on_thread(None, verify::verify).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.retry_releases();
        let lock_file = self.0.writer.lock_file();
        let later = lock_file.clone();
        self.write_now_or_later(
            Some(thread),
            0,
            |connection| claims::claim(connection, thread, owner, lock_file.as_deref()),
            || {
                let (thread, owner) = (thread.to_string(), owner.to_string());
                move |connection: &Connection| {
                    claims::claim(connection, &thread, &owner, later.as_deref())
                }
            },
        )
        .await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        let (of, by) = (thread.to_string(), owner.to_string());
        let work = move |connection: &Connection| claims::is_held(connection, &of, &by);
        self.read_on_thread(Some(thread), work).await
    }

    fn release(&self, thread: &str, owner: &str) {
        let (of, by) = (thread.to_string(), owner.to_string());
        let work = move |connection: &Connection| claims::release(connection, &of, &by);
        let failed = Arc::clone(&self.0.failed_releases);
        let claim = (thread.to_string(), owner.to_string());
        let report = move |result: Result<(), StoreError>| {
            if result.is_err() {
                lock(&failed).push(claim);
            }
        };
        let writer = &self.0.writer;
        if self.0.readers.is_none() {
            report(writer.run_here(Some(thread), work));
        } else {
            writer.queue(Some(thread), work, report);
        }
    }
}

fn lock(releases: &Mutex<Vec<Release>>) -> MutexGuard<'_, Vec<Release>> {
    // No panic can leave it half-changed.
    releases.lock().unwrap_or_else(PoisonError::into_inner)
}
