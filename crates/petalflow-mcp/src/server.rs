//! The MCP server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{Either, select};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
    ResourcesCapability, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool as McpTool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::McpError;
use super::confirmation::{self, Answers, Decision};
use super::problem;
use super::prompts::Reference;
use super::result::{failed, to_mcp};
use super::served_changes::{self, Changes, ListChangedNotifier, Session};
use super::served_completions::ServedCompletions;
use super::served_prompts::ServedPrompts;
use super::served_resources::ServedResources;
use petalflow::BoxError;
use petalflow::error::{catch_panic, message_with_sources};
use petalflow::event::CustomEvent;
use petalflow::tool::{Actions, Confirmation, Tool, ToolContext, ToolSource, ToolSpec};

/// Creates an MCP server for a [set](petalflow::tool::ToolSet), a [registry](petalflow::tool::ToolRegistry), or any
/// other [source](ToolSource) of tools.
///
/// The value that a tool returns is the result: an object as structured content, any other value as text. A picture in it
/// is content of its own. An error, such as wrong arguments, is a result with `isError`, which a model can read. Values that a tool
/// [emits](ToolContext::emit) become progress notifications. A call that the client cancels is dropped.
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
        skips_confirmation: false,
        changes: Changes::default(),
        resources: Arc::default(),
        prompts: Arc::default(),
        completions: Arc::default(),
        calls: Arc::default(),
        session: Session::default(),
        #[cfg(feature = "http")]
        http: super::http_options::HttpOptions::default(),
    }
}

/// An MCP server for tools, resources and prompts, made by [`serve`].
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
    skips_confirmation: bool,
    changes: Changes,
    pub(super) resources: Arc<ServedResources>,
    pub(super) prompts: Arc<ServedPrompts>,
    pub(super) completions: Arc<ServedCompletions>,
    calls: Arc<AtomicU64>,
    session: Session,
    #[cfg(feature = "http")]
    pub(super) http: super::http_options::HttpOptions,
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("program", &self.program.name)
            .finish_non_exhaustive()
    }
}

impl McpServer {
    /// Sets the name and the version of the server. The name is `petalflow` by default.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.program = Implementation::new(name, version);
        self
    }

    /// Sets the instructions for models: text about the tools as a whole.
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

    /// Runs tools that require confirmation without asking for it. By default the server asks the person behind the
    /// client, by elicitation. A client without elicitation gets an error that says so.
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
        self.skips_confirmation = true;
        self
    }

    /// Returns a handle that notifies clients of changes to the tool list and to resources.
    pub fn changed(&self) -> ListChangedNotifier {
        ListChangedNotifier(self.changes.clone())
    }

    /// Serves one client over standard input and output until the client disconnects. The program must write nothing
    /// else to standard output.
    ///
    /// # Errors
    ///
    /// Fails if the client does not speak MCP, or if a [resource](Self::resource) or a [prompt](Self::prompt) has a wrong
    /// name or address.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection and drops all calls.
    pub async fn stdio(self) -> Result<(), McpError> {
        self.over(tokio::io::join(tokio::io::stdin(), tokio::io::stdout()))
            .await
    }

    /// Serves one client over any byte stream until the client disconnects.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_mcp::{self as mcp, McpClient};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::over("sums", || async {
    ///     let (ours, theirs) = tokio::io::duplex(4096);
    ///     tokio::spawn(mcp::serve(tools![add]).over(theirs));
    ///     Ok(ours)
    /// });
    /// assert!(server.tools().await?.get("add").is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the client does not speak MCP, or if a [resource](Self::resource) or a [prompt](Self::prompt) has a wrong
    /// name or address.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection and drops all calls.
    pub async fn over<W>(self, stream: W) -> Result<(), McpError>
    where
        W: AsyncRead + AsyncWrite + Send + 'static,
    {
        self.check()?;
        let service = self
            .serve(tokio::io::split(stream))
            .await
            .map_err(|error| McpError::Serve(problem::of_accept(&error).into()))?;
        service
            .waiting()
            .await
            .map_err(|error| McpError::Serve(error.into()))?;
        Ok(())
    }

    /// Fails if names or addresses are wrong, before a client is served.
    pub(super) fn check(&self) -> Result<(), McpError> {
        let problem = self.resources.problem().or_else(|| self.prompts.problem());
        let problem = problem.or_else(|| {
            self.completions.problem(|completes| match &completes.of {
                Reference::Prompt(name) => self.prompts.has_argument(name, &completes.argument),
                Reference::Resource(uri) => self.resources.has_variable(uri, &completes.argument),
            })
        });
        problem.map_or(Ok(()), |problem| Err(McpError::Serve(problem.into())))
    }

    async fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, ErrorData> {
        let tools = self.tools.tools().await.map_err(list_failed)?;
        tools.get(name).cloned().ok_or_else(|| {
            let names: Vec<_> = tools.names().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            ErrorData::invalid_params(format!("unknown tool `{name}`; there are {names}"), None)
        })
    }

    /// Runs a tool, after a person has confirmed the call if that is needed. The error is a result too: a call that failed, or
    /// one that needs input.
    async fn run(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        answers: Answers,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Box<CallToolResponse>> {
        let name = &tool.spec().name;
        let confirm = async |question: Confirmation| {
            if !self.skips_confirmation {
                let asked = confirmation::ask((name, &arguments), &question.hint, &answers, &cx);
                match asked.await {
                    Decision::Confirmed => {}
                    Decision::Refused(reason) => return Err(Box::new(failed(reason).into())),
                    Decision::Ask(required) => return Err(Box::new((*required).into())),
                }
            }
            Ok(Confirmation {
                confirmed: true,
                ..question
            })
        };
        let mut confirmation = None;
        if let Some(question) = tool.confirm(&arguments) {
            confirmation = Some(confirm(Confirmation::ask(question)).await?);
        }
        loop {
            let mut context = ToolContext::new(self.next_call());
            if let Some(confirmation) = confirmation.clone() {
                context = context.with_confirmation(confirmation);
            }
            let (result, mut actions) = run_once(tool, arguments.clone(), context, &cx).await;
            let Some((_, asked)) = actions.requested_confirmations.pop_first() else {
                return Ok(finished(tool, result, &actions));
            };
            if confirmation.is_some() {
                return Ok(failed(format!(
                    "tool `{name}` asks for a second confirmation, which this server cannot ask for"
                )));
            }
            // A tool can also ask while it runs. It is called again with the answer.
            confirmation = Some(confirm(asked).await?);
        }
    }

    fn next_call(&self) -> String {
        format!("mcp-{}", self.calls.fetch_add(1, Ordering::Relaxed))
    }
}

/// Runs a tool and sends its progress to the client. Returns its result or its error, and its requests.
async fn run_once(
    tool: &dyn Tool,
    arguments: Value,
    context: ToolContext,
    cx: &RequestContext<RoleServer>,
) -> (Result<Value, String>, Actions) {
    let (sender, emitted) = mpsc::unbounded_channel();
    let context = context.with_listener(move |event| {
        // The receiver is gone after the call ends.
        let _ = sender.send(event);
    });
    // Turns a panic in a tool into an error, because the client waits for a result.
    let call = catch_panic(tool.call(arguments, &context));
    let result = match with_progress(call, emitted, cx).await {
        Ok(result) => result.map_err(|error| message_with_sources(&error)),
        Err(panicked) => Err(panicked.to_string()),
    };
    (result, context.take_actions())
}

/// The result of a call for the client.
fn finished(tool: &dyn Tool, result: Result<Value, String>, actions: &Actions) -> CallToolResult {
    let ToolSpec {
        name, long_running, ..
    } = &**tool.spec();
    if !actions.requested_credentials.is_empty() {
        return failed(format!(
            "tool `{name}` asks for a credential, which this server cannot ask for"
        ));
    }
    let result = match result {
        Ok(result) => result,
        Err(problem) => return failed(problem),
    };
    if result.is_null() && *long_running {
        return failed(format!(
            "tool `{name}` has started, and its result comes later; MCP clients cannot wait for it"
        ));
    }
    to_mcp(result)
}

/// Waits for the work. Sends the emitted values to the client if the client requested progress.
async fn with_progress<T>(
    call: impl Future<Output = T>,
    mut emitted: mpsc::UnboundedReceiver<CustomEvent>,
    cx: &RequestContext<RoleServer>,
) -> T {
    let Some(token) = cx.meta.get_progress_token() else {
        return call.await;
    };
    let mut call = std::pin::pin!(call);
    let mut count = 0.0;
    let mut notify = async |event: CustomEvent| {
        let value = event.value().map(serde_json::to_value);
        let Ok(Ok(value)) = value else { return };
        count += 1.0;
        let report = report(ProgressNotificationParam::new(token.clone(), count), &value);
        // Ignored: a client that disconnected does not read the result either.
        let _ = cx.peer.notify_progress(report).await;
    };
    let result = loop {
        let next = std::pin::pin!(emitted.recv());
        match select(call.as_mut(), next).await {
            Either::Left((result, _)) => break result,
            Either::Right((None, _)) => break call.await,
            Either::Right((Some(value), _)) => notify(value).await,
        }
    };
    // Values emitted last are sent before the result.
    while let Ok(value) = emitted.try_recv() {
        notify(value).await;
    }
    result
}

/// Converts a value to a progress notification. It uses the fields `progress`, `total` and `message`. A value without
/// `progress` becomes the message.
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

fn list_failed(error: BoxError) -> ErrorData {
    let problem = message_with_sources(&*error);
    ErrorData::internal_error(format!("the tools cannot be listed: {problem}"), None)
}

fn tool_description(spec: &ToolSpec) -> McpTool {
    let schema = spec.parameters.as_object().cloned().unwrap_or_default();
    McpTool::new(spec.name.clone(), spec.description.clone(), schema)
}

/// Waits for the work, unless the client cancels the request.
async fn until_cancelled<T>(
    work: impl Future<Output = Result<T, ErrorData>>,
    cx: &RequestContext<RoleServer>,
) -> Result<T, ErrorData> {
    let cancelled = std::pin::pin!(cx.ct.cancelled());
    match select(std::pin::pin!(work), cancelled).await {
        Either::Left((result, _)) => result,
        // The client ignores this result.
        Either::Right(((), _)) => Err(ErrorData::internal_error("the request was cancelled", None)),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if !self.resources.is_empty() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
        }
        if !self.completions.is_empty() {
            capabilities.completions = Some(JsonObject::default());
        }
        if !self.prompts.is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        let mut config = ServerConfig::new(capabilities).with_server_info(self.program.clone());
        config.instructions.clone_from(&self.instructions);
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.tools().await.map_err(list_failed)?;
        let tools = tools
            .iter()
            .map(|tool| tool_description(tool.spec()))
            .collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources.list(request)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.resources.list_templates(request)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.resources.read(&request.uri);
        Ok(until_cancelled(read, &cx).await?.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts.list(request)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let get = self.prompts.get(request);
        Ok(until_cancelled(get, &cx).await?.into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name).await?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let cancelled = cx.ct.clone();
        let answers = Answers {
            responses: request.input_responses,
            state: request.request_state,
        };
        let run = std::pin::pin!(self.run(&*tool, arguments, answers, cx));
        let cancelled = std::pin::pin!(cancelled.cancelled());
        match select(run, cancelled).await {
            Either::Left((Ok(result), _)) => Ok(result.into()),
            Either::Left((Err(response), _)) => Ok(*response),
            // The client ignores this result.
            Either::Right(((), _)) => Ok(failed("the call was cancelled").into()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        until_cancelled(self.completions.complete(request), &cx).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.resources.check(&request.uri)?;
        self.session.subscribe(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.session.begin_to_listen(&self.changes);
        Some(served_changes::accepted(requested, |uri| {
            self.resources.has(uri)
        }))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.session.listening(&self.changes);
        served_changes::listen(subscription, changes).await;
        Ok(())
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        self.session.notify(cx.peer, &self.changes);
    }
}
