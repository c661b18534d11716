//! The statements that change checkpoints and writes. Each function runs within a write transaction.

use std::ops::Range;

use petalflow::checkpoint::{
    Address, StoreChange, StoreError, StoredCheckpoint, StoredWrite, ThreadChange,
};
use rusqlite::{Connection, params};

use super::{attributes, claims, counts, listing};
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
        listing::record_change(connection, address)?;
        tail
    } else {
        let tail = log::begin(connection, address, checkpoint)?;
        listing::record_creation(connection, address, checkpoint.created_ms)?;
        tail
    };
    if let Some((first, last)) = bounds(settled) {
        delete_writes(connection, address, first, last)?;
    }
    if counts::covers_newest(address) {
        counts::set_newest(connection, address, checkpoint.seq)?;
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
    let insert = "INSERT INTO records (thread, namespace, seq, task, name, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO NOTHING";
    let replace = "UPDATE records SET bytes = ?6
        WHERE thread = ?1 AND namespace = ?2 AND seq = ?3 AND task = ?4 AND name = ?5";
    let mut insert = connection.prepare_cached(insert)?;
    let mut replace = connection.prepare_cached(replace)?;
    let mut added = 0;
    for write in writes {
        let (seq, task) = (sql_integer(seq)?, write.task.to_bytes());
        let Address { thread, namespace } = address;
        let row = params![thread, namespace, seq, task, write.name, write.bytes];
        let inserted = insert.execute(row)?;
        if inserted == 0 {
            replace.execute(row)?;
        }
        added += inserted;
    }
    counts::add_writes(connection, address, added)
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
            StoreChange::Attributes(set) => attributes::set(connection, thread, set)?,
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
    let emptied = match seq {
        0 => 0,
        seq => log::prune(connection, address, seq)?,
    };
    if emptied > 0 {
        listing::forget_checkpoints(connection, address.thread, emptied)?;
    }
    listing::record_prune(connection, address.thread)?;
    if let Some((first, last)) = bounds(&(0..writes)) {
        delete_writes(connection, address, first, last)?;
    }
    if emptied > 0 {
        counts::forget_checkpoints(connection, address)?;
    }
    Ok(())
}

pub(crate) fn delete(
    connection: &Connection,
    thread: &str,
    owner: Option<&str>,
) -> Result<(), TransactionError> {
    claims::check(connection, thread, owner)?;
    let has_checkpoints = log::delete(connection, thread)?;
    counts::delete(connection, thread)?;
    let delete = "DELETE FROM records WHERE thread = ?1";
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
        "DELETE FROM records WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4";
    let Address { thread, namespace } = address;
    let parameters = params![thread, namespace, first, last];
    let removed = connection.prepare_cached(delete)?.execute(parameters)?;
    counts::remove_writes(connection, address, removed)
}
