//! What waits for the writer.

use petalflow::checkpoint::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::problem::{Failure, Place};

/// An operation on the database together with who waits for it.
pub(crate) trait Job: Send {
    /// Does it within the transaction that is open. What it did is to be undone unless it returns true.
    ///
    /// It may be called again if the transaction is lost.
    fn run(&mut self, connection: &Connection, place: &Place) -> bool;

    /// The transaction has ended as it should: tells who waits how it went.
    fn done(self: Box<Self>);

    /// The transaction has failed and nothing of it is stored: tells who waits why.
    fn failed(self: Box<Self>, failure: Failure, place: &Place);
}

/// A [`Job`] made of a closure.
pub(crate) struct Task<T, W> {
    work: W,
    thread: Option<String>,
    value: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Task<T, W>
where
    W: FnMut(&Connection) -> Result<T, Failure>,
{
    /// Work, the thread that it concerns, if any, and where its result will come.
    pub(crate) fn new(
        thread: Option<&str>,
        work: W,
    ) -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (reply, result) = oneshot::channel();
        let task = Task {
            work,
            thread: thread.map(Into::into),
            value: None,
            reply,
        };
        (task, result)
    }
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, Failure> + Send,
{
    fn run(&mut self, connection: &Connection, place: &Place) -> bool {
        let result = (self.work)(connection);
        let keep = result.is_ok();
        let thread = self.thread.as_deref();
        self.value = Some(result.map_err(|failure| place.explain(failure, thread)));
        keep
    }

    fn done(self: Box<Self>) {
        if let Some(value) = self.value {
            // Whoever waited may have gone.
            let _ = self.reply.send(value);
        }
    }

    fn failed(self: Box<Self>, failure: Failure, place: &Place) {
        let error = place.explain(failure, self.thread.as_deref());
        let _ = self.reply.send(Err(error));
    }
}
