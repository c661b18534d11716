//! What the store keeps of a schedule: whether it is paused, and up to when its planned times are handled. It is the state
//! of a thread, which is edited, so that two processes do not undo what the other one writes.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use petalflow::checkpoint::Store;
use petalflow::prelude::*;
use petalflow::thread::{Edit, Retention, Thread, ThreadError, Threads};

use crate::refusal::Refusal;

/// How often a thread is tried that another process writes at the same moment.
const ATTEMPTS: u32 = 50;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);

#[state]
pub(crate) struct Record {
    #[key(input)]
    pub(crate) paused: bool,
    /// The planned time up to which all have been begun or skipped, in milliseconds since 1970.
    #[key(input)]
    pub(crate) handled_ms: i64,
}

/// A flow has a node.
#[node(Record)]
async fn keep() {}

flow!(ScheduleRecord(Record) { keep });

/// The records of all schedules of a store.
pub(crate) struct Records(Threads<ScheduleRecord>);

impl Records {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        let threads = ScheduleRecord::new().store(store);
        Records(threads.retention(Retention::max_checkpoints(1)))
    }

    /// The record of a schedule. A new one has handled all times up to now.
    pub(crate) async fn load(&self, schedule: &str, now: Timestamp) -> Result<Record, Refusal> {
        let thread = self.thread(schedule);
        for _ in 0..ATTEMPTS {
            if let Some(snapshot) = thread.snapshot().await? {
                return Ok(snapshot.state);
            }
            let input = RecordInput {
                paused: false,
                handled_ms: now.as_millisecond(),
            };
            let Err(error) = thread.run(input).await else {
                continue;
            };
            let is_busy = matches!(error.thread_error(), Some(ThreadError::Busy { .. }));
            if !is_busy {
                return Err(error.into());
            }
            tokio::time::sleep(ATTEMPT_INTERVAL).await;
        }
        Err(busy(schedule).into())
    }

    /// Notes that all planned times up to this one are handled.
    pub(crate) async fn set_handled(
        &self,
        schedule: &str,
        time: Timestamp,
    ) -> Result<(), ThreadError> {
        self.edit(schedule, || {
            Edit::new(RecordHandledMs(time.as_millisecond()))
        })
        .await
    }

    /// Pauses a schedule. No time is missed while it is paused.
    pub(crate) async fn pause(&self, schedule: &str) -> Result<(), ThreadError> {
        self.edit(schedule, || Edit::new(RecordPaused(true))).await
    }

    /// Continues a paused schedule, with the times after this one.
    pub(crate) async fn unpause(&self, schedule: &str, now: Timestamp) -> Result<(), ThreadError> {
        let edit = || Edit::new((RecordPaused(false), RecordHandledMs(now.as_millisecond())));
        self.edit(schedule, edit).await
    }

    async fn edit(
        &self,
        schedule: &str,
        edit: impl Fn() -> Edit<Record>,
    ) -> Result<(), ThreadError> {
        let thread = self.thread(schedule);
        for _ in 0..ATTEMPTS {
            match thread.update(edit()).await {
                Ok(_) => return Ok(()),
                Err(ThreadError::Busy { .. }) => tokio::time::sleep(ATTEMPT_INTERVAL).await,
                Err(error) => return Err(error),
            }
        }
        Err(busy(schedule))
    }

    fn thread(&self, schedule: &str) -> Thread<ScheduleRecord> {
        self.0.thread(format!("petalflow.schedule:{schedule}"))
    }
}

fn busy(schedule: &str) -> ThreadError {
    ThreadError::Request(format!(
        "other processes write the record of schedule `{schedule}` all the time"
    ))
}
