//! The parameters of the statements that store checkpoints and writes.

use std::collections::BTreeMap;
use std::ops::Range;

use petalflow::checkpoint::{Address, StoreError, StoredCheckpoint, StoredWrite};
use tokio_postgres::types::ToSql;

use crate::{rows, sql};

/// The parameters of [`sql::APPEND_FIRST`] or [`sql::APPEND_AFTER`].
pub(crate) struct AppendRow<'a> {
    address: Address<'a>,
    seq: i64,
    base: i64,
    created_ms: i64,
    bytes: &'a [u8],
    /// The first and the last number of the settled writes.
    settled: (i64, i64),
    owner: Option<&'a str>,
    known: Option<i64>,
}

impl<'a> AppendRow<'a> {
    pub(crate) fn new(
        address: Address<'a>,
        checkpoint: &'a StoredCheckpoint,
        after: Option<u64>,
        settled: &Range<u64>,
        owner: Option<&'a str>,
    ) -> Result<Self, StoreError> {
        Ok(AppendRow {
            address,
            seq: rows::to_bigint(checkpoint.seq)?,
            base: rows::to_bigint(checkpoint.base)?,
            created_ms: rows::to_time(checkpoint.created_ms),
            bytes: &checkpoint.bytes,
            settled: rows::bounds(settled),
            owner,
            known: after.map(rows::to_bigint).transpose()?,
        })
    }

    pub(crate) fn statement(&self) -> &'static str {
        match self.known {
            Some(_) => sql::APPEND_AFTER,
            None => sql::APPEND_FIRST,
        }
    }

    pub(crate) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![
            &self.address.thread,
            &self.address.namespace,
            &self.seq,
            &self.base,
            &self.created_ms,
            &self.bytes,
            &self.settled.0,
            &self.settled.1,
            &self.owner,
        ];
        if let Some(known) = &self.known {
            params.push(known);
        }
        params
    }
}

/// The parameters of [`sql::WRITE`].
pub(crate) struct WriteRows<'a> {
    address: Address<'a>,
    seq: i64,
    tasks: Vec<Vec<u8>>,
    names: Vec<&'a str>,
    bytes: Vec<&'a [u8]>,
    owner: Option<&'a str>,
}

impl<'a> WriteRows<'a> {
    pub(crate) fn new(
        address: Address<'a>,
        seq: u64,
        writes: &'a [StoredWrite],
        owner: Option<&'a str>,
    ) -> Result<Self, StoreError> {
        // A statement cannot replace a row that it has inserted itself, so the last write of each name is chosen here. All calls
        // have the same order, so that two of them cannot wait for each other.
        let last: BTreeMap<_, _> = writes
            .iter()
            .map(|write| {
                let key = (write.task.to_bytes(), write.name.as_str());
                (key, write.bytes.as_slice())
            })
            .collect();
        Ok(WriteRows {
            address,
            seq: rows::to_bigint(seq)?,
            tasks: last.keys().map(|(task, _)| task.to_vec()).collect(),
            names: last.keys().map(|(_, name)| *name).collect(),
            bytes: last.values().copied().collect(),
            owner,
        })
    }

    pub(crate) fn params(&self) -> [&(dyn ToSql + Sync); 7] {
        [
            &self.address.thread,
            &self.address.namespace,
            &self.seq,
            &self.tasks,
            &self.names,
            &self.bytes,
            &self.owner,
        ]
    }
}
