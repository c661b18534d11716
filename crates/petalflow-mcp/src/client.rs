//! A server that others provide.

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

/// An MCP server that others provide, whose tools are tools like all others. A clone is of the same server.
///
/// Nothing is started or connected before its tools are asked for. A connection that is lost is made anew by whoever asks
/// next; what was under way fails, since nobody knows whether the server did it. Its tools are listed once, and again when it
/// says that they have changed.
///
/// What a tool returns is `{"output": ..}`: its structured content if it has any, else its text, or a list of parts where there
/// is more than text. What it reports of its progress goes to the run's events, and keeps the call alive.
///
/// An agent takes it as a [source of tools](ToolSource); [`tools`](Self::tools) are those of the moment.
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
    /// Locked while a connection is made, so that there is but one.
    live: Arc<Mutex<Option<Arc<Live>>>>,
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpServer").field(&self.0.name).finish()
    }
}

impl McpClient {
    /// A program that speaks over its standard input and output. It is started when it is needed, and again if it dies; it
    /// ends with the last clone of this, and what it writes to its standard error is this program's.
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

    /// The same for a command of any kind: with variables, in another folder. The name is for messages.
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

    /// A server at the other end of anything that can be written to and read from: a socket, a pipe within this program. The
    /// function is called for each connection.
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
        // A connection knows the tools as they were asked for.
        shared.live = Arc::default();
        self
    }

    /// Begins the names of its tools with this, where those of several servers would be the same. Names that providers do not
    /// take are changed in any case: each character that is not a letter, a digit, `_` or `-` becomes `_`.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|options| options.prefix = prefix.into())
    }

    /// Leaves out the tools of which the function says no, by the names that the server gives them.
    #[must_use]
    pub fn filter(self, wanted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.with(|options| options.filter = Some(Arc::new(wanted)))
    }

    /// Lets a person confirm calls: the function gets the server's name of the tool and the arguments, and returns what to ask.
    #[must_use]
    pub fn confirm(
        self,
        ask: impl Fn(&str, &Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|options| options.confirm = Some(Arc::new(ask)))
    }

    /// How long a call may take without any sign of progress; two minutes unless set. The server is told that nobody waits.
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

    /// How long it may take to connect, and to list the tools; half a minute unless set.
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

    /// How often to try to connect, with growing waits in between, before it is an error; 3 unless set.
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

    /// The longest message that is read, in bytes; 16 MiB unless set. A longer one ends the connection.
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

    /// The tools of this moment.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or does not list its tools, and when two of them have the same name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future lets others go on that wait for the same connection.
    pub async fn tools(&self) -> Result<ToolSet, McpError> {
        let live = self.0.live().await?;
        let listed = match live.listed() {
            Some(listed) => listed,
            None => match self.0.list(&live).await {
                // A list can be asked for twice.
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

    /// Ends the connection, and the program if there is one: it has a moment to end by itself. Calls under way fail; whoever
    /// asks after that connects again.
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
    /// The connection, which is made if there is none.
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

    /// What a failed request means. After a lost connection the next request makes another.
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
