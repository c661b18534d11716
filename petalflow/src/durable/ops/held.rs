//! What is listed of a thread that a person has changed.

use crate::checkpoint::{Header, StoreChange, ThreadStatus};

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
