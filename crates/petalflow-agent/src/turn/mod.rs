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
mod removal;
mod repair;
mod requirements;
mod spans;
mod spend;
mod steps;
mod streams;
mod sub_agent;
mod transfer;
mod turn_start;
mod unfinished;

/// The names of the tools that agents have for themselves.
pub(crate) mod names {
    pub(crate) use super::answer_tool::NAME as ANSWER;
    pub(crate) use super::delegation::FINISH;
    pub(crate) use super::transfer::NAME as TRANSFER;
}

pub use flow::AgentFlow;
pub(crate) use flow::launch_of;
pub(crate) use streams::{CallerStreams, StreamsBelow};
