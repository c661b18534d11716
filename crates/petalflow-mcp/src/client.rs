//! The MCP client.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use backon::BackoffBuilder as _;
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;

use super::McpError;
use super::connect::{Target, connect};
use super::connection::{Ear, Listed, Live, Offer};
use super::options::Options;
use super::result::object_schema;
use super::tool::McpTool;
use petalflow::BoxError;
use petalflow::async_trait;
use petalflow::tool::{Tool, ToolSet, ToolSource, ToolSpec};

/// A client of an MCP server. It offers the tools of the server as petalflow tools. Clones share the connection.
///
/// The client connects when its tools are first requested. After a lost connection, the next request connects again.
/// Calls in progress fail, because the client cannot know whether the server ran them. The tool list is read once,
/// and again after the server reports a change.
///
/// A tool returns `{"output": ..}`: the structured content if there is any, else the text, or a list of parts if
/// there is more than text. Progress notifications become events of the run, and restart the timeout of the call.
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
pub struct McpClient(Arc<Shared>);

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) name: String,
    target: Arc<Target>,
    pub(super) options: Options,
    /// Locked during a connect: there is at most one connection.
    live: Arc<Mutex<Option<Arc<Live>>>>,
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpClient").field(&self.0.name).finish()
    }
}

impl McpClient {
    /// A server in a child process that uses standard input and output. The program starts on the first use, and
    /// again if it exits. It ends when the last clone of this client is dropped. It inherits standard error.
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
        Self::new(name.into(), Target::wire(dial))
    }

    pub(super) fn new(name: String, target: Target) -> Self {
        McpClient(Arc::new(Shared {
            name,
            target: Arc::new(target),
            options: Options::default(),
            live: Arc::default(),
        }))
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        let shared = Arc::make_mut(&mut self.0);
        change(&mut shared.options);
        // The cached tool list depends on the options, so the copy needs its own connection.
        shared.live = Arc::default();
        self
    }

    /// Adds a prefix to the tool names, to distinguish the tools of several servers. Each character that providers do
    /// not accept becomes `_`, with or without a prefix. Accepted are letters, digits, `_` and `-`.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|options| options.prefix = prefix.into())
    }

    /// Selects tools by the names that the server uses. Tools for which the function returns `false` are left out.
    #[must_use]
    pub fn filter(self, wanted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.with(|options| options.filter = Some(Arc::new(wanted)))
    }

    /// Requires confirmation. The function takes the server's tool name and the arguments, and returns the question.
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
    pub fn connect_timeout(self, patience: Duration) -> Self {
        self.with(|options| options.patience = patience)
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
        self.with(|options| options.attempts = attempts.max(1))
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

    /// Returns the current tools.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, if it cannot list its tools, or if two tools have the same name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not affect other callers that wait for the same connection.
    pub async fn tools(&self) -> Result<ToolSet, McpError> {
        let live = self.0.live().await?;
        let listed = match live.listed() {
            Some(listed) => listed,
            None => match self.0.list(&live).await {
                // Listing tools has no effects, so it is safe to repeat.
                Err(McpError::Lost { .. }) => self.0.list(&*self.0.live().await?).await?,
                result => result?,
            },
        };
        let tools = listed.iter().map(|offer| {
            let tool: Arc<dyn Tool> = Arc::new(McpTool {
                server: Arc::clone(&self.0),
                name: Arc::clone(&offer.name),
                spec: Arc::clone(&offer.spec),
            });
            tool
        });
        Ok(tools.collect())
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
        let live = self.0.live.lock().await.take();
        if let Some(live) = live {
            live.close().await;
        }
    }
}

impl Shared {
    /// Returns the connection, and connects if there is none.
    pub(super) async fn live(&self) -> Result<Arc<Live>, McpError> {
        let mut slot = self.live.lock().await;
        if let Some(live) = slot.as_ref().filter(|live| live.is_open()) {
            return Ok(Arc::clone(live));
        }
        *slot = None;
        let live = Arc::new(self.connect().await?);
        *slot = Some(Arc::clone(&live));
        Ok(live)
    }

    async fn list(&self, live: &Live) -> Result<Listed, McpError> {
        let (what, patience) = ("tools/list", self.options.patience);
        let listed = tokio::time::timeout(patience, live.peer().list_all_tools()).await;
        let tools = match listed {
            Ok(Ok(tools)) => tools,
            Ok(Err(error)) => return Err(self.failed(live, what, error)),
            Err(_) => return Err(self.late(what, patience)),
        };
        let mut names = BTreeSet::new();
        let mut offers = Vec::with_capacity(tools.len());
        for tool in tools {
            if !self.options.wants(&tool.name) {
                continue;
            }
            let offer = offer(tool, &self.options);
            if !names.insert(offer.spec.name.clone()) {
                return Err(McpError::Clash {
                    server: self.name.clone(),
                    name: offer.spec.name.clone(),
                });
            }
            offers.push(offer);
        }
        let listed = offers.into();
        live.keep(&listed);
        Ok(listed)
    }

    async fn connect(&self) -> Result<Live, McpError> {
        let attempts = self.options.attempts as usize;
        let mut waits = backon::ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(Duration::from_secs(5))
            .with_max_times(attempts - 1)
            .build();
        loop {
            let ear = Ear::new(self.name.clone(), self.options.answers.clone());
            let patience = self.options.patience;
            let connecting = connect(&self.target, ear.clone(), self.options.message_limit);
            let source: BoxError = match tokio::time::timeout(patience, connecting).await {
                Ok(Ok(connected)) => return Ok(Live::new(connected, ear)),
                Ok(Err(error)) => error,
                Err(_) => format!("no answer within {patience:?}").into(),
            };
            let Some(wait) = waits.next() else {
                let server = self.name.clone();
                return Err(McpError::Connect { server, source });
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Converts the error of a failed request. After a lost connection the next request connects again.
    pub(super) fn failed(&self, live: &Live, what: &str, error: ServiceError) -> McpError {
        let (server, what) = (self.name.clone(), what.to_string());
        match error {
            ServiceError::McpError(error) => McpError::Refused {
                server,
                what,
                message: error.message.into_owned(),
            },
            ServiceError::UnexpectedResponse => McpError::Malformed {
                server,
                what,
                problem: "fields are missing, or of another type",
            },
            ServiceError::Timeout { timeout } => self.late(&what, timeout),
            other => {
                live.give_up();
                let problem = match other {
                    ServiceError::TransportClosed => live.problem(),
                    other => petalflow::error::message_with_sources(&other),
                };
                McpError::Lost {
                    server,
                    what,
                    problem,
                }
            }
        }
    }

    pub(super) fn late(&self, what: &str, after: Duration) -> McpError {
        McpError::Timeout {
            server: self.name.clone(),
            what: what.to_string(),
            after,
        }
    }
}

fn offer(tool: rmcp::model::Tool, options: &Options) -> Offer {
    let title = tool.title.unwrap_or_default();
    let description = tool.description.map_or(title, Into::into);
    let schema = object_schema(Arc::unwrap_or_clone(tool.input_schema));
    Offer {
        spec: ToolSpec::new(options.name_of(&tool.name), description, schema).into(),
        name: tool.name.into(),
    }
}

#[async_trait]
impl ToolSource for McpClient {
    async fn tools(&self) -> Result<ToolSet, BoxError> {
        Ok(McpClient::tools(self).await?)
    }
}
