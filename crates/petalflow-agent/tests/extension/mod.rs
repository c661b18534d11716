//! Code of the user's around the steps of a turn: callbacks, guardrails, planners, code executors, artifacts.

mod artifacts;
mod code;
mod computer;
mod guardrails;
mod model_callbacks;
mod planning;
mod skills;
mod tool_callbacks;
