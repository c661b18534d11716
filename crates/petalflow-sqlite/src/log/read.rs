//! Reads checkpoints from a log.

use petalflow::checkpoint::{Address, StoredCheckpoint};
use rusqlite::{Connection, OptionalExtension};

use super::row::{check_begin, check_end, decode, end_of, last_rows};
use super::segment::{damaged, segments};
use crate::error::TransactionError;
use crate::integer::read_optional_integer;

/// How many rows are read at once when the newest checkpoints are read first.
const ROWS_AT_ONCE: i64 = 64;

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
        check_thread(connection, address, newest.seq)?;
    }
    found.truncate(limit);
    Ok(found)
}

/// Checks that the rows of a thread with this newest checkpoint of its own flow are those that the table `threads` names.
fn check_thread(
    connection: &Connection,
    address: Address<'_>,
    newest: u64,
) -> Result<(), TransactionError> {
    if !address.namespace.is_empty() {
        return Ok(());
    }
    let known =
        "SELECT at, ifnull(segments, 0), ifnull(labels, 0), (SELECT count(*) FROM addresses a WHERE a.thread = ?1),
        (SELECT count(*) FROM labels l WHERE l.thread = ?1) FROM threads WHERE thread = ?1";
    let known = connection
        .prepare_cached(known)?
        .query_row([address.thread], |row| {
            let counted: [i64; 4] = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
            Ok((read_optional_integer(row, 0)?, counted))
        })
        .optional()?;
    let Some((at, [segments, labels, stored_segments, stored_labels])) = known else {
        return Err(damaged(address, "the table `threads` lacks its row"));
    };
    if let Some(at) = at.filter(|at| *at > newest) {
        let problem =
            format!("its status is that of checkpoint {at}, and checkpoint {newest} is the newest");
        return Err(damaged(address, &problem));
    }
    for (table, counted, stored) in [
        ("addresses", segments, stored_segments),
        ("labels", labels, stored_labels),
    ] {
        if counted != stored {
            let problem = format!(
                "the table `threads` counts {counted} rows of it in the table `{table}`, which has {stored}"
            );
            return Err(damaged(address, &problem));
        }
    }
    Ok(())
}
