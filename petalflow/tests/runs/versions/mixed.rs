//! A driver and a node host, each with a version of the program.

use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{Batch, Pass, PassEnd, TaskRequest, ThreadRecords};

use super::program::Program;

/// After so many supersteps a thread that does not rest never will.
const SUPERSTEPS: u64 = 10;

/// What drives a thread, and what runs its placed tasks.
#[derive(Clone, Copy)]
pub(super) struct Deployed<'a> {
    pub(super) driver: &'a dyn Program,
    pub(super) host: &'a dyn Program,
}

/// Executes supersteps until the thread rests. Returns how it does, and why it failed.
pub(super) async fn drive(
    deployed: Deployed<'_>,
    records: &mut ThreadRecords,
) -> (ThreadStatus, String) {
    for used in 0..SUPERSTEPS {
        let end = superstep(deployed, records, used).await;
        if !end.continues() {
            return (end.status, end.failure.unwrap_or_default());
        }
    }
    panic!("the thread has not come to rest after {SUPERSTEPS} supersteps")
}

async fn superstep(deployed: Deployed<'_>, records: &mut ThreadRecords, used: u64) -> PassEnd {
    let Deployed { driver, host } = deployed;
    let (requests, mut end) = take(driver.advance(records, used), |batch| {
        records.apply(&batch.changes);
    })
    .await;
    if requests.is_empty() {
        return end;
    }
    for request in requests {
        let needed = driver.records_for(records, &request);
        let (_, ended) = take(host.run_task(needed, used, request.task), |batch| {
            let changes = batch.clone().of_task().changes;
            records
                .apply_task(&changes)
                .expect("the changes can be read");
        })
        .await;
        let rest = (end.status, end.due_ms);
        (end.status, end.due_ms) = ThreadRecords::worse(rest, (ended.status, ended.due_ms));
        end.failure = end.failure.or(ended.failure);
    }
    if end.status != ThreadStatus::Running {
        let rests = records.with_status(end.status, end.due_ms);
        records.apply(&rests.expect("the status can be read"));
        return end;
    }
    let (requests, end) = take(driver.commit(records, used), |batch| {
        records.apply(&batch.changes);
    })
    .await;
    assert!(requests.is_empty(), "it asks again for {requests:?}");
    end
}

/// All that a pass requests, and its end.
async fn take(mut pass: Pass, mut record: impl FnMut(&Batch)) -> (Vec<TaskRequest>, PassEnd) {
    let mut requests = Vec::new();
    while let Some(batch) = pass.next().await {
        record(&batch);
        requests.extend(batch.requests);
        if let Some(end) = batch.end {
            return (requests, end);
        }
    }
    panic!("the pass ended without its last batch")
}
