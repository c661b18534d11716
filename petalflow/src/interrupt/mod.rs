//! Questions to people: what a run waits for, and what they answer.

// `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Few programs ask people.

mod answer;
mod approval;
mod ask;
mod error;
mod id;
mod resume;
mod waiting;

pub use answer::Answer;
pub use approval::Approval;
pub(crate) use approval::Decision;
pub use ask::{Ask, Expiry};
pub use error::AnswerError;
pub(crate) use error::open;
pub use id::InterruptId;
pub use petalflow_macros::Ask;
pub use resume::Resume;
pub(crate) use waiting::write_all;
pub use waiting::{Interrupt, InterruptKind};

pub use crate::flow::Guard;
