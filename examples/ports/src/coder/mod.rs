//! A coding agent with one tool, a shell: a port of the agent `mini` of
//! [SWE-agent/mini-swe-agent](https://github.com/SWE-agent/mini-swe-agent): `agents/default.py`, `agents/interactive.py`,
//! `environments/local.py`, `config/mini.yaml`, and what they use of `models`.
//!
//! Each command runs in a shell of its own. A person decides about the commands of an answer together, and may say why not. A
//! command whose first line is a fixed text ends the work. An answer without a command goes back to the model.

mod agent;
mod instructions;
mod shell;

pub use agent::{Coder, Mode, Progress, Settings};
pub use shell::Workplace;
