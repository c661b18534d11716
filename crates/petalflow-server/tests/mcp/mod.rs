//! Flows and agents as tools of MCP, as a client over HTTP sees them.

pub(crate) mod kit;
mod limits;
mod python;
mod questions;
mod tools;
