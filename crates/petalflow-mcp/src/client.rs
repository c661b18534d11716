//! The MCP client.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::connect::Target;
use super::elicitation::Elicit;
#[cfg(feature = "http")]
use super::http_client::Address;
use super::logs::Logs;
use super::options::Options;
use super::session::Session;
use super::tool::McpTool;
use super::{Elicitation, Elicited, LogLevel, LogMessage, McpError};
use petalflow::tool::{Tool, ToolSet, ToolSource};
use petalflow::{BoxError, async_trait};
use petalflow_llm::LlmClient;

/// A client of an MCP server. It offers the tools of the server as petalflow tools. Clones share the connection.
///
/// The client connects when its tools are first requested. After a lost connection, the next request connects again.
/// Calls in progress fail, because the client cannot know whether the server ran them. The tool list is read once,
/// and again after the server reports a change.
///
/// A tool returns `{"output": ..}`: the structured content if there is any, else the text, or a list of parts if
/// there is more than text. If the server gives a schema of the results of a tool, one that does not fit is an error. A server may
/// answer with a task: the client waits for its result as long as the server works. Progress notifications become events of
/// the run, and restart the timeout of the call.
///
/// An agent takes the client as a [source of tools](ToolSource). [`tools`](Self::tools) returns the current tools.
///
/// ```no_run
/// use petalflow_mcp::McpClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let files = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."])
///     .prefix("files_")
///     .filter(|tool| tool != "move_file")
///     .confirm(|tool, arguments| (tool == "write_file").then(|| format!("write {}?", arguments["path"])));
/// for tool in files.tools().await?.iter() {
///     println!("{}: {}", tool.spec().name, tool.spec().description);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpClient(Arc<Session>);

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpClient").field(&self.0.name).finish()
    }
}

impl McpClient {
    /// A server in a child process that uses standard input and output. The program starts on the first use, and
    /// again if it exits. It ends when the last clone of this client is dropped. It inherits standard error.
    ///
    /// Of the environment variables of this process, it inherits `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`
    /// only, because others may be secrets. On Windows these are `APPDATA`, `HOMEDRIVE`, `HOMEPATH`, `LOCALAPPDATA`,
    /// `PATH`, `PATHEXT`, `PROCESSOR_ARCHITECTURE`, `PROGRAMFILES`, `SYSTEMDRIVE`, `SYSTEMROOT`, `TEMP`, `USERNAME` and
    /// `USERPROFILE`. [`inherit_env`](Self::inherit_env) adds others, and [`command`](Self::command) sets values.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// // The program starts when the tools are first requested.
    /// let files = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]);
    /// assert!(format!("{files:?}").contains("npx"));
    /// ```
    pub fn stdio<A>(program: impl Into<String>, arguments: A) -> Self
    where
        A: IntoIterator<Item: Into<String>>,
    {
        let program = program.into();
        let arguments: Vec<String> = arguments.into_iter().map(Into::into).collect();
        Self::command(program.clone(), move || {
            let mut command = std::process::Command::new(&program);
            command.args(&arguments);
            command
        })
    }

    /// A server in a child process, started by any command (with variables, in another folder). Errors use the name.
    /// The program gets the variables that the command sets. Of this process it inherits those that
    /// [`stdio`](Self::stdio) lists, without those that the command removes.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    /// use std::process::Command;
    ///
    /// let server = McpClient::command("files", || {
    ///     let mut command = Command::new("file-server");
    ///     command.current_dir("/tmp").env("LOG", "debug");
    ///     command
    /// });
    /// ```
    pub fn command(
        name: impl Into<String>,
        command: impl Fn() -> std::process::Command + Send + Sync + 'static,
    ) -> Self {
        Self::new(name.into(), Target::Command(Box::new(command)))
    }

    /// A server behind any byte stream, such as a socket or a pipe in this program. The function is called once per
    /// connection.
    ///
    /// ```no_run
    /// use petalflow_mcp::McpClient;
    ///
    /// # fn main() {
    /// # mod tokio { pub mod net { pub struct UnixStream; impl UnixStream {
    /// #     pub async fn connect(_: &str) -> std::io::Result<::tokio::io::DuplexStream> { unreachable!() } } } }
    /// let server = McpClient::over("local", || tokio::net::UnixStream::connect("/run/tools.sock"));
    /// # }
    /// ```
    pub fn over<W, F>(name: impl Into<String>, dial: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        W: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<W>> + Send + 'static,
    {
        Self::new(name.into(), Target::stream(dial))
    }

    /// A server at this URL, over streamable HTTP. The headers are sent with each request. Messages name the server by
    /// the host and the path of the URL: they do not contain a password or the query.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::http("https://example.com/mcp", [("authorization", "Bearer some-token")]);
    /// let without = McpClient::http("http://localhost:8000/mcp", [] as [(&str, &str); 0]);
    /// ```
    #[cfg(feature = "http")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn http<H, N, V>(url: impl Into<Arc<str>>, headers: H) -> Self
    where
        H: IntoIterator<Item = (N, V)>,
        N: Into<String>,
        V: Into<String>,
    {
        let url = url.into();
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let address = Address { url, headers };
        Self::new(address.name(), Target::Http(address))
    }

    fn new(name: String, target: Target) -> Self {
        McpClient(Arc::new(Session::new(name, target)))
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        Arc::make_mut(&mut self.0).set_options(change);
        self
    }

    /// Adds a prefix to the tool names, to distinguish the tools of several servers. Each character that providers do
    /// not accept becomes `_`, with or without a prefix. Accepted are letters, digits, `_` and `-`.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_mcp::{self as mcp, McpClient};
    ///
    /// # /// Adds two numbers.
    /// # #[tool]
    /// # fn add(a: i64, b: i64) -> i64 {
    /// #     a + b
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let server = McpClient::over("sums", || async {
    /// #     let (ours, theirs) = tokio::io::duplex(4096);
    /// #     tokio::spawn(mcp::serve(tools![add]).over(theirs));
    /// #     Ok(ours)
    /// # });
    /// let server = server.prefix("sums_");
    /// assert!(server.tools().await?.get("sums_add").is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|options| options.prefix = prefix.into())
    }

    /// Selects tools by the names that the server uses. Tools for which the function returns `false` are left out.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_mcp::{self as mcp, McpClient};
    ///
    /// # /// Adds two numbers.
    /// # #[tool]
    /// # fn add(a: i64, b: i64) -> i64 {
    /// #     a + b
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let server = McpClient::over("sums", || async {
    /// #     let (ours, theirs) = tokio::io::duplex(4096);
    /// #     tokio::spawn(mcp::serve(tools![add]).over(theirs));
    /// #     Ok(ours)
    /// # });
    /// let server = server.filter(|tool| tool != "add");
    /// assert!(server.tools().await?.get("add").is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn filter(self, wanted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.with(|options| options.filter = Some(Arc::new(wanted)))
    }

    /// Requires confirmation. The function takes the server's tool name and the arguments, and returns the question.
    ///
    /// Without such a function, a person must confirm the calls of tools of which the server says that they destroy
    /// something (`destructiveHint`). With it, the function alone decides: `|_, _| None` requires no confirmation.
    #[must_use]
    pub fn confirm(
        self,
        ask: impl Fn(&str, &Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|options| options.confirm = Some(Arc::new(ask)))
    }

    /// The longest time of a call without progress, after which the client cancels it. Two minutes by default.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    /// use std::time::Duration;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).timeout(Duration::from_secs(600));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.timeout = timeout)
    }

    /// The longest time to connect, and the longest time to list the tools. 30 seconds by default.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    /// use std::time::Duration;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).connect_timeout(Duration::from_secs(5));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn connect_timeout(self, limit: Duration) -> Self {
        self.with(|options| options.connect_timeout = limit)
    }

    /// The number of attempts to connect before it is an error, with increasing waits between them. 3 by default.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).attempts(1);
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        self.with(|options| options.connect_attempts = attempts.max(1))
    }

    /// The longest message to read, in bytes. 16 MiB by default. A longer message ends the connection.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).message_limit(1 << 20);
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn message_limit(self, bytes: usize) -> Self {
        self.with(|options| options.message_limit = bytes)
    }

    /// Lets a child process inherit more variables of this process, by name. A variable that is not set is left out.
    /// Servers that are not child processes get no variables.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("github-server", [] as [&str; 0]).inherit_env(["GITHUB_TOKEN", "HTTPS_PROXY"]);
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn inherit_env<N>(self, names: N) -> Self
    where
        N: IntoIterator<Item: Into<String>>,
    {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.with(|options| options.inherited_env.extend(names))
    }

    /// Handles elicitation: the function shows a question to the user and returns the result. Without a handler the
    /// server receives an error.
    ///
    /// A call makes no progress while it waits for the answer. Set a [`timeout`](Self::timeout) that is long enough.
    ///
    /// ```
    /// use petalflow_mcp::{Elicited, McpClient};
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).elicit(|question| async move {
    ///     eprintln!("{} asks: {}", question.server, question.message);
    ///     Elicited::Decline
    /// });
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn elicit<F>(self, ask: impl Fn(Elicitation) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Elicited> + Send + 'static,
    {
        let ask: Arc<Elicit> = Arc::new(move |question| Box::pin(ask(question)));
        self.with(|options| options.request_handlers.elicit = Some(ask))
    }

    /// Handles sampling: the server may send requests to this model, at your cost. Without a model the server
    /// receives an error. The server sets the maximum number of tokens of an answer. Its model preferences are
    /// ignored.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).sample(ScriptedModel::new(["In short: yes."]));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn sample(self, model: impl LlmClient) -> Self {
        self.with(|options| options.request_handlers.model = Some(Arc::new(model)))
    }

    /// Tells the server on which folders it works, as `file://` addresses with names for people. Servers of files and of code
    /// ask for them.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("file-server", [] as [&str; 0]).roots([("file:///home/ann/book", "the book")]);
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn roots<U: Into<String>, N: Into<String>>(
        self,
        roots: impl IntoIterator<Item = (U, N)>,
    ) -> Self {
        let roots = roots.into_iter();
        let roots = roots.map(|(uri, name)| (uri.into(), name.into())).collect();
        self.with(|options| options.request_handlers.roots = Some(roots))
    }

    /// Calls a function for each log message of the server of at least this level. It must not block. Without it, the server
    /// is not asked for log messages.
    ///
    /// ```
    /// use petalflow_mcp::{LogLevel, McpClient};
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0])
    ///     .logs(LogLevel::Warning, |message| eprintln!("{}: {}", message.server, message.data));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn logs(self, level: LogLevel, take: impl Fn(LogMessage) + Send + Sync + 'static) -> Self {
        let take = Arc::new(take);
        self.with(|options| options.request_handlers.logs = Some(Logs { level, take }))
    }

    pub(super) fn session(&self) -> &Session {
        &self.0
    }

    /// Returns the current tools.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_mcp::{self as mcp, McpClient};
    ///
    /// # /// Adds two numbers.
    /// # #[tool]
    /// # fn add(a: i64, b: i64) -> i64 {
    /// #     a + b
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::over("sums", || async {
    ///     let (ours, theirs) = tokio::io::duplex(4096);
    ///     tokio::spawn(mcp::serve(tools![add]).over(theirs));
    ///     Ok(ours)
    /// });
    /// let tools = server.tools().await?;
    /// assert_eq!(tools.iter().count(), 1);
    /// assert_eq!(tools.get("add").unwrap().spec().description, "Adds two numbers.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, if it cannot list its tools, or if two tools have the same name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not affect other callers that wait for the same connection.
    pub async fn tools(&self) -> Result<ToolSet, McpError> {
        let list = self.0.tool_list().await?;
        let tools = list.iter().map(|listed| {
            let tool: Arc<dyn Tool> = Arc::new(McpTool {
                session: Arc::clone(&self.0),
                name: Arc::clone(&listed.name),
                spec: Arc::clone(&listed.spec),
                destructive: listed.destructive,
                output_schema: listed.output_schema.clone(),
            });
            tool
        });
        Ok(tools.collect())
    }

    /// The JSON Schema of the result of a tool, by its name in this program, if the server gives one (`outputSchema`). The
    /// field `output` of a result fits it: a program can read it as a type.
    ///
    /// ```no_run
    /// use petalflow_mcp::McpClient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-everything"]);
    /// println!("{:?}", server.output_schema("get-structured-content").await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`tools`](Self::tools).
    ///
    /// # Cancel safety
    ///
    /// As [`tools`](Self::tools).
    pub async fn output_schema(&self, tool: &str) -> Result<Option<Value>, McpError> {
        let tools = self.session().tool_list().await?;
        let listed = tools.iter().find(|listed| listed.spec.name == tool);
        let schema = listed.and_then(|listed| listed.output_schema.as_deref());
        Ok(schema.cloned())
    }

    /// Adds the schemas of results to the descriptions of tools, so that the model knows what a call returns. They cost tokens
    /// in each request.
    #[must_use]
    pub fn describe_results(self) -> Self {
        self.with(|options| options.describe_results = true)
    }

    /// Takes results that do not fit the schema of their tool (`outputSchema`) as they are. Without it, they are
    /// [errors](McpError::Output) that the model reads.
    #[must_use]
    pub fn unchecked_results(self) -> Self {
        self.with(|options| options.unchecked_results = true)
    }

    /// Closes the connection. A child process gets a short time to exit. Calls in progress fail. The next request
    /// connects again.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]);
    /// server.close().await;
    /// # }
    /// ```
    pub async fn close(&self) {
        self.0.close().await;
    }
}

#[async_trait]
impl ToolSource for McpClient {
    async fn tools(&self) -> Result<ToolSet, BoxError> {
        Ok(McpClient::tools(self).await?)
    }
}
