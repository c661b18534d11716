//! Publishing the events of the threads that an engine runs.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex};

use super::AnyEngine;
use crate::checkpoint::ThreadStatus;
use crate::clock::now_ms;
use crate::engine::records::ThreadRecords;
use crate::engine::records_error::RecordsError;
use crate::engine::stream::{PassEvents, Role, StreamedEvent};
use crate::event::RunEnd;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::state::RawValue;

impl AnyEngine {
    pub(in crate::engine) fn publish_end<'a>(
        &'a self,
        thread: &'a str,
        records: &'a ThreadRecords,
        number: u64,
        failure: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), RecordsError>> {
        Box::pin(async move {
            let Some(publisher) = &self.publisher else {
                return Ok(());
            };
            let Some((kind, superstep, value)) = self.turn_end(thread, records, failure).await?
            else {
                return Ok(());
            };
            publisher.publish(StreamedEvent {
                thread: thread.into(),
                checkpoint: records.newest_number(),
                superstep,
                task: None,
                attempt: number,
                sequence: 0,
                recorded_ms: now_ms(),
                kind: kind.into(),
                value,
            });
            publisher.flush().await;
            Ok(())
        })
    }

    /// How a turn ends: the kind of the event, the superstep, and the event. `None` if the thread does not rest.
    pub(super) async fn turn_end(
        &self,
        thread: &str,
        records: &ThreadRecords,
        failure: Option<&str>,
    ) -> Result<Option<(&'static str, u64, RawValue)>, RecordsError> {
        let (status, due_ms) = records.status()?;
        if status == ThreadStatus::Running {
            return Ok(None);
        }
        let (_, thread) = self.edited(thread, records)?;
        // A thread whose state cannot be read rests as well.
        let snapshot = thread.snapshot().await.ok().flatten();
        let has_finished = snapshot.as_ref().is_some_and(|snapshot| {
            snapshot.interrupts.is_empty() && snapshot.info.next.is_empty()
        });
        let kind = match status {
            ThreadStatus::Finished => "finished",
            // Its run has finished, and it waits for the next turn: see `Launch::waits_when`.
            ThreadStatus::Waiting if has_finished => "finished",
            ThreadStatus::Waiting => "interrupted",
            ThreadStatus::Sleeping => "sleeping",
            _ => "failed",
        };
        let is_held = status == ThreadStatus::Held;
        let interrupts = snapshot
            .as_ref()
            .map_or(&[][..], |snapshot| &snapshot.interrupts);
        let superstep = snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.info.superstep);
        let error = match (failure, is_held) {
            (Some(failure), _) => Some(failure.to_string()),
            (None, true) => Some("the run was cancelled".to_string()),
            (None, false) => None,
        };
        let end = RunEnd {
            kind,
            superstep,
            interrupts: if kind == "interrupted" {
                interrupts
            } else {
                &[]
            },
            error: error.filter(|_| kind == "failed"),
            reason: is_held.then_some("cancelled"),
            // A question that waits says itself when it expires.
            wakes_ms: due_ms.filter(|_| status == ThreadStatus::Sleeping),
        };
        let value = RawValue::new(&end).ok();
        Ok(value.map(|value| (kind, superstep, value)))
    }

    /// The receiver of the events of a pass that runs a superstep, or this task of it.
    pub(super) fn pass_events(
        &self,
        thread: &str,
        records: &ThreadRecords,
        used: u64,
        task: Option<TaskId>,
    ) -> Option<Arc<PassEvents>> {
        let publisher = self.publisher.as_ref()?;
        Some(Arc::new(PassEvents {
            publisher: Arc::clone(publisher),
            role: Role::of(task, &self.placed),
            thread: thread.into(),
            checkpoint: records.newest_number(),
            is_first: used == 0,
            attempt: RandomState::new().hash_one(0),
            sequence: Mutex::new(0),
        }))
    }
}
