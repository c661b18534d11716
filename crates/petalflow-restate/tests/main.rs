//! Threads on a real Restate server, which `PETALFLOW_RESTATE_BIN` names.

mod cluster;
mod conformance;
mod kills;
mod support;
mod threads;
