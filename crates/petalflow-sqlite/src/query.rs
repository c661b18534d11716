//! The statements that read checkpoints and writes.

use std::ops::Range;

use petalflow::checkpoint::{Address, Stored, StoredCheckpoint, StoredWrite};
use petalflow::event::TaskId;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::error::TransactionError;
use crate::integer::{bounds, read_integer, sql_integer};

pub(crate) fn read(
    connection: &Connection,
    address: Address<'_>,
    seq: Option<u64>,
) -> Result<Option<Stored>, TransactionError> {
    let Some((_, most)) = bounds(&(0..seq.map_or(u64::MAX, |seq| seq.saturating_add(1)))) else {
        return Ok(None);
    };
    // One transaction, so that the checkpoint and the writes are of one snapshot. Dropping it ends it.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let last = "SELECT seq, base FROM checkpoints WHERE thread = ?1 AND namespace = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT 1";
    let last = one(&snapshot, last, address, most, |row| {
        Ok((read_integer(row, 0)?, read_integer(row, 1)?))
    })?;
    let Some((found, base)) = last.filter(|(found, _)| seq.is_none_or(|seq| seq == *found)) else {
        return Ok(None);
    };
    // A damaged base must not hide the checkpoint. The reader of the chain reports the damage.
    let first = base.min(found);
    let chain = "SELECT seq, base, created_ms, bytes FROM checkpoints
        WHERE thread = ?1 AND namespace = ?2 AND seq BETWEEN ?3 AND ?4 ORDER BY seq";
    let chain = all(
        &snapshot,
        chain,
        params![
            address.thread,
            address.namespace,
            sql_integer(first)?,
            sql_integer(found)?
        ],
        checkpoint,
    )?;
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
    let writes = "SELECT seq, task, name, bytes FROM writes
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
    let Some((_, last)) = bounds(&(0..before.unwrap_or(u64::MAX))) else {
        return Ok(Vec::new());
    };
    let history = "SELECT seq, base, created_ms, bytes FROM checkpoints
        WHERE thread = ?1 AND namespace = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT ?4";
    all(
        connection,
        history,
        params![
            address.thread,
            address.namespace,
            last,
            at_most(Some(limit))
        ],
        checkpoint,
    )
}

pub(crate) fn namespaces(
    connection: &Connection,
    thread: &str,
) -> Result<Vec<String>, TransactionError> {
    // Uses the index to step from one namespace to the next: a million checkpoints in one namespace take two look-ups.
    let namespaces = "
        WITH RECURSIVE
            beside (namespace) AS (
                SELECT min(namespace) FROM checkpoints WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(c.namespace) FROM checkpoints c WHERE c.thread = ?1 AND c.namespace > beside.namespace)
                FROM beside WHERE beside.namespace IS NOT NULL
            ),
            waiting (namespace) AS (
                SELECT min(namespace) FROM writes WHERE thread = ?1
                UNION ALL
                SELECT (SELECT min(w.namespace) FROM writes w WHERE w.thread = ?1 AND w.namespace > waiting.namespace)
                FROM waiting WHERE waiting.namespace IS NOT NULL
            )
        SELECT namespace FROM beside WHERE namespace IS NOT NULL
        UNION
        SELECT namespace FROM waiting WHERE namespace IS NOT NULL
        ORDER BY namespace";
    all(connection, namespaces, [thread], |row| row.get(0))
}

fn at_most(limit: Option<usize>) -> i64 {
    limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<StoredCheckpoint> {
    Ok(StoredCheckpoint {
        seq: read_integer(row, 0)?,
        base: read_integer(row, 1)?,
        created_ms: read_integer(row, 2)?,
        bytes: row.get(3)?,
    })
}

fn one<T>(
    connection: &Connection,
    sql: &str,
    address: Address<'_>,
    most: i64,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, TransactionError> {
    let rows = all(
        connection,
        sql,
        params![address.thread, address.namespace, most],
        read,
    )?;
    Ok(rows.into_iter().next())
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
