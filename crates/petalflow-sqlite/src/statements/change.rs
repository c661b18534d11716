//! The statements that change checkpoints and writes. Each function runs within a write transaction.

use std::ops::Range;

use petalflow::checkpoint::{
    Address, StoreChange, StoreError, StoredCheckpoint, StoredWrite, ThreadChange,
};
use rusqlite::{Connection, params};

use super::{claims, listing};
use crate::error::TransactionError;
use crate::integer::{bounds, sql_integer};
use crate::log::{self, Tail};

/// Appends a checkpoint. `known` is where the log ended when this process appended last. Returns where it ends now.
pub(crate) fn append(
    connection: &Connection,
    address: Address<'_>,
    checkpoint: &StoredCheckpoint,
    after: Option<u64>,
    settled: &Range<u64>,
    known: Option<Tail>,
    owner: Option<&str>,
) -> Result<Tail, TransactionError> {
    claims::check(connection, address.thread, owner)?;
    let known = known.filter(|tail| Some(tail.newest) == after);
    let mut tail = match known {
        Some(known) => log::add_after(connection, &known, checkpoint)?,
        None => None,
    };
    if tail.is_none() {
        let last = log::tail(connection, address)?;
        let found = last.map(|last| last.newest);
        if found != after {
            return Err(TransactionError::Refused(StoreError::Conflict {
                thread: address.thread.into(),
                expected: after,
                found,
            }));
        }
        if let Some(last) = last {
            tail = log::add_after(connection, &last, checkpoint)?;
        }
    }
    let tail = if let Some(tail) = tail {
        tail
    } else {
        listing::record_creation(connection, address.thread, checkpoint.created_ms)?;
        log::begin(connection, address, checkpoint)?
    };
    if let Some((first, last)) = bounds(settled) {
        delete_writes(connection, address, first, last)?;
    }
    Ok(tail)
}

pub(crate) fn write(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
    writes: &[StoredWrite],
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, address.thread, owner)?;
    let insert = "INSERT INTO writes (thread, namespace, seq, task, name, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET bytes = excluded.bytes";
    let mut insert = connection.prepare_cached(insert)?;
    for write in writes {
        insert.execute(params![
            address.thread,
            address.namespace,
            sql_integer(seq)?,
            write.task.to_bytes(),
            write.name,
            write.bytes,
        ])?;
    }
    Ok(())
}

/// Makes several changes of a thread.
pub(crate) fn apply(
    connection: &Connection,
    thread: &str,
    changes: &[StoreChange],
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, thread, owner)?;
    for change in changes {
        match change {
            StoreChange::Append {
                namespace,
                checkpoint,
                after,
                settled,
            } => {
                let address = Address { thread, namespace };
                append(connection, address, checkpoint, *after, settled, None, None)?;
            }
            StoreChange::Write {
                namespace,
                seq,
                writes,
            } => {
                let address = Address { thread, namespace };
                write(connection, address, *seq, writes, None)?;
            }
            StoreChange::Status {
                flow,
                status,
                due_ms,
            } => {
                let status = ThreadChange::Status {
                    flow,
                    status: *status,
                    due_ms: *due_ms,
                };
                listing::describe(connection, thread, status, None)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn prune(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
    writes: u64,
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, address.thread, owner)?;
    if seq > 0 && log::prune(connection, address, seq)? {
        listing::forget_checkpoints(connection, address.thread)?;
    }
    match bounds(&(0..writes)) {
        Some((first, last)) => delete_writes(connection, address, first, last),
        None => Ok(()),
    }
}

pub(crate) fn delete(
    connection: &Connection,
    thread: &str,
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, thread, owner)?;
    let has_checkpoints = log::delete(connection, thread)?;
    let delete = "DELETE FROM writes WHERE thread = ?1";
    let writes = connection.prepare_cached(delete)?.execute([thread])?;
    if has_checkpoints || writes > 0 {
        listing::count_deletion(connection)?;
    }
    listing::delete(connection, thread)
}

/// Deletes threads. Returns one that remains because the owner does not have its claim.
pub(crate) fn delete_many(
    connection: &Connection,
    threads: &[impl AsRef<str>],
    owner: Option<&str>,
) -> Result<Option<StoreError>, TransactionError> {
    let mut lost = None;
    for thread in threads {
        match delete(connection, thread.as_ref(), owner) {
            Err(TransactionError::Refused(error @ StoreError::ClaimLost { .. })) => {
                lost = Some(error);
            }
            deleted => deleted?,
        }
    }
    Ok(lost)
}

fn delete_writes(
    connection: &Connection,
    address: Address<'_>,
    first: i64,
    last: i64,
) -> Result<(), TransactionError> {
    let delete =
        "DELETE FROM writes WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4";
    let Address { thread, namespace } = address;
    let parameters = params![thread, namespace, first, last];
    connection.prepare_cached(delete)?.execute(parameters)?;
    Ok(())
}
