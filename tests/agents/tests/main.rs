//! Behaviour of petalflow's tools, models and agents, by topic. Tests are named after the row or case they hold petalflow to:
//! `a027_…` of ADK's agent loop, `i012_…` of the adapters, `p094_…` of the core's rows, `c100_…` of the conformance cases.

mod agent;
mod envelope;
mod mcp;
mod models;
mod nodes;
mod observe;
mod prebuilt;
mod providers;
mod support;
mod tools;
