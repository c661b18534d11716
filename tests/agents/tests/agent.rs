//! Agents: the loop between a model and its tools.

mod confirmations;
mod kit;
mod model_callbacks;
mod parallel;
mod parked;
mod tool_callbacks;
mod turns;
