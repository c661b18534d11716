//! Conversion of numbers and rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use petalflow::checkpoint::{
    Address, Attribute, StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadInfo, ThreadStatus,
};
use petalflow::error::message_with_sources;
use petalflow::event::TaskId;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::{UNKNOWN, damaged, problem};

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

/// Reads the rows of one thread. Each value that this store never writes is an error that names the thread and the table.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) thread: &'a str,
    pub(crate) table: &'a str,
}

impl Reader<'_> {
    pub(crate) fn get<'r, T: FromSql<'r>>(
        self,
        row: &'r Row,
        column: usize,
    ) -> Result<T, StoreError> {
        row.try_get(column).map_err(|error| {
            let problem = message_with_sources(&error);
            self.damaged(&format!("a row has a value of the wrong type ({problem})"))
        })
    }

    fn number(self, row: &Row, column: usize) -> Result<u64, StoreError> {
        let number: i64 = self.get(row, column)?;
        u64::try_from(number)
            .map_err(|_| self.damaged(&format!("a row has the negative number {number}")))
    }

    fn optional_number(self, row: &Row, column: usize) -> Result<Option<u64>, StoreError> {
        match self.get::<Option<i64>>(row, column)? {
            Some(_) => self.number(row, column).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the columns number, base, time, bytes, which begin here.
    fn checkpoint(self, row: &Row, column: usize) -> Result<StoredCheckpoint, StoreError> {
        Ok(StoredCheckpoint {
            seq: self.number(row, column)?,
            base: self.number(row, column + 1)?,
            created_ms: self.number(row, column + 2)?,
            bytes: self.get(row, column + 3)?,
        })
    }

    fn task_id(self, row: &Row, column: usize) -> Result<TaskId, StoreError> {
        let bytes: &[u8] = self.get(row, column)?;
        let bytes = bytes.try_into().map_err(|_| {
            self.damaged(&format!(
                "the id of a task has {} bytes instead of 16",
                bytes.len()
            ))
        })?;
        Ok(TaskId::from_bytes(bytes))
    }

    pub(crate) fn damaged(self, problem: &str) -> StoreError {
        damaged(
            self.thread,
            &format!("in the table `{}`, {problem}", self.table),
        )
    }
}

/// Reads the rows of [`READ`](super::sql::READ), which are in any order.
pub(crate) fn stored(address: Address<'_>, rows: &[Row]) -> Result<Option<Stored>, StoreError> {
    let mut stored = Stored::default();
    for row in rows {
        match part(address, row)? {
            Part::Head => {}
            Part::Checkpoint(reader) => stored.chain.push(reader.checkpoint(row, 1)?),
            Part::Write(reader) => stored.writes.push(StoredWrite {
                task: reader.task_id(row, 5)?,
                name: reader.get(row, 6)?,
                bytes: reader.get(row, 4)?,
            }),
        }
    }
    stored.chain.sort_by_key(|checkpoint| checkpoint.seq);
    stored
        .writes
        .sort_by(|a, b| (a.task, &a.name).cmp(&(b.task, &b.name)));
    Ok((!stored.chain.is_empty()).then_some(stored))
}

/// Reads the rows of [`HISTORY`](super::sql::HISTORY), which are in any order.
pub(crate) fn history(
    address: Address<'_>,
    rows: &[Row],
) -> Result<Vec<StoredCheckpoint>, StoreError> {
    let mut checkpoints = Vec::with_capacity(rows.len());
    for row in rows {
        if let Part::Checkpoint(reader) = part(address, row)? {
            checkpoints.push(reader.checkpoint(row, 1)?);
        }
    }
    checkpoints.sort_by_key(|checkpoint| Reverse(checkpoint.seq));
    Ok(checkpoints)
}

/// What a row of [`READ`](super::sql::READ) is.
enum Part<'a> {
    /// The numbers of the line, which fit together.
    Head,
    Checkpoint(Reader<'a>),
    Write(Reader<'a>),
}

fn part<'a>(address: Address<'a>, row: &Row) -> Result<Part<'a>, StoreError> {
    let reader = |table| Reader {
        thread: address.thread,
        table,
    };
    match row.get::<_, i32>(0) {
        0 => check_head(address, row, 1, row.len() - 1).map(|_| Part::Head),
        1 => Ok(Part::Checkpoint(reader("checkpoints"))),
        _ => Ok(Part::Write(reader("task_writes"))),
    }
}

/// Reads the columns of [`HEAD`](super::sql::HEAD), which begin here, and its counts. Returns the newest checkpoint. Fails if a row is
/// missing.
pub(crate) fn check_head(
    address: Address<'_>,
    row: &Row,
    column: usize,
    counts: usize,
) -> Result<Option<u64>, StoreError> {
    let Address { thread, namespace } = address;
    let table = "lines";
    let reader = Reader { thread, table };
    let newest = reader.optional_number(row, column)?;
    let last = reader.optional_number(row, column + 1)?;
    let status_at = reader.optional_number(row, column + 2)?;
    let counts: Vec<i64> = reader.get(row, counts)?;
    let name = |seq: Option<u64>| seq.map_or("none".into(), |seq| format!("checkpoint {seq}"));
    if newest != last {
        return Err(reader.damaged(&format!(
            "the newest of the namespace `{namespace}` is {}, and in the table `checkpoints` it is {}",
            name(newest),
            name(last)
        )));
    }
    if status_at > newest {
        return Err(reader.damaged(&format!(
            "the newest is {}, and in the table `threads` the status is that of {}",
            name(newest),
            name(status_at)
        )));
    }
    let [writes, stored_writes, lines, stored_lines] = counts[..] else {
        return Err(reader.damaged("a row has not four counts"));
    };
    if writes != stored_writes {
        return Err(reader.damaged(&format!(
            "the namespace `{namespace}` has {writes} writes, and in the table `task_writes` it has {stored_writes}"
        )));
    }
    if lines != stored_lines {
        return Err(reader.damaged(&format!(
            "it has {stored_lines} rows, and in the tables `threads` and `known_lines` it has {lines}"
        )));
    }
    Ok(newest)
}

/// Reads the columns number, task, name, bytes.
pub(crate) fn write(thread: &str, row: &Row) -> Result<(u64, StoredWrite), StoreError> {
    let table = "task_writes";
    let reader = Reader { thread, table };
    let write = StoredWrite {
        task: reader.task_id(row, 1)?,
        name: reader.get(row, 2)?,
        bytes: reader.get(row, 3)?,
    };
    Ok((reader.number(row, 0)?, write))
}

/// A thread of the index that has no checkpoints.
pub(crate) fn lost_thread(id: &str) -> Result<ThreadInfo, StoreError> {
    let problem = "its rows of the tables `lines` and `checkpoints` are missing";
    ThreadInfo::of_damage(damaged(id, problem))
}

/// Reads the columns of [`THREADS`](super::sql::THREADS).
pub(crate) fn thread_info(row: &Row) -> Result<ThreadInfo, StoreError> {
    let table = "threads";
    let unknown = Reader {
        thread: UNKNOWN,
        table,
    };
    let id: String = unknown.get(row, 0)?;
    let reader = Reader { thread: &id, table };
    if !reader.get::<bool>(row, 10)? {
        return Err(damaged(
            &id,
            "its rows of the tables `lines`, `checkpoints` and `threads` do not fit together",
        ));
    }
    let status: Option<&str> = reader.get(row, 6)?;
    let texts = |column| reader.get::<Option<Vec<String>>>(row, column);
    let (names, values) = (texts(8)?.unwrap_or_default(), texts(9)?.unwrap_or_default());
    if names.len() != values.len() {
        return Err(reader.damaged("a row has not as many names of labels as values"));
    }
    let attributes = attributes(&id, reader.get(row, 11)?, reader.get(row, 12)?)?;
    Ok(ThreadInfo {
        checkpoints: reader.number(row, 1)?,
        bytes: reader.number(row, 2)?,
        created_ms: reader.number(row, 3)?,
        updated_ms: reader.number(row, 4)?,
        flow: reader.get(row, 5)?,
        status: status.and_then(ThreadStatus::named).unwrap_or_default(),
        due_ms: reader.optional_number(row, 7)?,
        labels: names.into_iter().zip(values).collect(),
        attributes,
        id,
        damage: None,
    })
}

/// Reads the search attributes of a thread.
fn attributes(
    thread: &str,
    names: Vec<String>,
    values: Vec<Vec<u8>>,
) -> Result<BTreeMap<String, Attribute>, StoreError> {
    let table = "attributes";
    let reader = Reader { thread, table };
    let attribute = |(name, value)| match Attribute::from_bytes(value) {
        Some(value) => Ok((name, value)),
        None => Err(reader.damaged(&format!("its attribute `{name}` has no value"))),
    };
    names.into_iter().zip(values).map(attribute).collect()
}
