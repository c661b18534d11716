//! Numbers of the store contract, which have no sign, as SQLite's integers, which have one.

use std::ops::Range;

use rusqlite::types::ValueRef;

use crate::error::{DatabaseFile, TransactionError};

/// A number as SQLite stores it.
///
/// # Errors
///
/// SQLite's integers have a sign: numbers from 2^63 are refused.
pub fn sql_integer(number: u64) -> Result<i64, TransactionError> {
    i64::try_from(number).map_err(|_| {
        TransactionError::Refused(DatabaseFile::refused(format!(
            "{number} cannot be stored: numbers and times stay below 2^63"
        )))
    })
}

/// Reads a number that [`sql_integer`] wrote.
///
/// # Errors
///
/// The column holds no integer, or a negative one.
pub fn read_integer(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// As [`read_integer`], for a column that may be null.
pub(crate) fn read_optional_integer(
    row: &rusqlite::Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<u64>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => read_integer(row, column).map(Some),
    }
}

/// The first and the last number of a range that can be stored. `None` if the range has no such number.
pub(crate) fn bounds(range: &Range<u64>) -> Option<(i64, i64)> {
    if range.start >= range.end {
        return None;
    }
    let first = i64::try_from(range.start).ok()?;
    Some((first, i64::try_from(range.end - 1).unwrap_or(i64::MAX)))
}
