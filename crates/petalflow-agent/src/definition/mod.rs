//! The definition of an agent, and the tree of an agent and the agents below it.

mod history;
mod instruction;
mod mode;
mod root_agent;
mod source;
mod template;
mod tree;

pub use history::History;
pub(crate) use instruction::Instruction;
pub use mode::Mode;
pub(crate) use root_agent::RootAgent;
pub(crate) use source::{SEARCH, Source, Unavailable};
pub(crate) use tree::{AgentTree, Definition, MODEL_CALLS};
