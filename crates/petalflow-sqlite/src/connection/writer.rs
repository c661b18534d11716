//! The connection that writes, and the thread that owns it.
//!
//! A store has one connection that writes, because SQLite allows one write transaction at a time. With `Synchronous::Full` a
//! commit waits for the disk: the thread waits instead of the caller, and the writes that arrive meanwhile share the next
//! commit.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use rusqlite::{Connection, MAIN_DB, wal::CheckpointMode};
use tokio::sync::oneshot;

use super::open;
use super::queued_write::{ClosureWrite, QueuedWrite};
use super::transaction::{commit_group, commit_one};
use crate::error::{DatabaseFile, FileId, TransactionError};
use crate::lock_file::LockFile;
use crate::options::SqliteOptions;
use crate::statements::claims;

/// The most writes that share a commit. With more, the first of them would wait too long.
const MAX_GROUP: usize = 512;

/// The write-ahead log is moved into the database when it has grown by this many pages, so that it has less than a megabyte.
const LOG_PAGES: i32 = 850;

/// The length of the log is checked once per this many writes: a check is slow compared with a small write.
const CHECK_LOG_EVERY: u32 = 8;

/// The handle of the writer's thread. The thread ends when the handle is dropped and the queue is empty.
pub(crate) struct Writer(Arc<Shared>);

struct Shared {
    file: DatabaseFile,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// `None` when the thread has ended. Between transactions `busy_timeout` is zero, so that a write on the caller's thread does
    /// not wait for other processes.
    connection: Mutex<Option<Connection>>,
    lock_file: Option<Arc<LockFile>>,
    /// How many writes were made on callers' threads.
    writes_here: AtomicU32,
}

#[derive(Default)]
struct Queue {
    writes: VecDeque<Box<dyn QueuedWrite>>,
    /// The handle is dropped, or the thread has ended.
    closed: bool,
}

/// The error of a store whose thread has ended, which only a bug can cause.
fn thread_ended(file: &DatabaseFile) -> StoreError {
    DatabaseFile::unavailable(
        format!(
            "the thread that writes to `{}` has ended: open the store again",
            file.path.display()
        ),
        None,
    )
}

impl Writer {
    /// Starts the thread and opens the connection there. When the thread ends it waits until `readers` is closed.
    pub(crate) async fn open(
        options: SqliteOptions,
        file: DatabaseFile,
        readers: Receiver<Infallible>,
    ) -> Result<Self, StoreError> {
        let (reply, opened) = oneshot::channel();
        let spawned = std::thread::Builder::new()
            .name("petalflow-sqlite".into())
            .spawn({
                let file = file.clone();
                move || {
                    let shared = match open(&options, &file) {
                        Ok(shared) => Arc::new(shared),
                        Err(failure) => {
                            let _ = reply.send(Err(file.store_error(failure, None)));
                            return;
                        }
                    };
                    if reply.send(Ok(Writer(Arc::clone(&shared)))).is_ok() {
                        Thread(shared).work(&readers);
                    }
                }
            });
        spawned.map_err(|error| {
            DatabaseFile::unavailable("no thread can be started".into(), Some(error))
        })?;
        opened.await.unwrap_or_else(|_| Err(thread_ended(&file)))
    }

    /// A writer of a database in memory: it has no thread, and every write runs on the caller's thread.
    pub(crate) fn in_memory(file: DatabaseFile) -> Result<Self, StoreError> {
        let connection =
            open::open_memory(&file).map_err(|failure| file.store_error(failure, None))?;
        Ok(Writer(Arc::new(Shared::new(file, connection, None))))
    }

    /// The lock file, unless the database is in memory.
    pub(crate) fn lock_file(&self) -> Option<Arc<LockFile>> {
        self.0.lock_file.clone()
    }

    /// Queues a write for the thread. `report` is called with the result on that thread.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnMut(&Connection) -> Result<T, TransactionError> + Send + 'static,
        report: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let write = ClosureWrite::new(thread, work, report);
        let mut queue = lock(&self.0.queue);
        if !queue.closed {
            queue.writes.push_back(Box::new(write));
            self.0.wake.notify_one();
        }
    }

    /// Writes on the thread.
    pub(crate) async fn run_on_thread<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnMut(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        self.queue(thread, work, |result| {
            // The caller may have dropped its future.
            let _ = reply.send(result);
        });
        // If the thread has ended, the write was dropped, and the channel with it.
        result
            .await
            .unwrap_or_else(|_| Err(thread_ended(&self.0.file)))
    }

    /// Writes on the caller's thread, in transactions of its own. `None`, without any effect, if other writes are queued, another
    /// process is writing, or a transaction is being committed.
    pub(crate) fn try_here<T>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError>,
    ) -> Option<Result<T, StoreError>> {
        let connection = match self.0.connection.try_lock() {
            Ok(connection) => connection,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let connection = connection.as_ref()?;
        // Checked under the connection's lock, which the thread takes first: no write is between the queue and the connection.
        if !lock(&self.0.queue).writes.is_empty() {
            return None;
        }
        let present = self.0.file.check_present();
        let result = present.and_then(|()| work(connection));
        if matches!(&result, Err(failure) if failure.is_busy()) {
            return None;
        }
        let writes = self.0.writes_here.fetch_add(1, Ordering::Relaxed);
        if writes.is_multiple_of(CHECK_LOG_EVERY) && log_is_long(connection) {
            self.0.wake.notify_one();
        }
        Some(result.map_err(|failure| self.0.file.store_error(failure, thread)))
    }

    /// Moves the whole log into the database and empties it. Waits for the disk, and for writes and readers in progress.
    pub(crate) fn empty_log(&self) -> impl FnOnce() -> Result<(), TransactionError> + Send + use<> {
        let shared = Arc::clone(&self.0);
        move || {
            // Under this lock the thread does not move the log at the same time, which would be an error here.
            let connection = lock(&shared.connection);
            let mut emptied = Ok(());
            if let Some(connection) = connection.as_ref() {
                with_busy_timeout(connection, shared.file.busy_timeout, || {
                    let moved = connection
                        .wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::TRUNCATE)
                        .map(|_| ());
                    emptied = moved.map_err(Into::into);
                });
            }
            emptied
        }
    }

    /// Runs an operation on the caller's thread, after those that run at the moment. For a database in memory.
    pub(crate) fn run_here<T>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError>,
    ) -> Result<T, StoreError> {
        let connection = lock(&self.0.connection);
        let Some(connection) = connection.as_ref() else {
            return Err(thread_ended(&self.0.file));
        };
        work(connection).map_err(|failure| self.0.file.store_error(failure, thread))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        lock(&self.0.queue).closed = true;
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn new(file: DatabaseFile, connection: Connection, lock_file: Option<Arc<LockFile>>) -> Self {
        Shared {
            file,
            queue: Mutex::default(),
            wake: Condvar::new(),
            connection: Mutex::new(Some(connection)),
            lock_file,
            writes_here: AtomicU32::new(0),
        }
    }
}

fn open(options: &SqliteOptions, file: &DatabaseFile) -> Result<Shared, TransactionError> {
    let connection = open::open_writer(options, file)?;
    connection.busy_timeout(Duration::ZERO)?;
    // The file exists now, so its canonical path can be found.
    let missing = |error| {
        TransactionError::Refused(DatabaseFile::unavailable(
            format!("`{}` was removed while it was opened", file.path.display()),
            Some(error),
        ))
    };
    let database = std::fs::canonicalize(&file.path).map_err(missing)?;
    let id = FileId::of(&file.path).map_err(missing)?;
    file.opened.get_or_init(|| id);
    let lock_file = Arc::new(LockFile::new(database));
    Ok(Shared::new(file.clone(), connection, Some(lock_file)))
}

/// The writer's thread. However it ends, all callers that wait for it get a result.
struct Thread(Arc<Shared>);

impl Thread {
    fn work(self, readers: &Receiver<Infallible>) {
        while self.wait() {
            let connection = lock(&self.0.connection);
            let Some(connection) = connection.as_ref() else {
                return;
            };
            // Taken under the lock of the connection: see `Writer::try_here`.
            let mut queue = lock(&self.0.queue);
            let most = queue.writes.len().min(MAX_GROUP);
            let writes: Vec<_> = queue.writes.drain(..most).collect();
            drop(queue);
            if let Err(failure) = self.0.file.check_present() {
                for write in writes {
                    write.failed(failure.copy(), &self.0.file);
                }
                continue;
            }
            if !writes.is_empty() {
                with_busy_timeout(connection, self.0.file.busy_timeout, || {
                    commit_group(connection, &self.0.file, writes);
                });
            }
            if log_is_long(connection) {
                // Pages that a reader still needs stay until the next time. A failure loses nothing.
                let _ = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE);
            }
        }
        self.release_claims();
        // Nothing is ever sent: this waits until all readers have closed their connections.
        let _ = readers.recv();
    }

    /// Waits until there is work. False if there will be no more.
    fn wait(&self) -> bool {
        let mut queue = lock(&self.0.queue);
        loop {
            if !queue.writes.is_empty() {
                return true;
            }
            if queue.closed {
                return false;
            }
            let woken = self.0.wake.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
            if queue.writes.is_empty() && !queue.closed {
                // Woken to move the log.
                return true;
            }
        }
    }

    /// Releases what the store has claimed. If that fails, the lock file shows that the claims are void.
    fn release_claims(&self) {
        let Some(lock_file) = self.0.lock_file.as_ref().filter(|it| it.exists()) else {
            return;
        };
        if let Some(connection) = lock(&self.0.connection).as_ref() {
            let _ = commit_one(connection, |connection| {
                claims::release_all(connection, lock_file)
            });
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        queue.closed = true;
        let writes = std::mem::take(&mut queue.writes);
        drop(queue);
        drop(writes);
        // Closed on this thread rather than on that of the last handle: closing the last connection to a file moves the log,
        // which waits for the disk.
        let connection = lock(&self.0.connection).take();
        drop(connection);
    }
}

/// Lets SQLite wait for other processes while `work` runs.
fn with_busy_timeout(connection: &Connection, busy_timeout: Duration, work: impl FnOnce()) {
    let _ = connection.busy_timeout(busy_timeout);
    work();
    let _ = connection.busy_timeout(Duration::ZERO);
}

/// Whether the log is long enough to be moved into the database.
fn log_is_long(connection: &Connection) -> bool {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
        Ok((pages, moved)) => pages - moved >= LOG_PAGES,
        Err(_) => false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data is consistent at all times: a transaction that a panic has left open is rolled back before the next begins.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
