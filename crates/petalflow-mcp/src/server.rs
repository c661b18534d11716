//! Tools of this program as an MCP server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{Either, select};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    Tool as TheirTool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};

use super::McpError;
use super::result::{failed, returned};
use petalflow::BoxError;
use petalflow::error::{catch_panic, message_with_sources};
use petalflow::tool::{Tool, ToolContext, ToolSource, ToolSpec};

/// Serves tools to MCP clients: a [set](petalflow::tool::ToolSet), a [registry](petalflow::tool::ToolRegistry), or any other
/// [source](ToolSource).
///
/// What a tool returns is the result: an object as structured content, all else as text. What goes wrong, wrong arguments
/// among it, is a result with `isError`, which a model can read. What a tool [emits](ToolContext::emit) goes to the client as
/// progress. A call that the client cancels is dropped.
///
/// ```no_run
/// use petalflow_mcp as mcp;
/// use petalflow::prelude::*;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// mcp::serve(tools![add]).named("sums", "1.0.0").stdio().await?;
/// # Ok(())
/// # }
/// ```
pub fn serve(tools: impl ToolSource) -> McpServer {
    McpServer {
        tools: Arc::new(tools),
        program: Implementation::new("petalflow", env!("CARGO_PKG_VERSION")),
        instructions: None,
        unconfirmed: false,
        changed: watch::Sender::new(()),
        calls: Arc::default(),
    }
}

/// Tools that are [served](serve).
///
/// ```
/// use petalflow_mcp as mcp;
/// use petalflow::prelude::*;
///
/// /// Says hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let serve: mcp::McpServer = mcp::serve(tools![hello]).named("greeter", "1.0.0");
/// # let _ = serve;
/// ```
#[derive(Clone)]
pub struct McpServer {
    tools: Arc<dyn ToolSource>,
    program: Implementation,
    instructions: Option<String>,
    unconfirmed: bool,
    changed: watch::Sender<()>,
    calls: Arc<AtomicU64>,
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("program", &self.program.name)
            .finish_non_exhaustive()
    }
}

/// Tells the clients of [`serve`] that there are other tools now.
///
/// ```
/// use petalflow_mcp as mcp;
/// use petalflow::tool::ToolRegistry;
///
/// let registry = ToolRegistry::new();
/// let serve = mcp::serve(registry.clone());
/// let changed = serve.changed();
/// // After `registry.register(..)`:
/// changed.notify();
/// ```
#[derive(Clone, Debug)]
pub struct ListChangedNotifier(watch::Sender<()>);

impl ListChangedNotifier {
    /// Tells them. They ask for the list again when they like.
    pub fn notify(&self) {
        self.0.send_replace(());
    }
}

impl McpServer {
    /// What the server calls itself, and its version; `petalflow` unless set.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.program = Implementation::new(name, version);
        self
    }

    /// What models at the other end are told about the tools as a whole.
    ///
    /// ```
    /// use petalflow_mcp as mcp;
    /// use petalflow::prelude::*;
    ///
    /// /// Says hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let serve = mcp::serve(tools![hello]).instructions("Greet before you do anything else.");
    /// # let _ = serve;
    /// ```
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Runs tools that ask for a person's confirmation without it. Unless this is said they fail, because nobody is asked: a
    /// client may or may not have asked its user.
    ///
    /// ```
    /// use petalflow_mcp as mcp;
    /// use petalflow::prelude::*;
    ///
    /// /// Says hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let serve = mcp::serve(tools![hello]).without_confirmation();
    /// # let _ = serve;
    /// ```
    #[must_use]
    pub fn without_confirmation(mut self) -> Self {
        self.unconfirmed = true;
        self
    }

    /// What tells clients that there are other tools.
    pub fn changed(&self) -> ListChangedNotifier {
        ListChangedNotifier(self.changed.clone())
    }

    /// Serves over standard input and output, until the client hangs up. The program must write nothing else to its standard
    /// output.
    ///
    /// # Errors
    ///
    /// When the other side does not speak MCP.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection and drops all calls.
    pub async fn stdio(self) -> Result<(), McpError> {
        self.over(tokio::io::join(tokio::io::stdin(), tokio::io::stdout()))
            .await
    }

    /// Serves one client at the other end of anything that can be written to and read from, until it hangs up.
    ///
    /// # Errors
    ///
    /// When the other side does not speak MCP.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection and drops all calls.
    pub async fn over<W>(self, wire: W) -> Result<(), McpError>
    where
        W: AsyncRead + AsyncWrite + Send + 'static,
    {
        let serve = |error: BoxError| McpError::McpServer(error);
        let service = self
            .serve(tokio::io::split(wire))
            .await
            .map_err(|error| serve(error.into()))?;
        service
            .waiting()
            .await
            .map_err(|error| serve(error.into()))?;
        Ok(())
    }

    async fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, ErrorData> {
        let tools = self.tools.tools().await.map_err(unlisted)?;
        tools.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = tools.names().map(|name| format!("`{name}`")).collect();
            let known = known.join(", ");
            ErrorData::invalid_params(format!("unknown tool `{name}`; there are {known}"), None)
        })
    }

    /// Runs a tool to its end, and tells the client how it gets on.
    async fn run(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let name = &tool.spec().name;
        if !self.unconfirmed
            && let Some(question) = tool.confirm(&arguments)
        {
            return failed(format!(
                "tool `{name}` needs a person's confirmation, which this server cannot ask for: {question}"
            ));
        }
        let (sender, said) = mpsc::unbounded_channel();
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = ToolContext::new(format!("mcp-{id}")).with_listener(move |value| {
            // Nobody listens once the call has ended.
            let _ = sender.send(value);
        });
        // A panic in a tool must not leave the client waiting.
        let work = catch_panic(tool.call(arguments, &call));
        let result = match reported(work, said, &cx).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => return failed(message_with_sources(&error)),
            Err(panicked) => return failed(panicked.to_string()),
        };
        let wanted = call.take_actions();
        if !wanted.requested_confirmations.is_empty() {
            return failed(format!(
                "tool `{name}` asks for a person's confirmation, which this server cannot ask for"
            ));
        }
        if !wanted.requested_credentials.is_empty() {
            return failed(format!(
                "tool `{name}` asks for a credential, which this server cannot ask for"
            ));
        }
        if result.is_null() && tool.spec().long_running {
            return failed(format!(
                "tool `{name}` has begun, and its result comes later, which MCP clients cannot wait for"
            ));
        }
        returned(result)
    }
}

/// Waits for the work, and sends what is said meanwhile to the client, if it wants to know.
async fn reported<T>(
    work: impl Future<Output = T>,
    mut said: mpsc::UnboundedReceiver<Value>,
    cx: &RequestContext<RoleServer>,
) -> T {
    let Some(token) = cx.meta.get_progress_token() else {
        return work.await;
    };
    let mut work = std::pin::pin!(work);
    let mut count = 0.0;
    let mut tell = async |value: Value| {
        count += 1.0;
        let report = report(ProgressNotificationParam::new(token.clone(), count), &value);
        // A client that is gone does not hear its result either.
        let _ = cx.peer.notify_progress(report).await;
    };
    let result = loop {
        let next = std::pin::pin!(said.recv());
        match select(work.as_mut(), next).await {
            Either::Left((result, _)) => break result,
            Either::Right((None, _)) => break work.await,
            Either::Right((Some(value), _)) => tell(value).await,
        }
    };
    // What was said last comes before the result.
    while let Ok(value) = said.try_recv() {
        tell(value).await;
    }
    result
}

/// A value as a report of progress: `progress`, `total` and `message` are what they are called, and anything else is the
/// message.
fn report(mut report: ProgressNotificationParam, value: &Value) -> ProgressNotificationParam {
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    if let Some(progress) = number("progress") {
        report.progress = progress;
        report.total = number("total");
        let message = value.get("message").and_then(Value::as_str);
        report.message = message.map(str::to_string);
    } else {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_string);
        report.message = Some(text);
    }
    report
}

fn unlisted(error: BoxError) -> ErrorData {
    let problem = message_with_sources(&*error);
    ErrorData::internal_error(format!("the tools cannot be listed: {problem}"), None)
}

fn theirs(spec: &ToolSpec) -> TheirTool {
    let schema = spec.parameters.as_object().cloned().unwrap_or_default();
    TheirTool::new(spec.name.clone(), spec.description.clone(), schema)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let mut config = ServerConfig::new(capabilities).with_server_info(self.program.clone());
        config.instructions.clone_from(&self.instructions);
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.tools().await.map_err(unlisted)?;
        let tools = tools.iter().map(|tool| theirs(tool.spec())).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name).await?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let cancelled = cx.ct.clone();
        let run = std::pin::pin!(self.run(&*tool, arguments, cx));
        let cancelled = std::pin::pin!(cancelled.cancelled());
        match select(run, cancelled).await {
            Either::Left((result, _)) => Ok(result.into()),
            // Nobody reads this.
            Either::Right(((), _)) => Ok(failed("the call was cancelled").into()),
        }
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        let mut changed = self.changed.subscribe();
        tokio::spawn(async move {
            // Until the server is no longer, or the client is gone.
            while changed.changed().await.is_ok() {
                if cx.peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
            }
        });
    }
}
