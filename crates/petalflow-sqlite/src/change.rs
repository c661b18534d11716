//! The statements that change checkpoints and writes. Each function runs within a write transaction.

use std::ops::Range;

use petalflow::checkpoint::{Address, StoreError, StoredCheckpoint, StoredWrite};
use rusqlite::{Connection, params};

use crate::error::TransactionError;
use crate::integer::{bounds, read_integer, sql_integer};
use crate::listing;

pub(crate) fn append(
    connection: &Connection,
    address: Address<'_>,
    checkpoint: &StoredCheckpoint,
    after: Option<u64>,
    settled: &Range<u64>,
) -> Result<(), TransactionError> {
    let Address { thread, namespace } = address;
    let found = newest(connection, address)?;
    if found != after {
        return Err(TransactionError::Refused(StoreError::Conflict {
            thread: thread.into(),
            expected: after,
            found,
        }));
    }
    let insert = "INSERT INTO checkpoints (thread, namespace, seq, base, created_ms, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(insert)?.execute(params![
        thread,
        namespace,
        sql_integer(checkpoint.seq)?,
        sql_integer(checkpoint.base)?,
        sql_integer(checkpoint.created_ms)?,
        checkpoint.bytes,
    ])?;
    if let Some((first, last)) = bounds(settled) {
        delete_between(
            connection,
            "DELETE FROM writes WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4",
            address,
            first,
            last,
        )?;
    }
    Ok(())
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

pub(crate) fn prune(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
) -> Result<(), TransactionError> {
    let Some((first, last)) = bounds(&(0..seq)) else {
        return Ok(());
    };
    if address.namespace.is_empty() {
        listing::keep_created(connection, address.thread)?;
    }
    delete_between(
        connection,
        "DELETE FROM checkpoints WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4",
        address,
        first,
        last,
    )?;
    delete_between(
        connection,
        "DELETE FROM writes WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4",
        address,
        first,
        last,
    )
}

pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    for delete in [
        "DELETE FROM checkpoints WHERE thread = ?1",
        "DELETE FROM writes WHERE thread = ?1",
    ] {
        connection.prepare_cached(delete)?.execute([thread])?;
    }
    listing::forget(connection, thread)
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

fn newest(connection: &Connection, address: Address<'_>) -> Result<Option<u64>, TransactionError> {
    let newest = "SELECT seq FROM checkpoints WHERE thread = ?1 AND namespace = ?2 ORDER BY seq DESC LIMIT 1";
    let mut newest = connection.prepare_cached(newest)?;
    let mut rows = newest.query([address.thread, address.namespace])?;
    let row = rows.next()?;
    Ok(row.map(|row| read_integer(row, 0)).transpose()?)
}

fn delete_between(
    connection: &Connection,
    delete: &str,
    address: Address<'_>,
    first: i64,
    last: i64,
) -> Result<(), TransactionError> {
    connection.prepare_cached(delete)?.execute(params![
        address.thread,
        address.namespace,
        first,
        last
    ])?;
    Ok(())
}
