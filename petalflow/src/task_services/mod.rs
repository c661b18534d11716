//! The services of a stored run for its tasks: questions to people ([`question`]), effects that run once, and requests to the
//! driver.

mod barrier;
mod effects;
mod effects_in_flight;
pub(crate) mod question;
mod records;
mod services;
mod stored_mark;
mod task_ref;
mod used_names;

pub(crate) use self::services::{DriverRequest, TaskServices};
pub(crate) use self::stored_mark::StoredMark;
pub(crate) use self::task_ref::{TaskRef, outlived};
pub(crate) use self::used_names::{NAME_OF_EFFECT, UsedNames, check_name, used_twice};
