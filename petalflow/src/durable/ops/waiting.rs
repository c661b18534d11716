//! Lists a thread that a person has changed as waiting.

use super::thread_ops::snapshot;
use crate::checkpoint::ThreadStorage;
use crate::durable::finished_status::finished_status;
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
