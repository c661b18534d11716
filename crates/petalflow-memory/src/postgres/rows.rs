//! Rows as entries.

use petalflow_postgres::database::tokio_postgres::Row;
use petalflow_postgres::database::tokio_postgres::types::FromSqlOwned;

use crate::stored::{Stored, namespace_and_key};
use crate::{Entry, MemoryError};

/// The entry of a row that begins with the columns of an entry.
pub(super) fn entry(row: &Row) -> Result<Entry, MemoryError> {
    let sort_key: Vec<u8> = column(row, 0)?;
    let Some((namespace, key)) = namespace_and_key(&sort_key) else {
        let problem = "the sort key of an entry of the memory is damaged: restore a backup";
        return Err(MemoryError::Other(problem.into()));
    };
    let stored = Stored {
        value: column(row, 1)?,
        created_ms: column::<i64>(row, 2)?.unsigned_abs(),
        updated_ms: column::<i64>(row, 3)?.unsigned_abs(),
        expires_ms: column::<Option<i64>>(row, 4)?.map(i64::unsigned_abs),
    };
    stored.entry(namespace, key)
}

/// The index of the first column that is not part of the entry.
pub(super) const EXTRA: usize = 5;

pub(super) fn column<T: FromSqlOwned>(row: &Row, index: usize) -> Result<T, MemoryError> {
    row.try_get(index)
        .map_err(|error| MemoryError::Other(Box::new(error)))
}
