//! The store itself: which thread an operation runs on, and the [`Store`] contract.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
use rusqlite::Connection;

use crate::options::{SqliteOptions, Synchronous};
use crate::problem::Failure;
use crate::problem::Place;
use crate::readers::Readers;
use crate::writer::Writer;
use crate::{change, claims, query, transaction};

/// What is larger is written on the writer's thread in any case: copying it takes long enough to be noticed.
const LARGE: usize = 64 * 1024;

/// Keeps checkpoints in an SQLite database: a file, which several processes on one machine can share, or memory. Clones share
/// their connections, and the last one to go leaves its thread to finish what is queued.
///
/// A thread that is claimed becomes free when the process that has claimed it ends, in whatever way, and when the store it
/// was claimed with is dropped. For that a store which claims keeps a file `….db-lock-…` beside the database; do not delete
/// it while the process runs. The database itself must stay where it is as well: once it was deleted, moved or replaced, each
/// call is an error until the file is back or the store is opened again.
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
    place: Place,
    writer: Writer,
    /// None for a database in memory, which has one connection only.
    readers: Option<Readers>,
    /// Whether small changes are made where they are called if the writer is idle: a commit then is a write to the page cache,
    /// and shorter than the way to another thread and back.
    at_once: bool,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.0.place.path)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the database at this path, and makes it if there is none. Its folder must exist, and be on a local disk.
    ///
    /// # Errors
    ///
    /// [`NewerLayout`](StoreError::NewerLayout) if a newer petalflow has written it. [`Unavailable`](StoreError::Unavailable) if
    /// it cannot be opened or written just now. [`Other`](StoreError::Other) if it is no database, or one of another program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the file as it was or as it should be; a new one may be left, ready to be used.
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

    /// A database in memory, which ends with the last clone.
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
        let place = Place {
            path: Path::new(":memory:").into(),
            patience: Duration::ZERO,
            file: Arc::default(),
        };
        let writer = Writer::in_memory(place.clone())?;
        Ok(SqliteStore(Arc::new(Inner {
            place,
            writer,
            readers: None,
            at_once: true,
        })))
    }

    pub(crate) async fn open_with(options: SqliteOptions) -> Result<Self, StoreError> {
        // From here on a path that cannot be taken for `:memory:` or a URI, or change its meaning with the working folder.
        let path = std::path::absolute(&options.path).map_err(|error| {
            let words = format!("`{}` is no path to a file", options.path.display());
            Place::unavailable(words, Some(error))
        })?;
        let place = Place {
            path: path.into(),
            patience: options.busy_timeout,
            file: Arc::default(),
        };
        let (readers, gone) = Readers::new(place.clone(), options.read_connections);
        let at_once = options.synchronous == Synchronous::Normal;
        let writer = Writer::open(options, place.clone(), gone).await?;
        Ok(SqliteStore(Arc::new(Inner {
            place,
            writer,
            readers: Some(readers),
            at_once,
        })))
    }

    /// Changes something: here and now if that is quick, and otherwise on the writer's thread, for which `later` owns what it
    /// needs.
    async fn change<T, L>(
        &self,
        thread: Option<&str>,
        size: usize,
        now: impl FnOnce(&Connection) -> Result<T, Failure>,
        later: impl FnOnce() -> L,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        L: FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        if let Some(result) = self.change_here(thread, size, now) {
            return result;
        }
        self.change_later(thread, later()).await
    }

    /// Changes something here and now if that is quick.
    pub(crate) fn change_here<T>(
        &self,
        thread: Option<&str>,
        size: usize,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Option<Result<T, StoreError>> {
        let writer = &self.0.writer;
        if self.0.readers.is_none() {
            return Some(writer.here(thread, |connection| transaction::alone(connection, work)));
        }
        (self.0.at_once && size <= LARGE)
            .then(|| writer.at_once(thread, work))
            .flatten()
    }

    /// Changes something on the writer's thread.
    pub(crate) async fn change_later<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let writer = &self.0.writer;
        writer.outcome(writer.queue(thread, work)).await
    }

    /// Reads something.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.0.readers {
            Some(readers) => readers.read(thread, work).await,
            None => self.0.writer.here(thread, work),
        }
    }
}

/// An address that outlives the call.
struct Owned {
    thread: String,
    namespace: String,
}

impl From<Address<'_>> for Owned {
    fn from(address: Address<'_>) -> Self {
        Owned {
            thread: address.thread.into(),
            namespace: address.namespace.into(),
        }
    }
}

impl Owned {
    fn address(&self) -> Address<'_> {
        Address {
            thread: &self.thread,
            namespace: &self.namespace,
        }
    }
}

impl Store for SqliteStore {
    fn append<'a>(
        &'a self,
        address: Address<'a>,
        checkpoint: &'a StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.change(
                Some(address.thread),
                checkpoint.bytes.len(),
                |connection| change::append(connection, address, checkpoint, after, &settled),
                || {
                    let (owned, checkpoint) = (Owned::from(address), checkpoint.clone());
                    let settled = settled.clone();
                    move |connection: &Connection| {
                        change::append(connection, owned.address(), &checkpoint, after, &settled)
                    }
                },
            )
            .await
        })
    }

    fn write<'a>(
        &'a self,
        address: Address<'a>,
        seq: u64,
        writes: &'a [StoredWrite],
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.change(
                Some(address.thread),
                writes.iter().map(|write| write.bytes.len()).sum(),
                |connection| change::write(connection, address, seq, writes),
                || {
                    let (owned, writes) = (Owned::from(address), writes.to_vec());
                    move |connection: &Connection| {
                        change::write(connection, owned.address(), seq, &writes)
                    }
                },
            )
            .await
        })
    }

    fn read<'a>(
        &'a self,
        address: Address<'a>,
        seq: Option<u64>,
    ) -> StoreFuture<'a, Option<Stored>> {
        let owned = Owned::from(address);
        let work = move |connection: &Connection| query::read(connection, owned.address(), seq);
        Box::pin(self.look(Some(address.thread), work))
    }

    fn writes<'a>(
        &'a self,
        address: Address<'a>,
        seqs: Range<u64>,
    ) -> StoreFuture<'a, Vec<(u64, StoredWrite)>> {
        let owned = Owned::from(address);
        let work = move |connection: &Connection| query::writes(connection, owned.address(), &seqs);
        Box::pin(self.look(Some(address.thread), work))
    }

    fn history<'a>(
        &'a self,
        address: Address<'a>,
        before: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredCheckpoint>> {
        let owned = Owned::from(address);
        let work = move |connection: &Connection| {
            query::history(connection, owned.address(), before, limit)
        };
        Box::pin(self.look(Some(address.thread), work))
    }

    fn namespaces<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, Vec<String>> {
        let owned = thread.to_string();
        let work = move |connection: &Connection| query::namespaces(connection, &owned);
        Box::pin(self.look(Some(thread), work))
    }

    fn threads<'a>(&'a self, query: ThreadQuery<'a>) -> StoreFuture<'a, Vec<ThreadInfo>> {
        let prefix = query.prefix.to_string();
        let after = query.after.map(ToString::to_string);
        let work = move |connection: &Connection| {
            let query = ThreadQuery {
                prefix: &prefix,
                after: after.as_deref(),
                limit: query.limit,
            };
            query::threads(connection, query)
        };
        Box::pin(self.look(None, work))
    }

    fn prune<'a>(&'a self, address: Address<'a>, seq: u64) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.change(
                Some(address.thread),
                usize::MAX,
                |connection| change::prune(connection, address, seq),
                || {
                    let owned = Owned::from(address);
                    move |connection: &Connection| change::prune(connection, owned.address(), seq)
                },
            )
            .await
        })
    }

    fn delete<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.change(
                Some(thread),
                usize::MAX,
                |connection| change::delete(connection, thread),
                || {
                    let thread = thread.to_string();
                    move |connection: &Connection| change::delete(connection, &thread)
                },
            )
            .await
        })
    }

    fn claim<'a>(&'a self, thread: &'a str, owner: &'a str) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            let presence = self.0.writer.presence();
            let later = presence.clone();
            self.change(
                Some(thread),
                0,
                |connection| claims::claim(connection, thread, owner, presence.as_deref()),
                || {
                    let (thread, owner) = (thread.to_string(), owner.to_string());
                    move |connection: &Connection| {
                        claims::claim(connection, &thread, &owner, later.as_deref())
                    }
                },
            )
            .await
        })
    }

    fn release(&self, thread: &str, owner: &str) {
        let writer = &self.0.writer;
        if self.0.readers.is_none() {
            // A failure is one of memory: the claim stays, as after a process that could not say goodbye.
            let _ = writer.here(Some(thread), |connection| {
                claims::release(connection, thread, owner)
            });
            return;
        }
        let (of, owner) = (thread.to_string(), owner.to_string());
        // Nobody waits. If it fails, the claim ends with the store.
        drop(writer.queue(Some(thread), move |connection| {
            claims::release(connection, &of, &owner)
        }));
    }
}
