//! Writes that wait for the writer's thread.

use petalflow::checkpoint::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{DatabaseFile, TransactionError};

/// A write that waits for the writer's thread, with the caller that waits for its result.
pub(crate) trait QueuedWrite: Send {
    /// Runs within the transaction that is open. Unless it returns true, the caller undoes what it did.
    ///
    /// It may run again if the transaction is lost.
    fn run(&mut self, connection: &Connection, file: &DatabaseFile) -> bool;

    /// The transaction is committed: sends the result.
    fn committed(self: Box<Self>);

    /// The transaction failed and nothing of it is stored: sends the error.
    fn failed(self: Box<Self>, failure: TransactionError, file: &DatabaseFile);
}

/// A [`QueuedWrite`] made of a closure.
pub(crate) struct ClosureWrite<T, W> {
    work: W,
    thread: Option<String>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> ClosureWrite<T, W>
where
    W: FnMut(&Connection) -> Result<T, TransactionError>,
{
    /// `thread` is the thread whose data `work` changes, if it is one. Returns the receiver of the result as well.
    pub(crate) fn new(
        thread: Option<&str>,
        work: W,
    ) -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (reply, result) = oneshot::channel();
        let write = ClosureWrite {
            work,
            thread: thread.map(Into::into),
            result: None,
            reply,
        };
        (write, result)
    }
}

impl<T, W> QueuedWrite for ClosureWrite<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, TransactionError> + Send,
{
    fn run(&mut self, connection: &Connection, file: &DatabaseFile) -> bool {
        let result = (self.work)(connection);
        let succeeded = result.is_ok();
        let thread = self.thread.as_deref();
        self.result = Some(result.map_err(|failure| file.store_error(failure, thread)));
        succeeded
    }

    fn committed(self: Box<Self>) {
        if let Some(result) = self.result {
            // The caller may have dropped its future.
            let _ = self.reply.send(result);
        }
    }

    fn failed(self: Box<Self>, failure: TransactionError, file: &DatabaseFile) {
        let error = file.store_error(failure, self.thread.as_deref());
        let _ = self.reply.send(Err(error));
    }
}
