//! Adds checkpoints to a log.

use petalflow::checkpoint::{Address, StoredCheckpoint};
use rusqlite::{Connection, OptionalExtension, params};

use super::entry::{Reference, encode};
use super::segment::{Segment, damaged};
use super::tail::Tail;
use crate::error::TransactionError;
use crate::integer::sql_integer;

/// Where a checkpoint is added in a transaction of its own, and the owner that must have the claim.
pub(crate) struct Alone<'a> {
    pub(crate) thread: &'a str,
    pub(crate) owner: Option<&'a str>,
}

/// Adds a checkpoint in one statement, if the log still ends at `tail`, and the checkpoint fits into its last row. If it is added
/// `alone`, also the owner must have the claim, and the index of threads must not change: see
/// [`record_change`](crate::statements::listing::record_change).
pub(crate) fn add_to_last_row(
    connection: &Connection,
    tail: &Tail,
    checkpoint: &StoredCheckpoint,
    alone: Option<Alone<'_>>,
) -> Result<Option<Tail>, TransactionError> {
    let Some(id) = tail.segment.id(checkpoint.seq) else {
        return Ok(None);
    };
    let full = tail.full(checkpoint.seq);
    if tail.len + checkpoint.bytes.len() >= full {
        return Ok(None);
    }
    let bytes = encode(checkpoint, tail.reference);
    let len = tail.len + bytes.len();
    if len > full {
        return Ok(None);
    }
    let add = "UPDATE log SET reach = ?6, checkpoints = checkpoints + 1, size = size + ?3, created_ms = ?4, bytes = CAST(bytes || ?5 AS BLOB)
        WHERE id = ?1 AND length(bytes) = ?2 AND (?8 IS NULL OR EXISTS (SELECT 1 FROM claims WHERE thread = ?7 AND owner = ?8))
            AND (?7 IS NULL OR NOT EXISTS (SELECT 1 FROM threads WHERE thread = ?7 AND updated_ms IS NOT NULL))";
    let added = connection.prepare_cached(add)?.execute(params![
        tail.id,
        sql_len(tail.len)?,
        sql_len(checkpoint.bytes.len())?,
        sql_integer(checkpoint.created_ms)?,
        bytes,
        id - tail.id,
        alone.as_ref().map(|it| it.thread),
        alone.as_ref().and_then(|it| it.owner),
    ])?;
    Ok((added == 1).then(|| Tail {
        len,
        reference: Some(tail.reference.unwrap_or(Reference::to(checkpoint))),
        newest: checkpoint.seq,
        ..*tail
    }))
}

/// Adds a checkpoint if the log still ends at `tail`. Within a transaction.
pub(crate) fn add_after(
    connection: &Connection,
    tail: &Tail,
    checkpoint: &StoredCheckpoint,
) -> Result<Option<Tail>, TransactionError> {
    let Some(id) = tail.segment.id(checkpoint.seq) else {
        return Ok(None);
    };
    if let Some(added) = add_to_last_row(connection, tail, checkpoint, None)? {
        return Ok(Some(added));
    }
    let space = tail.full(tail.newest).saturating_sub(tail.len);
    let bytes = encode(checkpoint, tail.reference.filter(|_| space > 0));
    // At least one byte is left for the row in which the checkpoint ends.
    let (partial, bytes) = bytes.split_at(space.min(bytes.len() - 1));
    let len = sql_len(tail.len)?;
    let is_still_last = if partial.is_empty() {
        // The row is complete, so another writer would have left it as it is.
        let last = "SELECT 1 FROM log WHERE id = ?1 AND length(bytes) = ?2
            AND id = (SELECT max(id) FROM log WHERE id BETWEEN ?1 AND ?3)";
        let mut last = connection.prepare_cached(last)?;
        last.exists([tail.id, len, tail.segment.end()])?
    } else {
        let fill =
            "UPDATE log SET bytes = CAST(bytes || ?3 AS BLOB) WHERE id = ?1 AND length(bytes) = ?2";
        let mut fill = connection.prepare_cached(fill)?;
        fill.execute(params![tail.id, len, partial])? == 1
    };
    if !is_still_last {
        return Ok(None);
    }
    let carried = if partial.is_empty() { 0 } else { bytes.len() };
    insert_row(
        connection,
        id,
        carried,
        std::slice::from_ref(checkpoint),
        bytes,
    )?;
    Ok(Some(Tail {
        id,
        len: bytes.len(),
        reference: (carried == 0).then(|| Reference::to(checkpoint)),
        newest: checkpoint.seq,
        ..*tail
    }))
}

/// Adds a checkpoint to a log that is empty, or whose last segment does not reach this far. Within a transaction.
pub(crate) fn begin(
    connection: &Connection,
    address: Address<'_>,
    checkpoint: &StoredCheckpoint,
) -> Result<Tail, TransactionError> {
    let segment = new_segment(connection, address, checkpoint.seq)?;
    let (id, bytes) = (segment.start(), encode(checkpoint, None));
    insert_row(connection, id, 0, std::slice::from_ref(checkpoint), &bytes)?;
    Ok(Tail {
        segment,
        id,
        len: bytes.len(),
        reference: Some(Reference::to(checkpoint)),
        newest: checkpoint.seq,
    })
}

/// Inserts a row in which these checkpoints end.
pub(super) fn insert_row(
    connection: &Connection,
    id: i64,
    carried: usize,
    ended: &[StoredCheckpoint],
    bytes: &[u8],
) -> Result<(), TransactionError> {
    let insert = "INSERT INTO log (id, carried, reach, checkpoints, size, created_ms, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let size = ended.iter().map(|checkpoint| checkpoint.bytes.len()).sum();
    let numbers = ended.first().zip(ended.last());
    let span = numbers.map(|(first, last)| last.seq.saturating_sub(first.seq));
    connection.prepare_cached(insert)?.execute(params![
        id,
        sql_len(carried)?,
        sql_integer(span.unwrap_or(0))?,
        sql_len(ended.len())?,
        sql_len(size)?,
        sql_integer(ended.last().map_or(0, |newest| newest.created_ms))?,
        bytes,
    ])?;
    Ok(())
}

/// Gives an address a number that no address has had.
fn new_segment(
    connection: &Connection,
    address: Address<'_>,
    first: u64,
) -> Result<Segment, TransactionError> {
    let next = "UPDATE addresses SET number = number + 1 WHERE thread = '' RETURNING number";
    let number: Option<i64> = connection
        .prepare_cached(next)?
        .query_row((), |row| row.get(0))
        .optional()?;
    let number = number.filter(|number| (1..=i64::from(i32::MAX)).contains(number));
    let number = number.ok_or_else(|| {
        damaged(
            address,
            "the row of the table `addresses` without a thread, which counts the numbers, is missing or has no number from 0 to 2^31",
        )
    })?;
    let segment = Segment { number, first };
    // If the number is in use, the rows would be mixed with those of another thread.
    let in_use = "SELECT 1 FROM log WHERE id >= ?1 LIMIT 1";
    let mut in_use = connection.prepare_cached(in_use)?;
    if in_use.exists([segment.start()])? {
        return Err(damaged(
            address,
            &format!(
                "number {number} of the table `addresses` is the next one, and the table `log` has rows of that number or a greater one"
            ),
        ));
    }
    let insert = "INSERT INTO addresses (thread, namespace, first, number) VALUES (?1, ?2, ?3, ?4)";
    let Address { thread, namespace } = address;
    connection.prepare_cached(insert)?.execute(params![
        thread,
        namespace,
        sql_integer(first)?,
        number
    ])?;
    Ok(segment)
}

fn sql_len(len: usize) -> Result<i64, TransactionError> {
    sql_integer(len as u64)
}
