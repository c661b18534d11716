//! A driver in the process, over the records of the thread.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{
    Batch, Pass, PassEnd, RecordsError, TaskRequest, ThreadEngine, ThreadRecords,
};
use petalflow::event::TaskId;
use petalflow::state::Storable;
use petalflow::{BoxError, Flow, async_trait};

use super::case::{Driver, DriverCase};

/// A driver in this process that makes one [pass](petalflow::engine) for each superstep: the shortest driver that fulfils the
/// contract, as a model for others.
///
/// ```
/// use petalflow_testing::{Interruptions, SteppedDriver, cases};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow::BoxError> {
/// let driver = SteppedDriver::new().placed().interrupted(Interruptions::each(2));
/// cases::question(&driver).await
/// # }
/// ```
#[derive(Debug, Default)]
pub struct SteppedDriver {
    places: bool,
    logs: bool,
    interruptions: Option<Interruptions>,
}

/// When a [`SteppedDriver`] drops a pass, as a crash would.
///
/// ```
/// let third = petalflow_testing::Interruptions::each(3);
/// assert_eq!([third.next(), third.next(), third.next(), third.next()], [false, false, true, false]);
/// ```
#[derive(Debug)]
pub struct Interruptions {
    each: u64,
    batches: AtomicU64,
}

impl Interruptions {
    /// After every n-th batch that is not the last of its pass.
    pub fn each(batches: u64) -> Self {
        Interruptions {
            each: batches.max(1),
            batches: AtomicU64::new(0),
        }
    }

    /// Whether to drop the pass after this batch.
    pub fn next(&self) -> bool {
        let before = self.batches.fetch_add(1, Ordering::Relaxed);
        (before + 1).is_multiple_of(self.each)
    }
}

impl SteppedDriver {
    /// A driver that runs all tasks in the passes of their supersteps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs each task of a placed node in a pass of its own.
    #[must_use]
    pub fn placed(mut self) -> Self {
        self.places = true;
        self
    }

    /// Logs the events of the thread, which changes no checkpoint.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.logs = true;
        self
    }

    /// Drops passes, which then begin again.
    #[must_use]
    pub fn interrupted(mut self, interruptions: Interruptions) -> Self {
        self.interruptions = Some(interruptions);
        self
    }

    /// Takes the batches of a pass to its end. If it is dropped, `begin` makes it again from the records.
    async fn take(
        &self,
        records: &mut ThreadRecords,
        begin: impl Fn(ThreadRecords, &[TaskRequest]) -> Pass,
        record: impl Fn(&mut ThreadRecords, &Batch) -> Result<(), RecordsError>,
    ) -> Result<(Vec<TaskRequest>, PassEnd), BoxError> {
        let mut requests = Vec::new();
        let mut pass = begin(records.clone(), &requests);
        while let Some(batch) = pass.next().await {
            record(records, &batch)?;
            requests.extend(batch.requests);
            if let Some(end) = batch.end {
                return Ok((requests, end));
            }
            if self.interruptions.as_ref().is_some_and(Interruptions::next) {
                pass = begin(records.clone(), &requests);
            }
        }
        Err("the pass ended without its last batch".into())
    }

    /// Executes supersteps until the thread ends or waits.
    async fn advance<F: Flow<State: Storable>>(
        &self,
        engine: &ThreadEngine<F>,
        records: &mut ThreadRecords,
    ) -> Result<(), BoxError> {
        let thread = DriverCase::<F>::THREAD;
        let mut used = 0;
        let record = |records: &mut ThreadRecords, batch: &Batch| {
            records.apply(&batch.changes);
            Ok(())
        };
        loop {
            let begin = |records, requests: &[TaskRequest]| {
                let requested = requests.iter().map(|request| request.task);
                engine.advance(
                    thread,
                    records,
                    used,
                    requested.collect::<HashSet<TaskId>>(),
                )
            };
            let before = records.clone();
            let (requests, mut end) = self.take(records, begin, record).await?;
            check_requests(engine, &before, used, &requests, &end).await?;
            if !requests.is_empty() {
                if !self.run_tasks(engine, records, used, requests, end).await? {
                    return Ok(());
                }
                let commit = |records, _: &[TaskRequest]| engine.commit(thread, records, used);
                (_, end) = self.take(records, commit, record).await?;
            }
            if !end.continues() {
                return Ok(());
            }
            used += 1;
        }
    }

    /// Runs the tasks that were requested. Returns whether the superstep can be committed.
    async fn run_tasks<F: Flow<State: Storable>>(
        &self,
        engine: &ThreadEngine<F>,
        records: &mut ThreadRecords,
        used: u64,
        requests: Vec<TaskRequest>,
        end: PassEnd,
    ) -> Result<bool, BoxError> {
        let thread = DriverCase::<F>::THREAD;
        let mut rest = (end.status, end.due_ms);
        for request in requests {
            let run = |records: ThreadRecords, _: &[TaskRequest]| {
                let needed = engine.records_for(&records, &request);
                engine.run_task(thread, needed, used, request.task)
            };
            let record = |records: &mut ThreadRecords, batch: &Batch| {
                records.apply_task(&batch.clone().of_task().changes)
            };
            let (_, end) = self.take(records, run, record).await?;
            rest = ThreadRecords::worse(rest, (end.status, end.due_ms));
        }
        if rest.0 == ThreadStatus::Running {
            return Ok(true);
        }
        records.apply(&records.with_status(rest.0, rest.1)?);
        Ok(false)
    }
}

/// What a pass requests is known before, if it does nothing else.
async fn check_requests<F: Flow<State: Storable>>(
    engine: &ThreadEngine<F>,
    records: &ThreadRecords,
    used: u64,
    requests: &[TaskRequest],
    end: &PassEnd,
) -> Result<(), BoxError> {
    let known = engine
        .requests(DriverCase::<F>::THREAD, records, used)
        .await;
    match known {
        Some(known) if known != requests || end.status != ThreadStatus::Running => {
            Err(format!("the pass requested {requests:?}, and {known:?} was known before").into())
        }
        _ => Ok(()),
    }
}

#[async_trait]
impl Driver for SteppedDriver {
    async fn drive<F: Flow<State: Storable>>(
        &self,
        case: &DriverCase<F>,
    ) -> Result<ThreadRecords, BoxError> {
        let mut engine = ThreadEngine::new((case.launch)());
        for node in case.placed.iter().filter(|_| self.places) {
            engine = engine.place(*node, "pool")?;
        }
        if self.logs {
            engine = engine.event_log(10);
        }
        let mut records = case.records.clone().unwrap_or_default();
        for step in &case.steps {
            let edit = engine.edit(DriverCase::<F>::THREAD, &records, *step);
            let (done, changes) = edit.await?;
            done?;
            records.apply(&changes);
            if records.status()?.0 == ThreadStatus::Running {
                self.advance(&engine, &mut records).await?;
                let end = engine.log_end(DriverCase::<F>::THREAD, &records, 0, None);
                records.apply(&end.await?);
            }
        }
        Ok(records)
    }
}
