//! The errors of the client and the server.

use petalflow::BoxError;
use petalflow::error::message_with_sources;

/// An error of an MCP client or server. An error that a tool itself reports is a
/// [`ToolError::Failed`](petalflow::tool::ToolError::Failed) with the tool's message.
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
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The server cannot be reached.
    #[error("cannot connect to MCP server `{server}`: {}; check that it starts and that it is an MCP server", message_with_sources(&**error))]
    Connect {
        /// The name of the server.
        server: String,
        /// The cause.
        error: BoxError,
    },
    /// The connection was lost during a request.
    #[error(
        "the connection to MCP server `{server}` was lost during `{what}`: {problem}; it is not known whether the request was processed"
    )]
    Lost {
        /// The name of the server.
        server: String,
        /// The request: the name of a tool, or `tools/list`.
        what: String,
        /// How the connection was lost.
        problem: String,
    },
    /// The server answered with an error.
    #[error("MCP server `{server}` refused `{what}`: {message}")]
    Refused {
        /// The name of the server.
        server: String,
        /// The request: the name of a tool, or `tools/list`.
        what: String,
        /// The server's message.
        message: String,
    },
    /// The server sent an invalid answer.
    #[error("MCP server `{server}` sent an invalid answer to `{what}`: {problem}")]
    Malformed {
        /// The name of the server.
        server: String,
        /// The request: the name of a tool, or `tools/list`.
        what: String,
        /// What is invalid.
        problem: &'static str,
    },
    /// The server did not answer in time.
    #[error("MCP server `{server}` did not answer `{what}` within {after:?}")]
    Timeout {
        /// The name of the server.
        server: String,
        /// The request.
        what: String,
        /// The time limit.
        after: std::time::Duration,
    },
    /// Two tools of the server have the same name after conversion.
    #[error(
        "two tools of MCP server `{server}` are called `{name}`; exclude one of them with `filter`"
    )]
    DuplicateTool {
        /// The name of the server.
        server: String,
        /// The name of the tools.
        name: String,
    },
    /// A tool of the server has no name, so no model can call it.
    #[error(
        "a tool of MCP server `{server}` has no name, so no model can call it; exclude it with `.filter(|tool| !tool.trim().is_empty())`"
    )]
    NamelessTool {
        /// The name of the server.
        server: String,
    },
    /// The arguments of a tool of the server are no object, so no model can call it.
    #[error(
        "the arguments of tool `{name}` of MCP server `{server}` have the type {ty}, and only an object can be arguments; correct `inputSchema` in the server, or exclude the tool with `.filter(|tool| tool != \"{name}\")`"
    )]
    ArgumentsType {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        name: String,
        /// The type in its schema, as JSON.
        ty: String,
    },
    /// The result of a tool does not fit the schema that its server gives. The call was made.
    #[error(
        "the result of tool `{name}` of MCP server `{server}` does not fit its `outputSchema`: {problem}; the call was made; correct the tool, or take its results as they are with `McpClient::unchecked_results`"
    )]
    Output {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        name: String,
        /// What does not fit.
        problem: String,
    },
    /// A person must sign in to the server with [`McpClient::sign_in`](crate::McpClient::sign_in).
    #[cfg(feature = "oauth")]
    #[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
    #[error(
        "MCP server `{server}` requires a sign-in: {reason}; call `McpClient::sign_in`, let a person open its URL, and pass the redirect to `SignIn::finish`"
    )]
    SignInRequired {
        /// The name of the server.
        server: String,
        /// Why the stored tokens, if there are some, cannot be used.
        reason: String,
    },
    /// A sign-in failed, or the tokens for the server cannot be had.
    #[cfg(feature = "oauth")]
    #[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
    #[error("cannot sign in to MCP server `{server}`: {problem}")]
    SignIn {
        /// The name of the server.
        server: String,
        /// The cause.
        problem: String,
    },
    /// The tools, resources and prompts cannot be served.
    #[error("cannot serve over MCP: {}", message_with_sources(&**.0))]
    Serve(BoxError),
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for McpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&message_with_sources(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn texts_are_said_once() {
        let refused = || Box::new(std::io::Error::other("connection refused"));
        let (server, error) = ("books".into(), refused());
        check_texts(&McpError::Connect { server, error });
        check_texts(&McpError::Serve(refused()));
        let (server, after) = ("books".into(), std::time::Duration::from_secs(5));
        let what = "tools/list".into();
        check_texts(&McpError::Timeout {
            server,
            what,
            after,
        });
    }
}
