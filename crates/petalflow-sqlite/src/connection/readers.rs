//! The connections that read, each on a thread of its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use petalflow::checkpoint::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::open::open_reader;
use crate::error::{DatabaseFile, TransactionError};

/// A read that waits for a connection, or for the error of opening one.
type Read = Box<dyn FnOnce(Result<&Connection, TransactionError>) + Send>;

/// The handle of the reading threads. A thread is started when all others are busy. All end with the handle.
pub(crate) struct Readers {
    shared: Arc<Shared>,
    /// The handle and each thread own a clone.
    alive: Sender<Infallible>,
}

struct Shared {
    file: DatabaseFile,
    most: usize,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    reads: VecDeque<Read>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Readers {
    /// Starts no thread yet, and at most `most`. The channel closes when the handle and all threads are gone. The writer
    /// waits for that: the connection that is closed last moves the log, and if two were closed at the same moment, neither
    /// would.
    pub(crate) fn new(file: DatabaseFile, most: usize) -> (Self, Receiver<Infallible>) {
        let (alive, gone) = mpsc::channel();
        let shared = Arc::new(Shared {
            file,
            most,
            state: Mutex::default(),
            wake: Condvar::new(),
        });
        (Readers { shared, alive }, gone)
    }

    /// Reads on one of the threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        thread: Option<&str>,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        let read = Box::new(move |connection: Result<&Connection, TransactionError>| {
            let _ = reply.send(connection.and_then(work));
        });
        self.queue(read).map_err(|error| {
            DatabaseFile::unavailable("no thread can be started".into(), Some(error))
        })?;
        let result = result.await.unwrap_or_else(|_| {
            Err(TransactionError::Refused(DatabaseFile::unavailable(
                "the reading thread has ended: try again".into(),
                None,
            )))
        });
        result.map_err(|failure| self.shared.file.store_error(failure, thread))
    }

    fn queue(&self, read: Read) -> std::io::Result<()> {
        let mut state = lock(&self.shared.state);
        state.reads.push_back(read);
        if state.reads.len() <= state.idle {
            self.shared.wake.notify_one();
        } else if state.threads < self.shared.most {
            let thread = Thread {
                shared: Arc::clone(&self.shared),
                _alive: self.alive.clone(),
            };
            state.threads += 1;
            let first = state.threads == 1;
            drop(state);
            let spawned = std::thread::Builder::new()
                .name("petalflow-sqlite-read".into())
                .spawn(move || thread.work());
            // If there are other threads, one of them will run the read.
            if let Err(error) = spawned
                && first
            {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        lock(&self.shared.state).closed = true;
        self.shared.wake.notify_all();
    }
}

/// One of the threads. Its drop updates the count, however it ends.
struct Thread {
    shared: Arc<Shared>,
    _alive: Sender<Infallible>,
}

impl Thread {
    fn work(self) {
        let mut connection = None;
        while let Some(read) = self.next() {
            if let Err(failure) = self.shared.file.check_present() {
                read(Err(failure));
                continue;
            }
            // If opening failed it is tried again with the next read: the cause may be gone.
            if connection.is_none() {
                match open_reader(&self.shared.file) {
                    Ok(opened) => connection = Some(opened),
                    Err(failure) => {
                        read(Err(failure));
                        continue;
                    }
                }
            }
            if let Some(connection) = &connection {
                read(Ok(connection));
            }
        }
    }

    fn next(&self) -> Option<Read> {
        let mut state = lock(&self.shared.state);
        loop {
            if let Some(read) = state.reads.pop_front() {
                return Some(read);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            let woken = self.shared.wake.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.threads -= 1;
        // No thread is left to run these reads. Dropping them closes the channels on which callers wait.
        let left = if state.threads == 0 {
            std::mem::take(&mut state.reads)
        } else {
            VecDeque::new()
        };
        drop(state);
        drop(left);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is complete before anything can panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
