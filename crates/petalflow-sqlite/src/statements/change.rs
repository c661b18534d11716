//! The statements that change checkpoints and writes. Each function runs within a write transaction.

use std::ops::Range;

use petalflow::checkpoint::{
    Address, StoreChange, StoreError, StoredCheckpoint, StoredWrite, ThreadChange,
};
use rusqlite::{Connection, params};

use super::listing;
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
) -> Result<Tail, TransactionError> {
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
) -> Result<(), TransactionError> {
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
) -> Result<(), TransactionError> {
    for change in changes {
        match change {
            StoreChange::Append {
                namespace,
                checkpoint,
                after,
                settled,
            } => {
                let address = Address { thread, namespace };
                append(connection, address, checkpoint, *after, settled, None)?;
            }
            StoreChange::Write {
                namespace,
                seq,
                writes,
            } => write(connection, Address { thread, namespace }, *seq, writes)?,
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
                listing::describe(connection, thread, status)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn prune(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
) -> Result<(), TransactionError> {
    let Some((first, last)) = bounds(&(0..seq)) else {
        return Ok(());
    };
    if log::prune(connection, address, seq)? {
        listing::forget_checkpoints(connection, address.thread)?;
    }
    delete_writes(connection, address, first, last)
}

pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    log::delete(connection, thread)?;
    let delete = "DELETE FROM writes WHERE thread = ?1";
    connection.prepare_cached(delete)?.execute([thread])?;
    listing::delete(connection, thread)
}

pub(crate) fn delete_many(
    connection: &Connection,
    threads: &[impl AsRef<str>],
) -> Result<(), TransactionError> {
    for thread in threads {
        delete(connection, thread.as_ref())?;
    }
    Ok(())
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
