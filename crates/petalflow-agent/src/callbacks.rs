//! Callbacks around model calls and tool calls.

use std::future::ready;
use std::sync::Arc;

use serde_json::Value;

use super::{Agent, ModelCall, ToolStep};
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;
use petalflow_llm::{LlmError, LlmResponse};

/// A callback's future. It returns `None`, or a value that replaces the original one. See [`Callbacks`].
pub type CallbackFuture<'a, T> = BoxFuture<'a, Result<Option<T>, BoxError>>;

/// Callbacks around an agent's model and tools. Once one of several returns a value or fails, the others do not run.
///
/// A callback that does not wait is shorter as a closure: see [`Agent::before_model`](super::Agent::before_model) and
/// the methods next to it.
///
/// ```
/// use petalflow_agent::{Agent, Callbacks, CallbackFuture, ModelCall};
/// use petalflow_llm::{LlmResponse, ScriptedModel};
///
/// /// Answers what was asked before from memory.
/// struct Memory;
///
/// impl Callbacks for Memory {
///     fn before_model<'a>(&'a self, call: &'a mut ModelCall<'_>) -> CallbackFuture<'a, LlmResponse> {
///         Box::pin(async move {
///             let asked = call.request.messages.last().map(|message| message.text());
///             Ok((asked.as_deref() == Some("6 x 7?")).then(|| LlmResponse::text_only("42")))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["let me think"])).callbacks(Memory);
/// assert_eq!(agent.run("6 x 7?").await?.answer(), "42");
/// # Ok(())
/// # }
/// ```
pub trait Callbacks: Send + Sync + 'static {
    /// Runs before a model call. A returned response replaces the call, and no later callback sees it.
    fn before_model<'a>(&'a self, call: &'a mut ModelCall<'_>) -> CallbackFuture<'a, LlmResponse> {
        let _ = call;
        nothing()
    }

    /// Runs after a model call, for each piece and for the complete answer. A returned response replaces it.
    fn after_model<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a LlmResponse,
    ) -> CallbackFuture<'a, LlmResponse> {
        let _ = (call, response);
        nothing()
    }

    /// Runs when a model call has failed. A returned response replaces the error.
    fn on_model_error<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        error: &'a LlmError,
    ) -> CallbackFuture<'a, LlmResponse> {
        let _ = (call, error);
        nothing()
    }

    /// Runs before a tool call. A returned result replaces the call.
    fn before_tool<'a>(&'a self, step: &'a mut ToolStep<'_>) -> CallbackFuture<'a, Value> {
        let _ = step;
        nothing()
    }

    /// Runs after a tool call, also after one that failed. A returned result replaces the original one.
    fn after_tool<'a>(
        &'a self,
        step: &'a mut ToolStep<'_>,
        outcome: &'a Result<Value, BoxError>,
    ) -> CallbackFuture<'a, Value> {
        let _ = (step, outcome);
        nothing()
    }

    /// Runs when a tool or a callback before it fails, or if there is no such tool. A result replaces the error.
    fn on_tool_error<'a>(
        &'a self,
        step: &'a mut ToolStep<'_>,
        error: &'a BoxError,
    ) -> CallbackFuture<'a, Value> {
        let _ = (step, error);
        nothing()
    }
}

fn nothing<'a, T: Send + 'a>() -> CallbackFuture<'a, T> {
    Box::pin(ready(Ok(None)))
}

/// [`Callbacks::before_model`] as a closure.
pub(super) struct BeforeModel<F>(pub(super) F);

impl<F> Callbacks for BeforeModel<F>
where
    F: Fn(&mut ModelCall<'_>) -> Result<Option<LlmResponse>, BoxError> + Send + Sync + 'static,
{
    fn before_model<'a>(&'a self, call: &'a mut ModelCall<'_>) -> CallbackFuture<'a, LlmResponse> {
        Box::pin(ready((self.0)(call)))
    }
}

/// [`Callbacks::after_model`] as a closure.
pub(super) struct AfterModel<F>(pub(super) F);

impl<F> Callbacks for AfterModel<F>
where
    F: Fn(&mut ModelCall<'_>, &LlmResponse) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
{
    fn after_model<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a LlmResponse,
    ) -> CallbackFuture<'a, LlmResponse> {
        Box::pin(ready((self.0)(call, response)))
    }
}

/// [`Callbacks::on_model_error`] as a closure.
pub(super) struct OnModelError<F>(pub(super) F);

impl<F> Callbacks for OnModelError<F>
where
    F: Fn(&mut ModelCall<'_>, &LlmError) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
{
    fn on_model_error<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        error: &'a LlmError,
    ) -> CallbackFuture<'a, LlmResponse> {
        Box::pin(ready((self.0)(call, error)))
    }
}

/// [`Callbacks::before_tool`] as a closure.
pub(super) struct BeforeTool<F>(pub(super) F);

impl<F> Callbacks for BeforeTool<F>
where
    F: Fn(&mut ToolStep<'_>) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
{
    fn before_tool<'a>(&'a self, step: &'a mut ToolStep<'_>) -> CallbackFuture<'a, Value> {
        Box::pin(ready((self.0)(step)))
    }
}

/// [`Callbacks::after_tool`] as a closure.
pub(super) struct AfterTool<F>(pub(super) F);

impl<F> Callbacks for AfterTool<F>
where
    F: Fn(&mut ToolStep<'_>, &Result<Value, BoxError>) -> Result<Option<Value>, BoxError>
        + Send
        + Sync
        + 'static,
{
    fn after_tool<'a>(
        &'a self,
        step: &'a mut ToolStep<'_>,
        outcome: &'a Result<Value, BoxError>,
    ) -> CallbackFuture<'a, Value> {
        Box::pin(ready((self.0)(step, outcome)))
    }
}

/// [`Callbacks::on_tool_error`] as a closure.
pub(super) struct OnToolError<F>(pub(super) F);

impl<F> Callbacks for OnToolError<F>
where
    F: Fn(&mut ToolStep<'_>, &BoxError) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
{
    fn on_tool_error<'a>(
        &'a self,
        step: &'a mut ToolStep<'_>,
        error: &'a BoxError,
    ) -> CallbackFuture<'a, Value> {
        Box::pin(ready((self.0)(step, error)))
    }
}

/// The methods that add callbacks.
impl Agent {
    /// Adds callbacks around the agent's model and tools.
    #[must_use]
    pub fn callbacks(self, callbacks: impl Callbacks) -> Self {
        self.edit(|agent| agent.callbacks.push(Arc::new(callbacks)))
    }

    /// Adds callbacks around the models and tools of this agent and all agents below it, before their own callbacks.
    #[must_use]
    pub fn plugin(self, plugin: impl Callbacks) -> Self {
        self.edit(|agent| agent.plugins.push(Arc::new(plugin)))
    }

    /// Adds a closure as [`Callbacks::before_model`].
    #[must_use]
    pub fn before_model(
        self,
        callback: impl Fn(&mut ModelCall<'_>) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.callbacks(BeforeModel(callback))
    }

    /// Adds a closure as [`Callbacks::after_model`].
    #[must_use]
    pub fn after_model(
        self,
        callback: impl Fn(&mut ModelCall<'_>, &LlmResponse) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.callbacks(AfterModel(callback))
    }

    /// Adds a closure as [`Callbacks::on_model_error`].
    #[must_use]
    pub fn on_model_error(
        self,
        callback: impl Fn(&mut ModelCall<'_>, &LlmError) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.callbacks(OnModelError(callback))
    }

    /// Adds a closure as [`Callbacks::before_tool`].
    #[must_use]
    pub fn before_tool(
        self,
        callback: impl Fn(&mut ToolStep<'_>) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.callbacks(BeforeTool(callback))
    }

    /// Adds a closure as [`Callbacks::after_tool`].
    #[must_use]
    pub fn after_tool(
        self,
        callback: impl Fn(
            &mut ToolStep<'_>,
            &Result<Value, BoxError>,
        ) -> Result<Option<Value>, BoxError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.callbacks(AfterTool(callback))
    }

    /// Adds a closure as [`Callbacks::on_tool_error`].
    #[must_use]
    pub fn on_tool_error(
        self,
        callback: impl Fn(&mut ToolStep<'_>, &BoxError) -> Result<Option<Value>, BoxError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.callbacks(OnToolError(callback))
    }
}
