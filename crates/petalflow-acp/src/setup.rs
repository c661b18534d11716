//! What an editor says when it opens a session.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::McpServer;
#[cfg(feature = "mcp")]
use agent_client_protocol::v1::schema::{McpServerHttp, McpServerStdio};
#[cfg(feature = "mcp")]
use petalflow_mcp::McpClient;

/// A session that an editor opens: what the function of [`AcpServer::new`](crate::AcpServer::new) makes an agent for.
///
/// ```
/// use petalflow_acp::SessionSetup;
///
/// let session = SessionSetup::new("/home/ann/garden");
/// assert!(session.folder().ends_with("garden"));
/// ```
#[derive(Clone, Debug)]
pub struct SessionSetup {
    folder: PathBuf,
    /// The MCP servers that the editor names.
    #[cfg_attr(
        not(feature = "mcp"),
        expect(dead_code, reason = "nothing connects to them")
    )]
    servers: Vec<McpServer>,
}

impl SessionSetup {
    /// The setup of a session over this folder, for tests.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::of(folder.into(), Vec::new())
    }

    pub(crate) fn of(folder: PathBuf, servers: Vec<McpServer>) -> Self {
        SessionSetup { folder, servers }
    }

    /// The folder of the session: that of the project that is open in the editor. The path is absolute.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The servers that the editor names and that are child processes or are reached over HTTP. An editor names others only to agents
    /// that say that they can connect to them.
    #[cfg(feature = "mcp")]
    pub(crate) fn clients(&self) -> Vec<McpClient> {
        let servers = self.servers.iter();
        let clients = servers.filter_map(|server| {
            let (name, client) = match server {
                McpServer::Stdio(server) => (&server.name, self.child(server)),
                McpServer::Http(server) => (&server.name, over_http(server)),
                _ => return None,
            };
            Some(client.prefix(format!("{}_", tool_name(name))))
        });
        clients.collect()
    }

    /// A server that is a child process.
    #[cfg(feature = "mcp")]
    fn child(&self, server: &McpServerStdio) -> McpClient {
        let (folder, started) = (self.folder.clone(), server.clone());
        McpClient::command(server.name.clone(), move || {
            let mut command = std::process::Command::new(&started.command);
            command.args(&started.args).current_dir(&folder);
            let variables = started.env.iter();
            command.envs(variables.map(|variable| (&variable.name, &variable.value)));
            command
        })
    }
}

/// A server over streamable HTTP. Its headers may have a password.
#[cfg(feature = "mcp")]
fn over_http(server: &McpServerHttp) -> McpClient {
    let headers = server.headers.iter();
    let headers = headers.map(|header| (header.name.clone(), header.value.clone()));
    McpClient::http(server.url.clone(), headers)
}

/// A name as a part of names of tools, of which providers take few characters.
#[cfg(feature = "mcp")]
fn tool_name(name: &str) -> String {
    let is_valid = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let characters = name.chars();
    characters
        .map(|character| if is_valid(character) { character } else { '_' })
        .collect()
}
