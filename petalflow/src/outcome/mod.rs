//! The outcomes of runs: a state, a pause with interrupts, or an error.

mod display;
mod run_error;
mod run_error_kind;
mod thread_error;
mod thread_outcome;

pub(crate) use run_error::LastBarrier;
pub use run_error::RunError;
pub use run_error_kind::{RunErrorKind, TimeoutScope};
pub use thread_error::ThreadError;
pub(crate) use thread_error::check_id;
pub(crate) use thread_outcome::AnyPaused;
pub use thread_outcome::{Outcome, Paused};
