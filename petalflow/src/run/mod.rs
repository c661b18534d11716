//! A run of a flow: what a launch returns.

mod any_events;
mod any_run;
mod events;
mod filtered_events;
mod typed_run;

pub use crate::cancel_token::{CancelToken, RunToken};
pub use crate::node::Mailbox;
pub use crate::outcome::{RunError, RunErrorKind, TimeoutScope};
pub(crate) use any_events::AnyEvents;
pub(crate) use any_run::AnyRun;
pub use events::Events;
pub use filtered_events::FilteredEvents;
pub use typed_run::Run;
