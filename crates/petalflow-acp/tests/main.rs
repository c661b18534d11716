//! The server with the client of the SDK, over pipes.

mod editor;
mod files;
mod mcp;
mod permissions;
mod questions;
mod sessions;
mod turns;
mod wrong;

use petalflow::checkpoint::InMemoryStore;
use petalflow_acp::AcpServer;
use petalflow_agent::Agent;

/// A server with one agent, whose sessions are in memory.
fn server(agent: Agent) -> AcpServer {
    AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone().into()))
}
