//! One turn of a conversation: the flow of an agent and its steps.

mod answer_tool;
mod ask;
mod begin;
mod call;
mod code;
mod compact;
mod ctx;
mod delegation;
mod flow;
mod gather;
mod guard;
mod guarded;
mod merge;
mod model;
mod spans;
mod spend;
mod steps;
mod sub_agent;
mod transfer;

pub use flow::AgentFlow;
pub(crate) use flow::launch_of;
