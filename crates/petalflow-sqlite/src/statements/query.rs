//! The statements that read checkpoints and writes.

use std::ops::Range;

use petalflow::checkpoint::{Address, Stored, StoredCheckpoint, StoredWrite};
use petalflow::event::TaskId;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use super::counts;
use crate::error::TransactionError;
use crate::integer::{bounds, read_integer};
use crate::log;

pub(crate) fn read(
    connection: &Connection,
    address: Address<'_>,
    seq: Option<u64>,
) -> Result<Option<Stored>, TransactionError> {
    // One transaction, so that the checkpoint and the writes are of one snapshot. Dropping it ends it.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let last = log::newest(&snapshot, address, seq.unwrap_or(u64::MAX), 1)?.pop();
    counts::check_writes(&snapshot, address)?;
    if seq.is_none() {
        counts::check_newest(&snapshot, address, last.as_ref().map(|last| last.seq))?;
    }
    let Some(last) = last.filter(|last| seq.is_none_or(|seq| seq == last.seq)) else {
        return Ok(None);
    };
    let found = last.seq;
    let chain = if last.base < found {
        log::range(&snapshot, address, last.base, found)?
    } else {
        vec![last]
    };
    let writes = writes(&snapshot, address, &(found..found.saturating_add(1)))?;
    Ok(Some(Stored {
        chain,
        writes: writes.into_iter().map(|(_, write)| write).collect(),
    }))
}

pub(crate) fn writes(
    connection: &Connection,
    address: Address<'_>,
    seqs: &Range<u64>,
) -> Result<Vec<(u64, StoredWrite)>, TransactionError> {
    let Some((first, last)) = bounds(seqs) else {
        return Ok(Vec::new());
    };
    let writes = "SELECT seq, task, name, bytes FROM records
        WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq, task, name";
    all(
        connection,
        writes,
        params![address.thread, address.namespace, first, last],
        |row| {
            let write = StoredWrite {
                task: TaskId::from_bytes(row.get(1)?),
                name: row.get(2)?,
                bytes: row.get(3)?,
            };
            Ok((read_integer(row, 0)?, write))
        },
    )
}

pub(crate) fn history(
    connection: &Connection,
    address: Address<'_>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<StoredCheckpoint>, TransactionError> {
    // One transaction, so that rows and status are of one snapshot.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    match before {
        Some(0) => Ok(Vec::new()),
        before => log::newest(
            &snapshot,
            address,
            before.map_or(u64::MAX, |before| before - 1),
            limit,
        ),
    }
}

pub(crate) fn namespaces(
    connection: &Connection,
    thread: &str,
) -> Result<Vec<String>, TransactionError> {
    // Uses the index to step from one namespace to the next: a million writes in one namespace take two look-ups.
    let namespaces = "
        WITH RECURSIVE
            beside (namespace) AS (
                SELECT min(namespace) FROM addresses WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(c.namespace) FROM addresses c WHERE c.thread = ?1 AND c.namespace > beside.namespace)
                FROM beside WHERE beside.namespace IS NOT NULL
            ),
            waiting (namespace) AS (
                SELECT min(namespace) FROM records WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(w.namespace) FROM records w WHERE w.thread = ?1 AND w.namespace > waiting.namespace)
                FROM waiting WHERE waiting.namespace IS NOT NULL
            )
        SELECT namespace FROM beside WHERE namespace IS NOT NULL
        UNION
        SELECT namespace FROM waiting WHERE namespace IS NOT NULL
        ORDER BY namespace";
    all(connection, namespaces, [thread], |row| row.get(0))
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, TransactionError> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(parameters, |row| read(row))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
