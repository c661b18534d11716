//! The one connection of a store that writes, and the thread behind it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use rusqlite::{Connection, MAIN_DB, wal::CheckpointMode};
use tokio::sync::oneshot;

use crate::claims;
use crate::connect;
use crate::job::{Job, Task};
use crate::options::SqliteOptions;
use crate::presence::Presence;
use crate::problem::{Failure, FileId, Place};
use crate::transaction::{alone, together};

/// More jobs than this do not share a commit: the first of them would wait too long.
const MOST_TOGETHER: usize = 512;

/// The log is moved into the database when it has grown by this many pages.
const LOG_PAGES: i32 = 1_000;

/// Whether it has is looked at after so many changes: a change is small, and to look takes a while beside it.
const LOOK_EVERY: u32 = 8;

/// Takes jobs, and does those that came while a transaction was syncing in the next one.
///
/// A handle; the thread ends when it is dropped and the jobs are done.
pub(crate) struct Writer(Arc<Shared>);

struct Shared {
    place: Place,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// None when the thread has ended. Between transactions it waits for nobody: `busy_timeout` is zero.
    connection: Mutex<Option<Connection>>,
    presence: Option<Arc<Presence>>,
    /// How many changes were made without the thread.
    changes: AtomicU32,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Box<dyn Job>>,
    /// No handle is left, or the thread is gone.
    closed: bool,
}

/// The error of a store whose thread is gone, which only a bug can bring about.
fn gone(place: &Place) -> StoreError {
    Place::unavailable(
        format!(
            "the thread that writes to `{}` has ended: open the store again",
            place.path.display()
        ),
        None,
    )
}

impl Writer {
    /// Opens the connection on the writer's own thread, which waits for locks and the disk, and in the end for the readers to
    /// hang up.
    pub(crate) async fn open(
        options: SqliteOptions,
        place: Place,
        readers: Receiver<Infallible>,
    ) -> Result<Self, StoreError> {
        let (reply, opened) = oneshot::channel();
        let spawned = std::thread::Builder::new()
            .name("petalflow-sqlite".into())
            .spawn({
                let place = place.clone();
                move || {
                    let shared = match open(&options, &place) {
                        Ok(shared) => Arc::new(shared),
                        Err(failure) => {
                            let _ = reply.send(Err(place.explain(failure, None)));
                            return;
                        }
                    };
                    if reply.send(Ok(Writer(Arc::clone(&shared)))).is_ok() {
                        Thread(shared).work(&readers);
                    }
                }
            });
        spawned
            .map_err(|error| Place::unavailable("no thread can be started".into(), Some(error)))?;
        opened.await.unwrap_or_else(|_| Err(gone(&place)))
    }

    /// A writer of a database in memory: all is done where it is called, and there is no thread.
    pub(crate) fn in_memory(place: Place) -> Result<Self, StoreError> {
        let connection = connect::memory(&place).map_err(|failure| place.explain(failure, None))?;
        Ok(Writer(Arc::new(Shared::new(place, connection, None))))
    }

    /// By which other processes know that this one is alive.
    pub(crate) fn presence(&self) -> Option<Arc<Presence>> {
        self.0.presence.clone()
    }

    /// Leaves a job to the thread.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (task, result) = Task::new(thread, work);
        let mut queue = lock(&self.0.queue);
        // Dropping the job tells who waits.
        if !queue.closed {
            queue.jobs.push_back(Box::new(task));
            self.0.wake.notify_one();
        }
        result
    }

    /// What becomes of a job that was left to the thread.
    pub(crate) async fn outcome<T>(
        &self,
        result: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        result.await.unwrap_or_else(|_| Err(gone(&self.0.place)))
    }

    /// Does a job here and now, unless others wait, another process is writing, or a transaction is syncing.
    pub(crate) fn at_once<T>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Option<Result<T, StoreError>> {
        let connection = match self.0.connection.try_lock() {
            Ok(connection) => connection,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let connection = connection.as_ref()?;
        // Looked at while holding the connection, which the thread takes first: no job is between queue and connection.
        if !lock(&self.0.queue).jobs.is_empty() {
            return None;
        }
        let there = self.0.place.is_there();
        let result = there.and_then(|()| alone(connection, work));
        if matches!(&result, Err(failure) if failure.is_busy()) {
            return None;
        }
        let changes = self.0.changes.fetch_add(1, Ordering::Relaxed);
        if changes.is_multiple_of(LOOK_EVERY) && log_is_long(connection) {
            self.0.wake.notify_one();
        }
        Some(result.map_err(|failure| self.0.place.explain(failure, thread)))
    }

    /// Does a job here and now, waiting for others that do; for a database in memory.
    pub(crate) fn here<T>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let connection = lock(&self.0.connection);
        let Some(connection) = connection.as_ref() else {
            return Err(gone(&self.0.place));
        };
        work(connection).map_err(|failure| self.0.place.explain(failure, thread))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        lock(&self.0.queue).closed = true;
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn new(place: Place, connection: Connection, presence: Option<Arc<Presence>>) -> Self {
        Shared {
            place,
            queue: Mutex::default(),
            wake: Condvar::new(),
            connection: Mutex::new(Some(connection)),
            presence,
            changes: AtomicU32::new(0),
        }
    }
}

fn open(options: &SqliteOptions, place: &Place) -> Result<Shared, Failure> {
    let connection = connect::writer(options, place)?;
    connection.busy_timeout(Duration::ZERO)?;
    // The file is there now, so the place where it really is can be found.
    let gone = |error| {
        Failure::Refused(Place::unavailable(
            format!("`{}` has gone", place.path.display()),
            Some(error),
        ))
    };
    let database = std::fs::canonicalize(&place.path).map_err(gone)?;
    let file = FileId::of(&place.path).map_err(gone)?;
    place.file.get_or_init(|| file);
    let presence = Arc::new(Presence::new(database));
    Ok(Shared::new(place.clone(), connection, Some(presence)))
}

/// The writer's thread. However it ends, nobody waits for it in vain.
struct Thread(Arc<Shared>);

impl Thread {
    fn work(self, readers: &Receiver<Infallible>) {
        while self.wait() {
            let connection = lock(&self.0.connection);
            let Some(connection) = connection.as_ref() else {
                return;
            };
            // Taken while holding the connection: see `Writer::at_once`.
            let mut queue = lock(&self.0.queue);
            let most = queue.jobs.len().min(MOST_TOGETHER);
            let jobs: Vec<_> = queue.jobs.drain(..most).collect();
            drop(queue);
            if let Err(failure) = self.0.place.is_there() {
                for job in jobs {
                    job.failed(failure.copy(), &self.0.place);
                }
                continue;
            }
            if !jobs.is_empty() {
                patiently(connection, self.0.place.patience, || {
                    together(connection, &self.0.place, jobs);
                });
            }
            if log_is_long(connection) {
                // What a reader still needs stays; the next time it goes. Failing to move the log loses nothing.
                let _ = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE);
            }
        }
        self.say_goodbye();
        // An error is all that can come: nobody sends.
        let _ = readers.recv();
    }

    /// Waits until there is something to do; false when there will be nothing any more.
    fn wait(&self) -> bool {
        let mut queue = lock(&self.0.queue);
        loop {
            if !queue.jobs.is_empty() {
                return true;
            }
            if queue.closed {
                return false;
            }
            let woken = self.0.wake.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
            if queue.jobs.is_empty() && !queue.closed {
                // Woken for the log.
                return true;
            }
        }
    }

    /// Gives back what the store had claimed. If that fails, the lock file says it all the same.
    fn say_goodbye(&self) {
        let Some(presence) = self.0.presence.as_ref().filter(|it| it.is_announced()) else {
            return;
        };
        if let Some(connection) = lock(&self.0.connection).as_ref() {
            let _ = alone(connection, |connection| {
                claims::release_all(connection, presence)
            });
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        queue.closed = true;
        let jobs = std::mem::take(&mut queue.jobs);
        drop(queue);
        drop(jobs);
        // Closed here rather than where the last handle is dropped: the last connection to a file moves its log, which syncs.
        let connection = lock(&self.0.connection).take();
        drop(connection);
    }
}

/// Lets SQLite wait for other processes while something is done.
fn patiently(connection: &Connection, patience: Duration, work: impl FnOnce()) {
    let _ = connection.busy_timeout(patience);
    work();
    let _ = connection.busy_timeout(Duration::ZERO);
}

/// Whether it is time to move the log into the database.
fn log_is_long(connection: &Connection) -> bool {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::NOOP) {
        Ok((pages, moved)) => pages - moved >= LOG_PAGES,
        Err(_) => false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What they guard is consistent at all times: a transaction that was cut short by a panic is ended before the next begins.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
