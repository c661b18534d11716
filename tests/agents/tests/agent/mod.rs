//! Agents: the loop between a model and its tools.

mod code;
mod confirmations;
mod credentials;
mod delegation_replays;
mod delegations;
mod durable;
mod history;
pub(crate) mod kit;
mod model_callbacks;
mod nodes;
mod output;
mod parallel;
mod parked;
mod placeholders;
mod planning;
mod replays;
mod spans;
mod streamed_replays;
mod streaming;
mod tool_callbacks;
mod transfers;
mod turns;
mod waiting;
mod wire;
