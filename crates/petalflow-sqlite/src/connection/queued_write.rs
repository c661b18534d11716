//! Writes that wait for the writer's thread.

use petalflow::checkpoint::StoreError;
use rusqlite::Connection;

use crate::error::{DatabaseFile, TransactionError};

/// A write that waits for the writer's thread.
pub(crate) trait QueuedWrite: Send {
    /// Runs within the transaction that is open. Unless it returns true, the caller undoes what it did.
    ///
    /// It may run again if the transaction is lost.
    fn run(&mut self, connection: &Connection, file: &DatabaseFile) -> bool;

    /// The transaction is committed: reports the result.
    fn committed(self: Box<Self>);

    /// The transaction failed and nothing of it is stored: reports the error.
    fn failed(self: Box<Self>, failure: TransactionError, file: &DatabaseFile);
}

/// A [`QueuedWrite`] made of closures: one writes, the other receives the result.
pub(crate) struct ClosureWrite<T, W, R> {
    work: W,
    thread: Option<String>,
    result: Option<Result<T, StoreError>>,
    report: R,
}

impl<T, W, R> ClosureWrite<T, W, R>
where
    W: FnMut(&Connection) -> Result<T, TransactionError>,
    R: FnOnce(Result<T, StoreError>),
{
    /// `thread` is the thread whose data `work` changes, if it changes the data of one thread.
    pub(crate) fn new(thread: Option<&str>, work: W, report: R) -> Self {
        ClosureWrite {
            work,
            thread: thread.map(Into::into),
            result: None,
            report,
        }
    }
}

impl<T, W, R> QueuedWrite for ClosureWrite<T, W, R>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, TransactionError> + Send,
    R: FnOnce(Result<T, StoreError>) + Send,
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
            (self.report)(result);
        }
    }

    fn failed(self: Box<Self>, failure: TransactionError, file: &DatabaseFile) {
        let error = file.store_error(failure, self.thread.as_deref());
        (self.report)(Err(error));
    }
}
