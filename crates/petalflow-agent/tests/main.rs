//! Agents: the loop between a model and its tools, and the prebuilt flows. The number before a test's name is that of the
//! row that it checks: `a027_…` of ADK's agent loop, `i012_…` of the adapters.

mod budget;
mod context;
mod deep;
mod delegation;
mod extension;
mod flows;
mod human;
mod kit;
#[cfg(unix)]
mod local_model;
mod providers;
mod storage;
mod turn;
mod voice;
