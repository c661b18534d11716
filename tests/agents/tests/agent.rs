//! Agents: the loop between a model and its tools.

mod kit;
mod turns;
