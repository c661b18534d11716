//! A few connections that read, each on a thread of its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use petalflow::checkpoint::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::connect;
use crate::problem::{Failure, Place};

/// A read that waits for a connection, or for the reason why there is none.
type Read = Box<dyn FnOnce(Result<&Connection, Failure>) + Send>;

/// Threads that read. They are started when all that there are have something to do, and end with the handle.
pub(crate) struct Readers {
    shared: Arc<Shared>,
    /// The handle and its threads have one of these each.
    alive: Sender<Infallible>,
}

struct Shared {
    place: Place,
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
    /// At most so many threads; none yet. The receiver hangs up when the handle and all threads are gone: the connection that
    /// is closed last moves the log, and if two are closed at the same moment, neither is the last.
    pub(crate) fn new(place: Place, most: usize) -> (Self, Receiver<Infallible>) {
        let (alive, gone) = mpsc::channel();
        let shared = Arc::new(Shared {
            place,
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
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        let read = Box::new(move |connection: Result<&Connection, Failure>| {
            let _ = reply.send(connection.and_then(work));
        });
        self.queue(read)
            .map_err(|error| Place::unavailable("no thread can be started".into(), Some(error)))?;
        let result = result.await.unwrap_or_else(|_| {
            Err(Failure::Refused(Place::unavailable(
                "the thread that reads has ended: try again".into(),
                None,
            )))
        });
        result.map_err(|failure| self.shared.place.explain(failure, thread))
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
            // If it was not the first, another thread will come to it.
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

/// One of the threads; counted as long as it lives, however it ends.
struct Thread {
    shared: Arc<Shared>,
    _alive: Sender<Infallible>,
}

impl Thread {
    fn work(self) {
        let mut connection = None;
        while let Some(read) = self.next() {
            if let Err(failure) = self.shared.place.is_there() {
                read(Err(failure));
                continue;
            }
            // One that could not be opened is tried again: the cause may be gone.
            if connection.is_none() {
                match connect::reader(&self.shared.place) {
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
        // Nobody would come to these any more; dropping them tells who waits.
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
    // Each change of it is complete before anything can panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
