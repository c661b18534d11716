//! Agents: a model, its tools, and the loop between the two.

mod agent;
mod artifacts;
mod ask;
mod at;
mod begin;
mod call;
mod callbacks;
mod confirmation;
mod conversation;
mod definition;
mod delegation;
mod error;
mod event;
mod flow;
mod gather;
mod history;
mod instructions;
mod merge;
mod model;
mod model_call;
mod output;
mod placeholders;
pub mod processors;
mod roster;
mod stream;
mod targets;
mod tool_step;
mod transfer;
mod turn;
mod view;

pub use agent::Agent;
pub use artifacts::Artifacts;
pub use callbacks::{Callbacks, Instead};
pub use confirmation::CONFIRMATION;
pub use conversation::{Conversation, ConversationInput, Pending};
pub use definition::{History, Mode};
pub use error::AgentError;
pub use event::AgentEvent;
pub use flow::AgentFlow;
pub use model_call::ModelCall;
pub use processors::RequestProcessor;
pub use stream::{AgentEvents, Progress, Told, What};
pub use tool_step::ToolStep;

pub(crate) use definition::Definition;
