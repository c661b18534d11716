//! The services of a stored run for its tasks: questions to people ([`question`]), sleeps, messages, other threads, effects that run once, and requests to
//! the driver.

mod attempt_life;
mod barrier;
mod caller_record;
mod children;
mod effect_counts;
mod effects;
mod effects_in_flight;
pub(crate) mod question;
mod receipt;
mod receive;
mod records;
mod requests;
mod requests_made;
mod services;
mod sleep;
mod stored_mark;
mod task_ref;
mod used_names;
mod wake;
mod within_effect;

pub(crate) use self::attempt_life::AttemptLife;
pub(crate) use self::receipt::Receipt;
pub(crate) use self::services::{DriverRequest, ParentTask, TaskServices};
pub(crate) use self::sleep::LATEST_MS;
pub(crate) use self::stored_mark::StoredMark;
pub(crate) use self::task_ref::{TaskRef, outlived_error};
pub(crate) use self::used_names::{NAME_OF_EFFECT, UsedNames, check_name, used_twice};
