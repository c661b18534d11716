//! The rows of the log as they are read: decoded, and compared with the numbers beside their bytes.
//!
//! A list of threads uses these numbers without the bytes, and an append adds to them. So a row whose numbers are not those of its
//! bytes is damaged, and so are rows that do not follow each other.

use petalflow::checkpoint::{Address, StoredCheckpoint};
use rusqlite::{Connection, Row as SqlRow, params};

use super::entry::Row;
use super::segment::{Segment, damaged};
use crate::error::TransactionError;
use crate::integer::read_integer;

/// A row of the log.
pub(crate) struct LogRow {
    pub(crate) id: i64,
    pub(crate) carried: usize,
    pub(crate) bytes: Vec<u8>,
    span: u64,
    checkpoints: u64,
    size: u64,
    created_ms: u64,
}

impl LogRow {
    pub(crate) const COLUMNS: &str = "id, carried, bytes, reach, checkpoints, size, created_ms";

    pub(crate) fn read(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        Ok(LogRow {
            id: row.get(0)?,
            carried: usize::try_from(read_integer(row, 1)?).unwrap_or(usize::MAX),
            bytes: row.get(2)?,
            span: read_integer(row, 3)?,
            checkpoints: read_integer(row, 4)?,
            size: read_integer(row, 5)?,
            created_ms: read_integer(row, 6)?,
        })
    }

    /// Decodes the row. `before` is the row before it, which is `None` if it was not read.
    pub(crate) fn decode(
        &self,
        address: Address<'_>,
        segment: Segment,
        before: Option<&Row>,
    ) -> Result<Row, TransactionError> {
        let row = Row::decode(&self.bytes, self.carried, before);
        let begins_here = self.carried == 0 || before.is_some();
        row.filter(|row| self.has(segment, begins_here, &row.checkpoints))
            .ok_or_else(|| self.damaged(address, "cannot be read"))
    }

    /// Whether the numbers of the row are those of the checkpoints that end in it. Unless the first of them `begins_here`, it began
    /// in a row that was not read, and is not among them.
    fn has(&self, segment: Segment, begins_here: bool, ended: &[StoredCheckpoint]) -> bool {
        let unread = u64::from(!begins_here);
        let id = |checkpoint: &StoredCheckpoint| segment.id(checkpoint.seq);
        let span = i64::try_from(self.span).ok();
        let newest = span.and_then(|span| self.id.checked_add(span));
        let size: u64 = ended.iter().map(|it| it.bytes.len() as u64).sum();
        // Earlier versions wrote the latest time, and not that of the newest.
        let latest = ended.iter().map(|it| it.created_ms).max();
        let times = [ended.last().map(|it| it.created_ms), latest];
        let is_known = times.contains(&Some(self.created_ms));
        self.checkpoints == ended.len() as u64 + unread
            && ended.is_sorted_by(|a, b| a.seq < b.seq)
            && ended
                .last()
                .map_or(unread == 1 && self.span == 0, |last| id(last) == newest)
            && if begins_here {
                ended.first().and_then(id) == Some(self.id) && self.size == size && is_known
            } else {
                self.size >= size && (is_known || Some(self.created_ms) > latest)
            }
    }

    pub(crate) fn damaged(&self, address: Address<'_>, problem: &str) -> TransactionError {
        damaged(
            address,
            &format!("row {} of the table `log` {problem}", self.id),
        )
    }
}

/// The last rows with these ids, in the order of the ids.
pub(crate) fn last_rows(
    connection: &Connection,
    from: i64,
    to: i64,
    limit: i64,
) -> Result<Vec<LogRow>, TransactionError> {
    let columns = LogRow::COLUMNS;
    let rows =
        format!("SELECT {columns} FROM log WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3");
    let mut rows = connection.prepare_cached(&rows)?;
    let rows = rows.query_map(params![from, to, limit], LogRow::read)?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    rows.reverse();
    Ok(rows)
}

/// The last two rows of a segment, because its newest checkpoint may begin in the row before the last one.
pub(crate) fn end_of(
    connection: &Connection,
    address: Address<'_>,
    segment: Segment,
) -> Result<(LogRow, Vec<Row>), TransactionError> {
    let mut rows = last_rows(connection, segment.start(), segment.end(), 2)?;
    let contents = decode(address, segment, &rows)?;
    check_end(address, &rows, &contents)?;
    match rows.pop() {
        Some(last) => Ok((last, contents)),
        None => Err(damaged(
            address,
            &format!(
                "its number in the table `addresses` is {}, of which the table `log` has no rows",
                segment.number
            ),
        )),
    }
}

/// Checks that no checkpoint begins in the last row of a segment and ends nowhere.
pub(crate) fn check_end(
    address: Address<'_>,
    rows: &[LogRow],
    contents: &[Row],
) -> Result<(), TransactionError> {
    match rows.last().zip(contents.last()) {
        Some((last, content)) if !content.partial.is_empty() => {
            Err(last.damaged(address, "lacks the row after it"))
        }
        _ => Ok(()),
    }
}

/// Checks the first row of a segment, in which no checkpoint can end that began before.
pub(crate) fn check_begin(address: Address<'_>, rows: &[LogRow]) -> Result<(), TransactionError> {
    match rows.first() {
        Some(first) if first.carried > 0 => Err(first.damaged(address, "lacks the row before it")),
        _ => Ok(()),
    }
}

/// Decodes rows of a segment that follow each other.
pub(crate) fn decode(
    address: Address<'_>,
    segment: Segment,
    rows: &[LogRow],
) -> Result<Vec<Row>, TransactionError> {
    let mut decoded: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        decoded.push(row.decode(address, segment, decoded.last())?);
    }
    Ok(decoded)
}
