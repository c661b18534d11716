//! One turn of a conversation: the flow of an agent and its steps.
//!
//! [`flow`] is the graph of a turn: [`begin`], then a call of the [`model`] and the [`calls`] of its answer, again and
//! again. [`own_tools`] are the tools that agents have for themselves. [`spend`] counts and limits; [`guard`] runs
//! guardrails.

mod begin;
mod calls;
mod ctx;
mod flow;
mod guard;
mod model;
mod own_tools;
mod prices;
mod removal;
mod requirements;
mod spans;
mod spend;
mod streams;
mod turn_start;

pub use flow::AgentFlow;
pub(crate) use flow::launch_of;
pub(crate) use own_tools::names;
pub(crate) use streams::{CallerStreams, StreamsBelow};
