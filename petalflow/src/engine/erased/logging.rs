//! The event log in the records of a thread that an engine keeps.

use std::sync::Arc;

use super::AnyEngine;
use crate::durable::record_of;
use crate::engine::record_changes::RecordChanges;
use crate::engine::record_form::log_record;
use crate::engine::records::ThreadRecords;
use crate::engine::records_error::RecordsError;
use crate::engine::stream::Role;
use crate::event::{LogCandidate, LogRole, TimedEntry};
use crate::future::BoxFuture;
use crate::thread::AnyThreads;

/// The kinds of events of single passes, of which a turn has many. The beginning of a turn is logged with its input.
const OF_PASSES: [&str; 4] = [
    "node_restored",
    "run_started",
    "superstep_finished",
    "superstep_started",
];

impl AnyEngine {
    pub(in crate::engine) fn log_end<'a>(
        &'a self,
        thread: &'a str,
        records: &'a ThreadRecords,
        at_ms: u64,
        failure: Option<&'a str>,
    ) -> BoxFuture<'a, Result<RecordChanges, RecordsError>> {
        Box::pin(async move {
            if self.logs.is_none() {
                return Ok(RecordChanges::default());
            }
            let Some((kind, _, value)) = self.turn_end(thread, records, failure).await? else {
                return Ok(RecordChanges::default());
            };
            let end = TimedEntry {
                at_ms,
                entry: (kind.into(), value),
            };
            let record = record_of(&[end], records.last_event(), at_ms);
            let (key, bytes) = log_record(&record);
            Ok(RecordChanges(vec![(key, Some(bytes))]))
        })
    }

    /// Logs the runs that begin turns.
    pub(super) fn logging_start(&self, mut threads: AnyThreads) -> AnyThreads {
        if self.logs.is_some() {
            threads.event_log = self.logs;
            threads.log_role = LogRole::Start;
        }
        threads
    }

    /// Logs what counts of a pass.
    pub(super) fn logging_part(&self, mut threads: AnyThreads, role: Role) -> AnyThreads {
        if self.logs.is_none() {
            return threads;
        }
        let keeps = move |event: &LogCandidate<'_>| {
            !event.is_partial
                && !OF_PASSES.contains(&event.kind)
                && role.counts(false, event.namespace, event.kind, event.task)
        };
        threads.event_log = self.logs;
        threads.event_filter = Some(Arc::new(keeps));
        threads.log_role = LogRole::Part;
        threads
    }
}
