//! The log of an address: its checkpoints in the order of their numbers, packed into rows.
//!
//! An address is a thread and a namespace. It has a number, and its rows have the ids from that number times 2^32: the rest of an
//! id is the number of the first checkpoint that ends in the row, counted from the first checkpoint of the address. If that
//! takes more than 32 bits, the address gets another number for the checkpoints from there on, which is a new segment.
//!
//! An append changes the last row. It names the length that the row had, so another writer's append is noticed without a query.
//! Numbers of addresses are never used again, so a row with the id and length that a writer knows is the row that it knows.
//!
//! Beside its bytes, a row has what a list of threads needs: how many checkpoints end in it, their bytes, when the newest was
//! created, and the `span`, the number of the newest less that of the first.

use petalflow::checkpoint::{Address, StoredCheckpoint};
use rusqlite::{Connection, OptionalExtension, params};

use crate::entry::{Reference, Row, encode};
use crate::error::TransactionError;
use crate::integer::sql_integer;
use crate::log_row::{LogRow, check_begin, check_end, decode, end_of, last_rows};
use crate::segment::{Segment, damaged, segments};

/// The bytes that fit into a row on one page of 1,024 bytes, beside 21 bytes of the other columns. A row with more is complete,
/// and nothing is added to it.
const FULL_ROW_BYTES: usize = 968;

/// How many rows are read at once when the newest checkpoints are read first.
const ROWS_AT_ONCE: i64 = 64;

/// The end of a log: where the next checkpoint is added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    segment: Segment,
    /// The last row, and the length of its bytes.
    id: i64,
    len: usize,
    reference: Option<Reference>,
    pub(crate) newest: u64,
}

impl Tail {
    /// How many bytes the row may have when the checkpoint `newest` ends in it. The column `span` may take more than one byte.
    fn full(&self, newest: u64) -> usize {
        let long = self.segment.id(newest).is_some_and(|id| id - self.id > 127);
        if long {
            FULL_ROW_BYTES - 3
        } else {
            FULL_ROW_BYTES
        }
    }
}

/// Adds a checkpoint in one statement, if the log still ends at `tail` and the checkpoint fits into its last row.
pub(crate) fn add_to_last_row(
    connection: &Connection,
    tail: &Tail,
    checkpoint: &StoredCheckpoint,
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
    let add = "UPDATE log SET span = ?6, checkpoints = checkpoints + 1, size = size + ?3, created_ms = max(created_ms, ?4), bytes = CAST(bytes || ?5 AS BLOB)
        WHERE id = ?1 AND length(bytes) = ?2";
    let added = connection.prepare_cached(add)?.execute(params![
        tail.id,
        sql_len(tail.len)?,
        sql_len(checkpoint.bytes.len())?,
        sql_integer(checkpoint.created_ms)?,
        bytes,
        id - tail.id,
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
    if let Some(added) = add_to_last_row(connection, tail, checkpoint)? {
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
fn insert_row(
    connection: &Connection,
    id: i64,
    carried: usize,
    ended: &[StoredCheckpoint],
    bytes: &[u8],
) -> Result<(), TransactionError> {
    let insert = "INSERT INTO log (id, carried, span, checkpoints, size, created_ms, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let size = ended.iter().map(|checkpoint| checkpoint.bytes.len()).sum();
    let numbers = ended.first().zip(ended.last());
    let span = numbers.map(|(first, last)| last.seq.saturating_sub(first.seq));
    let created_ms = ended.iter().map(|checkpoint| checkpoint.created_ms).max();
    connection.prepare_cached(insert)?.execute(params![
        id,
        sql_len(carried)?,
        sql_integer(span.unwrap_or(0))?,
        sql_len(ended.len())?,
        sql_len(size)?,
        sql_integer(created_ms.unwrap_or(0))?,
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

/// The end of the log of an address. `None` if the address has no checkpoint.
pub(crate) fn tail(
    connection: &Connection,
    address: Address<'_>,
) -> Result<Option<Tail>, TransactionError> {
    let Some(segment) = segments(connection, address)?.pop() else {
        return Ok(None);
    };
    let (last, contents) = end_of(connection, address, segment)?;
    let Some(newest) = contents.iter().flat_map(|row| &row.checkpoints).next_back() else {
        return Err(last.damaged(address, "has no checkpoints"));
    };
    Ok(Some(Tail {
        segment,
        id: last.id,
        len: last.bytes.len(),
        reference: contents.last().and_then(|row| row.reference),
        newest: newest.seq,
    }))
}

/// The checkpoints with these numbers, the oldest first.
pub(crate) fn range(
    connection: &Connection,
    address: Address<'_>,
    from: u64,
    to: u64,
) -> Result<Vec<StoredCheckpoint>, TransactionError> {
    let mut found = Vec::new();
    for segment in segments(connection, address)? {
        let Some(end) = segment.last_id(to) else {
            break;
        };
        // The first of them ends in the last row with a smaller id, or begins there.
        let start = match segment.last_id(from) {
            Some(id) if id > segment.start() => last_rows(connection, segment.start(), id - 1, 1)?
                .pop()
                .map(|row| row.id),
            _ => None,
        };
        let rows = last_rows(connection, start.unwrap_or(segment.start()), end, i64::MAX)?;
        let rows = decode(address, segment, &rows)?;
        let checkpoints = rows.into_iter().flat_map(|row| row.checkpoints);
        found.extend(checkpoints.filter(|found| (from..=to).contains(&found.seq)));
    }
    Ok(found)
}

/// At most `limit` checkpoints with numbers up to `to`, the newest first.
pub(crate) fn newest(
    connection: &Connection,
    address: Address<'_>,
    to: u64,
    limit: usize,
) -> Result<Vec<StoredCheckpoint>, TransactionError> {
    let mut found = Vec::new();
    // One more than may be needed: a checkpoint may begin in the row before.
    let rows_at_once = i64::try_from(limit).map_or(ROWS_AT_ONCE, |limit| {
        ROWS_AT_ONCE.min(limit.saturating_add(1))
    });
    let segments = segments(connection, address)?;
    'segments: for segment in segments.iter().rev() {
        let mut to = to;
        while let Some(end) = segment.last_id(to) {
            if found.len() >= limit {
                break 'segments;
            }
            let rows = last_rows(connection, segment.start(), end, rows_at_once)?;
            let contents = decode(address, *segment, &rows)?;
            if end == segment.end() {
                check_end(address, &rows, &contents)?;
            }
            if i64::try_from(rows.len()).is_ok_and(|found| found < rows_at_once) {
                check_begin(address, &rows)?;
            }
            let checkpoints = contents
                .into_iter()
                .rev()
                .flat_map(|row| row.checkpoints.into_iter().rev());
            let checkpoints: Vec<_> = checkpoints.filter(|found| found.seq <= to).collect();
            let Some(before) = checkpoints
                .last()
                .and_then(|oldest| oldest.seq.checked_sub(1))
            else {
                found.extend(checkpoints);
                break;
            };
            found.extend(checkpoints);
            to = before;
        }
    }
    if found.is_empty() && limit > 0 {
        // Nothing is found in a log that is damaged, and below the first checkpoint of one that is not.
        for segment in segments {
            end_of(connection, address, segment)?;
        }
    }
    if let Some(newest) = found.first().filter(|_| to == u64::MAX) {
        check_status(connection, address, newest.seq)?;
    }
    found.truncate(limit);
    Ok(found)
}

/// Checks that the newest checkpoint of a thread's own flow is not older than the one for which its status was set.
fn check_status(
    connection: &Connection,
    address: Address<'_>,
    newest: u64,
) -> Result<(), TransactionError> {
    if !address.namespace.is_empty() {
        return Ok(());
    }
    let at = "SELECT at FROM threads WHERE thread = ?1 AND at > ?2";
    let at: Option<i64> = connection
        .prepare_cached(at)?
        .query_row(params![address.thread, sql_integer(newest)?], |row| {
            row.get(0)
        })
        .optional()?;
    match at {
        Some(at) => Err(damaged(
            address,
            &format!(
                "its status is that of checkpoint {at}, and checkpoint {newest} is the newest"
            ),
        )),
        None => Ok(()),
    }
}

/// Removes the checkpoints with numbers below `seq`. Returns whether a segment has none any more.
pub(crate) fn prune(
    connection: &Connection,
    address: Address<'_>,
    seq: u64,
) -> Result<bool, TransactionError> {
    let mut emptied = false;
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
            emptied = true;
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

/// Removes the logs of all addresses of a thread.
pub(crate) fn delete(connection: &Connection, thread: &str) -> Result<(), TransactionError> {
    let numbers = "DELETE FROM addresses WHERE thread = ?1 RETURNING number, first";
    let segments: Vec<Segment> = connection
        .prepare_cached(numbers)?
        .query_map([thread], Segment::read)?
        .collect::<rusqlite::Result<_>>()?;
    for segment in segments {
        delete_rows(connection, segment.start(), segment.end())?;
    }
    Ok(())
}

fn delete_rows(connection: &Connection, from: i64, to: i64) -> Result<(), TransactionError> {
    let delete = "DELETE FROM log WHERE id BETWEEN ?1 AND ?2";
    connection.prepare_cached(delete)?.execute([from, to])?;
    Ok(())
}

fn sql_len(len: usize) -> Result<i64, TransactionError> {
    sql_integer(len as u64)
}
