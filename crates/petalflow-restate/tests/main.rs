//! Threads on a real Restate server, which `PETALFLOW_RESTATE_BIN` names.

#[cfg(feature = "server")]
mod agents;
mod away;
mod bodies;
mod children;
mod cluster;
#[cfg(feature = "server")]
mod commands;
mod conformance;
mod kills;
#[cfg(feature = "server")]
mod served;
mod services;
mod sleeps;
mod stopped;
mod streaming;
mod support;
mod threads;
mod upgrades;
