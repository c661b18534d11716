//! One turn of a conversation: the flow of an agent and its steps.

mod answer_tool;
mod ask;
mod begin;
mod call;
mod code;
mod ctx;
mod delegation;
mod flow;
mod gather;
mod merge;
mod model;
mod repair;
mod requirements;
mod spans;
mod steps;
mod sub_agent;
mod transfer;
mod unfinished;

pub use flow::AgentFlow;
pub(crate) use flow::launch_of;
pub(crate) use model::StreamsBelow;
