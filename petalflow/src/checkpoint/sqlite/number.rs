//! Numbers of the contract, which have no sign, as those of SQLite, which have.

use std::ops::Range;

use super::problem::{Failure, Place};

/// A number to be stored.
pub(crate) fn stored(number: u64) -> Result<i64, Failure> {
    i64::try_from(number).map_err(|_| {
        Failure::Refused(Place::refused(format!(
            "{number} cannot be stored: numbers and times stay below 2^63"
        )))
    })
}

/// A number that was stored.
pub(crate) fn loaded(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// The first and the last number of a range that can be stored, if there is one.
pub(super) fn span(range: &Range<u64>) -> Option<(i64, i64)> {
    if range.start >= range.end {
        return None;
    }
    let first = i64::try_from(range.start).ok()?;
    Some((first, i64::try_from(range.end - 1).unwrap_or(i64::MAX)))
}
