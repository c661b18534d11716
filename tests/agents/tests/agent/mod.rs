//! Agents: the loop between a model and its tools.

mod confirmations;
mod delegation_replays;
mod delegations;
mod durable;
mod history;
mod kit;
mod model_callbacks;
mod nodes;
mod output;
mod parallel;
mod parked;
mod placeholders;
mod replays;
mod spans;
mod streaming;
mod tool_callbacks;
mod transfers;
mod turns;
