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
/// A stored time that is later than this after the time of the store is not believed.
const MAX_AHEAD: Duration = Duration::from_mins(1);

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
pub(crate) struct Records {
    threads: Threads<ScheduleRecord>,
    store: Arc<dyn Store>,
}

impl Record {
    /// The time up to which all planned times are handled. One that is more than a minute after the time of the store was stored by a
    /// process with a wrong clock.
    pub(crate) fn handled(&self, now: Timestamp) -> Handled {
        let handled = Timestamp::from_millisecond(self.handled_ms).unwrap_or(Timestamp::MAX);
        let latest = now.checked_add(MAX_AHEAD).unwrap_or(now);
        if handled > latest {
            Handled::Ahead(handled)
        } else {
            Handled::Until(handled)
        }
    }
}

/// Up to when the planned times of a schedule are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    Until(Timestamp),
    /// A time that cannot be: it has not come yet.
    Ahead(Timestamp),
}

impl Records {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        let threads = ScheduleRecord::new().store(store);
        Records {
            threads: threads.retention(Retention::max_checkpoints(1)),
            store: Arc::clone(store),
        }
    }

    /// The time of the store, by which all processes plan.
    pub(crate) async fn now(&self) -> Result<Timestamp, Refusal> {
        let now_ms = self.store.now_ms().await.map_err(ThreadError::from)?;
        let now = i64::try_from(now_ms).ok();
        let now = now.and_then(|now| Timestamp::from_millisecond(now).ok());
        Ok(now.unwrap_or(Timestamp::MAX))
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

    /// Deletes the record of a schedule.
    pub(crate) async fn delete(&self, schedule: &str) -> Result<(), ThreadError> {
        self.thread(schedule).delete().await
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
        self.threads
            .thread(format!("petalflow.schedule:{schedule}"))
    }
}

fn busy(schedule: &str) -> ThreadError {
    ThreadError::Request(format!(
        "other processes write the record of schedule `{schedule}` all the time"
    ))
}
