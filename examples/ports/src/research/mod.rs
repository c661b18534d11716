//! An agent for research: a port of `examples/deep_research` of
//! [langchain-ai/deepagents](https://github.com/langchain-ai/deepagents).
//!
//! An agent with a plan and files gives topics to researchers, which have conversations of their own and run in parallel. They
//! search the web, read whole pages, and reflect on what they have found. The agent writes one report with numbered sources.

mod agent;
mod date;
mod instructions;
mod tavily;
mod text;
mod web;

pub use agent::{Research, research};
pub use date::today;
pub use tavily::Tavily;
pub use web::{Hit, Topic, Web};
