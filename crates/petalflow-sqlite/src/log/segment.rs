//! Segments: the checkpoints of an address whose rows in the log have ids with the same number.

use petalflow::checkpoint::Address;
use rusqlite::{Connection, Row as SqlRow};

use crate::error::TransactionError;
use crate::integer::read_integer;

/// The bits of a row's id below the number of its segment.
const SEGMENT_BITS: u32 = 32;

/// Checkpoints of an address whose rows have ids with the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) number: i64,
    /// The number of its first checkpoint.
    pub(crate) first: u64,
}

/// The segments of an address in the order of their numbers. There is nearly always one.
///
/// Fails if the address must have one.
pub(crate) fn segments(
    connection: &Connection,
    address: Address<'_>,
) -> Result<Vec<Segment>, TransactionError> {
    let segments =
        "SELECT number, first FROM addresses WHERE thread = ?1 AND namespace = ?2 ORDER BY first";
    let mut segments = connection.prepare_cached(segments)?;
    let segments = segments.query_map([address.thread, address.namespace], Segment::read)?;
    let segments = segments.collect::<rusqlite::Result<Vec<_>>>()?;
    if segments.is_empty() && lacks_segments(connection, address)? {
        return Err(damaged(
            address,
            "the table `threads` has a row of a thread with checkpoints, and the table `addresses` lacks a row of it",
        ));
    }
    Ok(segments)
}

/// Whether an address without a segment must have one: its thread has begun and has none at all, or it is that of the thread's own
/// flow, and the thread has the status of one of its checkpoints.
fn lacks_segments(connection: &Connection, address: Address<'_>) -> Result<bool, TransactionError> {
    let lacks = "SELECT 1 FROM threads WHERE thread = ?1 AND (?2 = '' AND at IS NOT NULL
        OR created_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM addresses WHERE thread = ?1))";
    let mut lacks = connection.prepare_cached(lacks)?;
    Ok(lacks.exists([address.thread, address.namespace])?)
}

pub(crate) fn damaged(address: Address<'_>, problem: &str) -> TransactionError {
    let within = match address.namespace {
        "" => String::new(),
        namespace => format!(" (in `{namespace}`)"),
    };
    TransactionError::damaged(address.thread, &format!("{problem}{within}"))
}

impl Segment {
    /// The id of a row in which the checkpoint `seq` is the first that ends. `None` if it is in another segment.
    pub(crate) fn id(self, seq: u64) -> Option<i64> {
        let distance = seq.checked_sub(self.first)?;
        Some(self.start() | i64::from(u32::try_from(distance).ok()?))
    }

    /// The largest id of a row with checkpoints up to `seq`. `None` if the segment has no such row.
    pub(crate) fn last_id(self, seq: u64) -> Option<i64> {
        let distance = seq.checked_sub(self.first)?;
        Some(self.start() | i64::from(u32::try_from(distance).unwrap_or(u32::MAX)))
    }

    pub(crate) fn start(self) -> i64 {
        self.number << SEGMENT_BITS
    }

    pub(crate) fn end(self) -> i64 {
        self.start() | i64::from(u32::MAX)
    }

    pub(crate) fn read(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        Ok(Segment {
            number: row.get(0)?,
            first: read_integer(row, 1)?,
        })
    }
}
