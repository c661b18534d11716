//! Callbacks around model calls and tool calls.

use std::sync::Arc;

use serde_json::Value;

use super::{Agent, ModelCall, ToolStep};
use petalflow::{BoxError, async_trait};
use petalflow_llm::{LlmError, LlmResponse};

/// Callbacks around an agent's model and tools. A callback returns `None`, or a value that replaces the original one.
/// Once one of several returns a value or fails, the others do not run.
///
/// A callback that does not wait is shorter as a closure: see [`Agent::before_model`](super::Agent::before_model) and
/// the methods next to it.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::{Agent, Callbacks, ModelCall};
/// use petalflow_llm::{LlmResponse, ScriptedModel};
///
/// /// Answers what was asked before from memory.
/// struct Memory;
///
/// #[async_trait]
/// impl Callbacks for Memory {
///     async fn before_model(&self, call: &mut ModelCall<'_>) -> Result<Option<LlmResponse>, BoxError> {
///         let question = call.request.messages.last().map(|message| message.text());
///         Ok((question.as_deref() == Some("6 x 7?")).then(|| LlmResponse::text_only("42")))
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
#[async_trait]
pub trait Callbacks: Send + Sync + 'static {
    /// Runs before a model call. A returned response replaces the call, and no later callback sees it.
    async fn before_model(
        &self,
        call: &mut ModelCall<'_>,
    ) -> Result<Option<LlmResponse>, BoxError> {
        let _ = call;
        Ok(None)
    }

    /// Runs after a model call, for each piece and for the complete answer. A returned response replaces it.
    async fn after_model(
        &self,
        call: &mut ModelCall<'_>,
        response: &LlmResponse,
    ) -> Result<Option<LlmResponse>, BoxError> {
        let _ = (call, response);
        Ok(None)
    }

    /// Runs when a model call has failed. A returned response replaces the error.
    async fn on_model_error(
        &self,
        call: &mut ModelCall<'_>,
        error: &LlmError,
    ) -> Result<Option<LlmResponse>, BoxError> {
        let _ = (call, error);
        Ok(None)
    }

    /// Runs before a tool call. A returned result replaces the call.
    async fn before_tool(&self, step: &mut ToolStep<'_>) -> Result<Option<Value>, BoxError> {
        let _ = step;
        Ok(None)
    }

    /// Runs after a tool call, also after one that failed. A returned result replaces the original one.
    async fn after_tool(
        &self,
        step: &mut ToolStep<'_>,
        outcome: &Result<Value, BoxError>,
    ) -> Result<Option<Value>, BoxError> {
        let _ = (step, outcome);
        Ok(None)
    }

    /// Runs when a tool or a callback before it fails, or if there is no such tool. A result replaces the error.
    async fn on_tool_error(
        &self,
        step: &mut ToolStep<'_>,
        error: &BoxError,
    ) -> Result<Option<Value>, BoxError> {
        let _ = (step, error);
        Ok(None)
    }
}

/// [`Callbacks::before_model`] as a closure.
pub(super) struct BeforeModel<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for BeforeModel<F>
where
    F: Fn(&mut ModelCall<'_>) -> Result<Option<LlmResponse>, BoxError> + Send + Sync + 'static,
{
    async fn before_model(
        &self,
        call: &mut ModelCall<'_>,
    ) -> Result<Option<LlmResponse>, BoxError> {
        (self.0)(call)
    }
}

/// [`Callbacks::after_model`] as a closure.
pub(super) struct AfterModel<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for AfterModel<F>
where
    F: Fn(&mut ModelCall<'_>, &LlmResponse) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
{
    async fn after_model(
        &self,
        call: &mut ModelCall<'_>,
        response: &LlmResponse,
    ) -> Result<Option<LlmResponse>, BoxError> {
        (self.0)(call, response)
    }
}

/// [`Callbacks::on_model_error`] as a closure.
pub(super) struct OnModelError<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for OnModelError<F>
where
    F: Fn(&mut ModelCall<'_>, &LlmError) -> Result<Option<LlmResponse>, BoxError>
        + Send
        + Sync
        + 'static,
{
    async fn on_model_error(
        &self,
        call: &mut ModelCall<'_>,
        error: &LlmError,
    ) -> Result<Option<LlmResponse>, BoxError> {
        (self.0)(call, error)
    }
}

/// [`Callbacks::before_tool`] as a closure.
pub(super) struct BeforeTool<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for BeforeTool<F>
where
    F: Fn(&mut ToolStep<'_>) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
{
    async fn before_tool(&self, step: &mut ToolStep<'_>) -> Result<Option<Value>, BoxError> {
        (self.0)(step)
    }
}

/// [`Callbacks::after_tool`] as a closure.
pub(super) struct AfterTool<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for AfterTool<F>
where
    F: Fn(&mut ToolStep<'_>, &Result<Value, BoxError>) -> Result<Option<Value>, BoxError>
        + Send
        + Sync
        + 'static,
{
    async fn after_tool(
        &self,
        step: &mut ToolStep<'_>,
        outcome: &Result<Value, BoxError>,
    ) -> Result<Option<Value>, BoxError> {
        (self.0)(step, outcome)
    }
}

/// [`Callbacks::on_tool_error`] as a closure.
pub(super) struct OnToolError<F>(pub(super) F);

#[async_trait]
impl<F> Callbacks for OnToolError<F>
where
    F: Fn(&mut ToolStep<'_>, &BoxError) -> Result<Option<Value>, BoxError> + Send + Sync + 'static,
{
    async fn on_tool_error(
        &self,
        step: &mut ToolStep<'_>,
        error: &BoxError,
    ) -> Result<Option<Value>, BoxError> {
        (self.0)(step, error)
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
