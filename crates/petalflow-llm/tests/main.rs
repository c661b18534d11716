//! Behaviour of messages, clients, providers and nodes over conversations. The number before a test's name is that of the
//! row or case that it checks: `a066_…` of ADK's agent loop, `i012_…` of the adapters, `p094_…` of the core's rows, `c100_…`
//! of the conformance cases.

mod models;
mod nodes;
mod providers;
mod schemas;
