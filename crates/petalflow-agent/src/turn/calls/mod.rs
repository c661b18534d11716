//! The tool calls of an answer: each call, and the event of their results.

mod approval;
pub(super) mod gather;
pub(super) mod merge;
pub(super) mod sub_agent;
mod target;
pub(super) mod tool_call;
