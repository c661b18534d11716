//! Schedules: when the threads of a flow begin.

mod definition;
mod missed;
mod plan;
mod record;
#[expect(clippy::module_inception, reason = "the file of the type `Schedule`")]
mod schedule;
mod schedules;

pub(crate) use definition::Definition;
pub use missed::Missed;
pub(crate) use record::Handled;
pub(crate) use schedule::ReadSchedule;
pub use schedule::Schedule;
pub(crate) use schedules::Schedules;
