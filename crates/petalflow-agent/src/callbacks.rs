//! Code of the user's around models and tools.

use std::future::ready;
use std::sync::Arc;

use serde_json::Value;

use super::{Agent, ModelCall, ToolStep};
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;
use petalflow_llm::{LlmError, LlmResponse};

/// What a callback decides: nothing, or what stands in place of what would have come. See [`Callbacks`].
pub type CallbackFuture<'a, T> = BoxFuture<'a, Result<Option<T>, BoxError>>;

/// Code around an agent's model and tools. Of several, the first that returns something, or fails, is the last that is asked.
///
/// Those that need not wait are quicker to write as closures: [`Agent::before_model`](super::Agent::before_model) and its
/// neighbours.
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
    /// Before a model is called. A response takes the place of the call, and goes to nobody else.
    fn before_model<'a>(&'a self, call: &'a mut ModelCall<'_>) -> CallbackFuture<'a, LlmResponse> {
        let _ = call;
        nothing()
    }

    /// After a model, for every piece of an answer and for the whole. A response takes the place of the one that came.
    fn after_model<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a LlmResponse,
    ) -> CallbackFuture<'a, LlmResponse> {
        let _ = (call, response);
        nothing()
    }

    /// When a model has failed. A response takes the place of the failure.
    fn on_model_error<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        error: &'a LlmError,
    ) -> CallbackFuture<'a, LlmResponse> {
        let _ = (call, error);
        nothing()
    }

    /// Before a tool is called. A result takes the place of the call.
    fn before_tool<'a>(&'a self, step: &'a mut ToolStep<'_>) -> CallbackFuture<'a, Value> {
        let _ = step;
        nothing()
    }

    /// After a tool, whatever came of it. A result takes the place of it.
    fn after_tool<'a>(
        &'a self,
        step: &'a mut ToolStep<'_>,
        outcome: &'a Result<Value, BoxError>,
    ) -> CallbackFuture<'a, Value> {
        let _ = (step, outcome);
        nothing()
    }

    /// When a tool, or a callback before it, has failed, or there is no such tool. A result takes the place of the failure.
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

/// Callbacks of an agent.
impl Agent {
    /// Puts code around its model and its tools.
    #[must_use]
    pub fn callbacks(self, callbacks: impl Callbacks) -> Self {
        self.edit(|agent| agent.callbacks.push(Arc::new(callbacks)))
    }

    /// Puts code around the models and tools of this agent and all below it, before their own.
    #[must_use]
    pub fn plugin(self, plugin: impl Callbacks) -> Self {
        self.edit(|agent| agent.plugins.push(Arc::new(plugin)))
    }

    /// [`Callbacks::before_model`] as a closure.
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

    /// [`Callbacks::after_model`] as a closure.
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

    /// [`Callbacks::on_model_error`] as a closure.
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

    /// [`Callbacks::before_tool`] as a closure.
    #[must_use]
    pub fn before_tool(
        self,
        callback: impl Fn(&mut ToolStep<'_>) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.callbacks(BeforeTool(callback))
    }

    /// [`Callbacks::after_tool`] as a closure.
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

    /// [`Callbacks::on_tool_error`] as a closure.
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
