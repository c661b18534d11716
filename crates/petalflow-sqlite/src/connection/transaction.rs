//! Transactions: one write by itself, or several that share a commit.

use rusqlite::{Connection, ffi};

use super::queued_write::QueuedWrite;
use crate::error::{DatabaseFile, TransactionError};

/// Runs work in a transaction of its own.
pub(crate) fn commit_one<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, TransactionError>,
) -> Result<T, TransactionError> {
    begin(connection)?;
    let result = work(connection).and_then(|value| {
        execute(connection, "COMMIT")?;
        Ok(value)
    });
    if result.is_err() {
        roll_back(connection);
    }
    result
}

/// Runs one statement that is a transaction of its own.
pub(crate) fn alone<T>(
    connection: &Connection,
    statement: impl FnOnce(&Connection) -> Result<T, TransactionError>,
) -> Result<T, TransactionError> {
    // A panic may have left a transaction open.
    roll_back(connection);
    statement(connection)
}

/// Runs writes that share one commit. One that fails does not undo the others.
pub(crate) fn commit_group(
    connection: &Connection,
    file: &DatabaseFile,
    mut writes: Vec<Box<dyn QueuedWrite>>,
) {
    if writes.len() == 1 {
        return commit_each(connection, file, writes);
    }
    if let Err(failure) = begin(connection) {
        // If each of them tried again, each would wait as long.
        for write in writes {
            write.failed(failure.copy(), file);
        }
        return;
    }
    let all = writes
        .iter_mut()
        .try_for_each(|write| within_savepoint(connection, file, &mut **write));
    if all.and_then(|()| execute(connection, "COMMIT")).is_ok() {
        return writes.into_iter().for_each(QueuedWrite::committed);
    }
    // Nothing of the group is stored. It may be that one of them does not fit on the disk and the others do.
    roll_back(connection);
    commit_each(connection, file, writes);
}

/// Gives each write a transaction of its own.
fn commit_each(connection: &Connection, file: &DatabaseFile, writes: Vec<Box<dyn QueuedWrite>>) {
    for mut write in writes {
        let end = begin(connection).and_then(|()| {
            if write.run(connection, file) {
                return execute(connection, "COMMIT");
            }
            roll_back(connection);
            Ok(())
        });
        match end {
            Ok(()) => write.committed(),
            Err(failure) => {
                roll_back(connection);
                write.failed(failure, file);
            }
        }
    }
}

fn within_savepoint(
    connection: &Connection,
    file: &DatabaseFile,
    write: &mut dyn QueuedWrite,
) -> Result<(), TransactionError> {
    execute(connection, "SAVEPOINT one_write")?;
    let succeeded = write.run(connection, file);
    if connection.is_autocommit() {
        // Some errors, such as a full disk, end the whole transaction with all its savepoints.
        let ended = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
        return Err(rusqlite::Error::SqliteFailure(ended, None).into());
    }
    if !succeeded {
        execute(connection, "ROLLBACK TO one_write")?;
    }
    execute(connection, "RELEASE one_write")
}

/// Begins a write transaction. One that begins by reading may find that another process has written in between.
fn begin(connection: &Connection) -> Result<(), TransactionError> {
    // A panic may have left a transaction open.
    roll_back(connection);
    execute(connection, "BEGIN IMMEDIATE")
}

/// Ends the transaction, if one is open. A failure does not matter: what is not committed is not stored.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        let _ = execute(connection, "ROLLBACK");
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), TransactionError> {
    connection.prepare_cached(sql)?.execute(())?;
    Ok(())
}
