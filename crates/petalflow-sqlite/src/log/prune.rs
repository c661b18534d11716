//! Removes checkpoints from a log.

use petalflow::checkpoint::Address;
use rusqlite::{Connection, OptionalExtension, params};

use super::append::insert_row;
use super::entry::{Reference, Row, encode};
use super::row::{LogRow, check_begin, decode, last_rows};
use super::segment::{Segment, damaged, segments};
use crate::error::TransactionError;

/// Removes the checkpoints with numbers below `seq`. Returns how many segments have none any more.
pub(crate) fn prune(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
) -> Result<usize, TransactionError> {
    let mut emptied = 0;
    for segment in segments(connection, address)? {
        let Some(id) = segment.last_id(seq) else {
            break;
        };
        let rows = last_rows(connection, segment.start(), id, 2)?;
        let Some(last) = rows.last() else { continue };
        let (id, carried) = (last.id, last.carried);
        if rows.len() < 2 {
            check_begin(address, &rows)?;
        }
        let decoded = decode(address, segment, &rows)?;
        let Some(row) = decoded.last() else { continue };
        let checkpoints = row.checkpoints.iter().cloned();
        let (removed, retained): (Vec<_>, Vec<_>) = checkpoints.partition(|found| found.seq < seq);
        if removed.is_empty() && carried == 0 {
            delete_rows(connection, segment.start(), id - 1)?;
            continue;
        }
        delete_rows(connection, segment.start(), id)?;
        if !row.partial.is_empty() {
            put_together(connection, address, segment, row)?;
        }
        if let Some(first) = retained.first() {
            let mut bytes = encode(first, None);
            for checkpoint in &retained[1..] {
                bytes.extend(encode(checkpoint, Some(Reference::to(first))));
            }
            let id = segment.id(first.seq).unwrap_or(id);
            insert_row(connection, id, 0, &retained, &bytes)?;
            continue;
        }
        let exists = "SELECT 1 FROM log WHERE id BETWEEN ?1 AND ?2";
        let mut exists = connection.prepare_cached(exists)?;
        if !exists.exists([segment.start(), segment.end()])? {
            let delete =
                "DELETE FROM addresses WHERE thread = ?1 AND namespace = ?2 AND number = ?3";
            let Address { thread, namespace } = address;
            let parameters = params![thread, namespace, segment.number];
            connection.prepare_cached(delete)?.execute(parameters)?;
            emptied += 1;
        }
    }
    Ok(emptied)
}

/// Puts a checkpoint that began in a row that was removed, and ends in the first row that is left, into that row.
fn put_together(
    connection: &Connection,
    address: Address<'_>,
    segment: Segment,
    before: &Row,
) -> Result<(), TransactionError> {
    let columns = LogRow::COLUMNS;
    let first = format!("SELECT {columns} FROM log WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1");
    let first = connection
        .prepare_cached(&first)?
        .query_row([segment.start(), segment.end()], LogRow::read)
        .optional()?;
    let first =
        first.ok_or_else(|| damaged(address, "the last row of its log lacks the row after it"))?;
    let row = first.decode(address, segment, Some(before))?;
    let Some(whole) = row.checkpoints.first() else {
        return Err(first.damaged(address, "has no checkpoints"));
    };
    let mut bytes = encode(whole, None);
    bytes.extend_from_slice(&first.bytes[first.carried..]);
    let update = "UPDATE log SET carried = 0, bytes = ?2 WHERE id = ?1";
    connection
        .prepare_cached(update)?
        .execute(params![first.id, bytes])?;
    Ok(())
}

/// Removes the logs of all addresses of a thread. Returns whether it had any.
pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<bool, TransactionError> {
    let numbers = "DELETE FROM addresses WHERE thread = ?1 RETURNING number, first";
    let segments: Vec<Segment> = connection
        .prepare_cached(numbers)?
        .query_map([thread], Segment::read)?
        .collect::<rusqlite::Result<_>>()?;
    for segment in &segments {
        delete_rows(connection, segment.start(), segment.end())?;
    }
    Ok(!segments.is_empty())
}

fn delete_rows(connection: &Connection, from: i64, to: i64) -> Result<(), TransactionError> {
    let delete = "DELETE FROM log WHERE id BETWEEN ?1 AND ?2";
    connection.prepare_cached(delete)?.execute([from, to])?;
    Ok(())
}
