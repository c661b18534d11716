//! The end of a log, where the next checkpoint is added.

use petalflow::checkpoint::Address;
use rusqlite::Connection;

use super::entry::Reference;
use super::row::end_of;
use super::segment::{Segment, segments};
use crate::error::TransactionError;

/// The bytes that fit into a row on one page of 1,024 bytes, beside 21 bytes of the other columns. A row with more is complete,
/// and nothing is added to it.
const FULL_ROW_BYTES: usize = 968;

/// The end of a log: where the next checkpoint is added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(super) segment: Segment,
    /// The last row, and the length of its bytes.
    pub(super) id: i64,
    pub(super) len: usize,
    pub(super) reference: Option<Reference>,
    pub(crate) newest: u64,
}

impl Tail {
    /// How many bytes the row may have when the checkpoint `newest` ends in it. The column `span` may take more than one byte.
    pub(super) fn full(&self, newest: u64) -> usize {
        let long = self.segment.id(newest).is_some_and(|id| id - self.id > 127);
        if long {
            FULL_ROW_BYTES - 3
        } else {
            FULL_ROW_BYTES
        }
    }
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
