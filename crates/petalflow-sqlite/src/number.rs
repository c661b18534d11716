//! Numbers of the contract, which have no sign, as those of SQLite, which have.

use std::ops::Range;

pub(crate) use crate::database::{read_integer as loaded, sql_integer as stored};

/// The first and the last number of a range that can be stored, if there is one.
pub(crate) fn span(range: &Range<u64>) -> Option<(i64, i64)> {
    if range.start >= range.end {
        return None;
    }
    let first = i64::try_from(range.start).ok()?;
    Some((first, i64::try_from(range.end - 1).unwrap_or(i64::MAX)))
}
