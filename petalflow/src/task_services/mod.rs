//! The services of a stored run for its tasks: questions to people, effects that run once, and requests to the driver.

mod barrier;
mod effects;
mod questions;
mod records;
mod services;
mod stored_mark;
mod task_ref;
mod waiting_question;

pub(crate) use self::services::{DriverRequest, Services, TaskServices};
pub(crate) use self::stored_mark::StoredMark;
pub(crate) use self::task_ref::TaskRef;
pub(crate) use self::waiting_question::{Answers, WaitingQuestion};
