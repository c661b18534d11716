//! The sleeps of the tasks of a superstep that was not committed.

use std::collections::HashSet;

use crate::checkpoint::{StoredWrite, WriteName};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{Unpack, unpack};

/// When the sleeps of the tasks without a result end, also those that have ended, in milliseconds since 1970 (UTC).
pub(in crate::durable) fn sleeps(writes: &[StoredWrite]) -> Result<Vec<u64>, ThreadError> {
    let records = || {
        let is_sleep = |write: &&StoredWrite| matches!(write.contents(), Some(WriteName::Sleep(_)));
        writes.iter().filter(is_sleep)
    };
    if records().next().is_none() {
        return Ok(Vec::new());
    }
    let is_done = |write: &&StoredWrite| write.contents() == Some(WriteName::Done);
    let done: HashSet<TaskId> = writes.iter().filter(is_done).map(|it| it.task).collect();
    let of_others = records().filter(|write| !done.contains(&write.task));
    of_others
        .map(|write| {
            let end = unpack(&write.bytes, Unpack::number);
            end.map_err(ThreadError::value("the end of a sleep"))
        })
        .collect()
}
