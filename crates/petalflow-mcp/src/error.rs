//! What can go wrong between a client and a server.

use petalflow::BoxError;

/// What went wrong with an MCP server. What a tool itself says went wrong is a
/// [`ToolError::Failed`](petalflow::tool::ToolError::Failed) with its words.
///
/// ```
/// use petalflow_mcp::{McpError, McpClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let server = McpClient::stdio("no-such-program", [] as [&str; 0]).attempts(1);
/// let error = server.tools().await.unwrap_err();
/// assert!(matches!(error, McpError::Connect { .. }));
/// assert!(error.to_string().starts_with("cannot connect to MCP server `no-such-program`: "));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The server cannot be reached.
    #[error("cannot connect to MCP server `{server}`: {}; check that it starts and speaks MCP", petalflow::error::message_with_sources(&**source))]
    Connect {
        /// The server.
        server: String,
        /// Why.
        source: BoxError,
    },
    /// The connection broke off during a call.
    #[error(
        "the connection to MCP server `{server}` was lost while it worked on `{what}`: {problem}; whether the work was done is not known"
    )]
    Lost {
        /// The server.
        server: String,
        /// What was asked for: a tool's name, or `tools/list`.
        what: String,
        /// How it was lost.
        problem: String,
    },
    /// The server answered with an error.
    #[error("MCP server `{server}` refused `{what}`: {message}")]
    Refused {
        /// The server.
        server: String,
        /// What was asked for: a tool's name, or `tools/list`.
        what: String,
        /// The server's words.
        message: String,
    },
    /// The server answered with something that is not an answer.
    #[error(
        "MCP server `{server}` answered `{what}` with something else than its result: {problem}"
    )]
    Malformed {
        /// The server.
        server: String,
        /// What was asked for: a tool's name, or `tools/list`.
        what: String,
        /// What it is.
        problem: &'static str,
    },
    /// The server did not answer in time.
    #[error("MCP server `{server}` did not answer `{what}` within {after:?}")]
    Timeout {
        /// The server.
        server: String,
        /// What was asked for.
        what: String,
        /// The time it had.
        after: std::time::Duration,
    },
    /// Two tools of the server would have the same name.
    #[error(
        "two tools of MCP server `{server}` are called `{name}`; keep one of them out with `filter`"
    )]
    Clash {
        /// The server.
        server: String,
        /// The name.
        name: String,
    },
    /// Tools cannot be served.
    #[error("cannot serve tools over MCP: {}", petalflow::error::message_with_sources(&**.0))]
    McpServer(#[source] BoxError),
}
