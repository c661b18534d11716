//! Callbacks around model calls and tool calls.

use serde_json::Value;

use super::{ModelCall, ToolStep};
use petalflow::{BoxError, async_trait};
use petalflow_llm::{LlmError, LlmResponse};

/// Callbacks around an agent's model and tools. A callback returns `None`, or a value that replaces the original one.
/// Once one of several returns a value or fails, the others do not run.
///
/// A callback that does not wait is shorter as a closure: see [`Agent::before_model`](crate::Agent::before_model) and
/// the methods next to it.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{Callbacks, ModelCall};
/// use petalflow_llm::{LlmResponse, ScriptedModel};
///
/// /// Answers a known question without the model.
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
