//! Schedules: threads that begin at planned times.

pub(crate) mod http;
mod missed;
mod plan;
mod record;
mod runner;
#[expect(clippy::module_inception, reason = "the file of the type `Schedule`")]
mod schedule;

pub use missed::Missed;
pub(crate) use runner::Schedules;
pub use schedule::Schedule;
