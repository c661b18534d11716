//! What is listed of a thread whose run has finished.

use crate::checkpoint::ThreadStatus;
use crate::erased::AnyState;
use crate::error::catch;
use crate::exec::WaitsWhen;

/// What is listed of a thread whose run has finished with this state. A condition that panics is not met.
pub(super) fn finished_status(waits: &WaitsWhen, state: &dyn AnyState) -> ThreadStatus {
    if catch(|| waits(state)).unwrap_or(false) {
        ThreadStatus::Waiting
    } else {
        ThreadStatus::Finished
    }
}
