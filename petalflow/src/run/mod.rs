//! A run of a flow: what a launch returns.

mod events;
mod filtered_events;
mod future;

pub use crate::cancel_token::{CancelToken, RunToken};
pub use crate::outcome::{RunError, RunErrorKind, TimeoutScope};
pub use events::Events;
pub use filtered_events::FilteredEvents;
pub use future::Run;
