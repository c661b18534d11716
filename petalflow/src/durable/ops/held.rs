//! What is listed of a thread that a person has changed.

use super::thread_ops::snapshot;
use crate::checkpoint::{Header, StoreChange, ThreadStatus, ThreadStorage};
use crate::durable::thread_run::finished_status;
use crate::exec::WaitsWhen;
use crate::flow::AnyFlow;
use crate::outcome::ThreadError;

/// Lists a thread that a person has changed as waiting, if its run has finished and its state says so.
pub(crate) async fn describe_waiting(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    waits: &WaitsWhen,
) -> Result<(), ThreadError> {
    let Some(snapshot) = snapshot(flow, storage, None).await? else {
        return Ok(());
    };
    let has_finished = snapshot.interrupts.is_empty() && snapshot.info.next.is_empty();
    if has_finished {
        let status = finished_status(waits, &*snapshot.state);
        storage.describe(status, None).await?;
    }
    Ok(())
}

/// The status of a thread that a person has put at this checkpoint. Its questions are asked again when it is resumed.
pub(super) fn status_at(flow: &str, header: &Header) -> StoreChange {
    let (is_waiting, is_finished) = (
        !header.interrupt_points.is_empty(),
        header.frontier.is_empty(),
    );
    held_status(flow, is_waiting, is_finished, None)
}

/// The status of a thread that a person has changed.
pub(super) fn held_status(
    flow: &str,
    is_waiting: bool,
    is_finished: bool,
    due_ms: Option<u64>,
) -> StoreChange {
    let status = match (is_waiting, is_finished) {
        (true, _) => ThreadStatus::Waiting,
        (false, true) => ThreadStatus::Finished,
        (false, false) => ThreadStatus::Held,
    };
    StoreChange::Status {
        flow: flow.into(),
        status,
        due_ms,
    }
}
