//! The definition of an agent, and the list of an agent and the agents below it.

mod instruction;
mod mode;
mod source;
mod template;
mod tree;

pub(crate) use instruction::Instruction;
pub use mode::{History, Mode};
pub(crate) use source::{Source, Unavailable};
pub(crate) use tree::{Definition, Roster};
