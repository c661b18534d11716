//! Conversion of numbers and rows.

use std::ops::Range;

use petalflow::checkpoint::{
    StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadInfo, ThreadStatus,
};
use petalflow::event::TaskId;
use tokio_postgres::Row;

use crate::error::problem;

/// The number of a checkpoint as PostgreSQL stores it.
pub(crate) fn to_bigint(seq: u64) -> Result<i64, StoreError> {
    i64::try_from(seq).map_err(|_| {
        problem(format!(
            "checkpoint number {seq} is too large: PostgreSQL stores numbers up to {}",
            i64::MAX
        ))
    })
}

/// The last number below `end` that can be stored. -1 if there is none.
pub(crate) fn last_below(end: u64) -> i64 {
    match end.checked_sub(1) {
        Some(last) => i64::try_from(last).unwrap_or(i64::MAX),
        None => -1,
    }
}

/// The first and the last number of a range. The range is empty if the last is smaller.
pub(crate) fn bounds(seqs: &Range<u64>) -> (i64, i64) {
    i64::try_from(seqs.start).map_or((0, -1), |first| (first, last_below(seqs.end)))
}

/// A time, with the same bits, so that every value can be read back.
pub(crate) fn to_time(created_ms: u64) -> i64 {
    created_ms.cast_signed()
}

pub(crate) fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

/// Reads the columns number, base, time, bytes.
pub(crate) fn checkpoint(row: &Row) -> StoredCheckpoint {
    StoredCheckpoint {
        seq: number(row, 0),
        base: number(row, 1),
        created_ms: number(row, 2),
        bytes: row.get(3),
    }
}

/// Reads the rows of [`READ`](super::sql::READ), which are in any order.
pub(crate) fn stored(thread: &str, rows: &[Row]) -> Result<Option<Stored>, StoreError> {
    let mut stored = Stored::default();
    for row in rows {
        match row.get(4) {
            None => stored.chain.push(checkpoint(row)),
            Some(task) => stored.writes.push(StoredWrite {
                task: task_id(thread, task)?,
                name: row.get(5),
                bytes: row.get(3),
            }),
        }
    }
    stored.chain.sort_by_key(|checkpoint| checkpoint.seq);
    stored
        .writes
        .sort_by(|a, b| (a.task, &a.name).cmp(&(b.task, &b.name)));
    Ok((!stored.chain.is_empty()).then_some(stored))
}

/// Reads the columns number, task, name, bytes.
pub(crate) fn write(thread: &str, row: &Row) -> Result<(u64, StoredWrite), StoreError> {
    let write = StoredWrite {
        task: task_id(thread, row.get(1))?,
        name: row.get(2),
        bytes: row.get(3),
    };
    Ok((number(row, 0), write))
}

/// Reads the columns of [`THREADS`](super::sql::THREADS).
pub(crate) fn thread_info(row: &Row) -> ThreadInfo {
    let status: Option<&str> = row.get(6);
    let texts = |column| {
        row.get::<_, Option<Vec<String>>>(column)
            .unwrap_or_default()
    };
    ThreadInfo {
        id: row.get(0),
        checkpoints: number(row, 1),
        bytes: number(row, 2),
        created_ms: number(row, 3),
        updated_ms: number(row, 4),
        flow: row.get(5),
        status: status.and_then(ThreadStatus::named).unwrap_or_default(),
        due_ms: row.get::<_, Option<i64>>(7).map(i64::cast_unsigned),
        labels: texts(8).into_iter().zip(texts(9)).collect(),
    }
}

fn task_id(thread: &str, bytes: &[u8]) -> Result<TaskId, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Damaged {
        thread: thread.into(),
        problem: format!("the id of a task has {} bytes instead of 16", bytes.len()),
    })?;
    Ok(TaskId::from_bytes(bytes))
}
