//! Interrupts of a run, the questions in them, and their answers.

mod answer;
mod ask;
mod error;
mod interrupt;
mod interrupt_id;

pub use answer::Answer;
pub use ask::{Ask, Expiry, StoredQuestion};
pub use error::AnswerError;
pub use error::open;
pub use interrupt::{Interrupt, InterruptKind};
pub use interrupt::{comma_separated, list_as_text};
pub use interrupt_id::InterruptId;
