//! The trait of guardrails.

use std::fmt;

use super::Verdict;
use crate::Conversation;
use crate::extension::{Position, position_methods};
use petalflow::tool::ToolCall;
use petalflow::{BoxError, async_trait};
use petalflow_llm::ChatMessage;
use serde_json::Value;

/// A guardrail: see the [module](super). Each check passes unless it is implemented.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow::tool::ToolCall;
/// use petalflow_agent::Agent;
/// use petalflow_agent::guardrail::{Guardrail, GuardrailContext, Verdict};
/// # use petalflow_llm::ScriptedModel;
/// use serde_json::Value;
///
/// /// Allows files of one folder only.
/// struct OneFolder(&'static str);
///
/// #[async_trait]
/// impl Guardrail for OneFolder {
///     fn name(&self) -> &str {
///         "one folder"
///     }
///
///     async fn check_tool_call(&self, call: &ToolCall, _: &GuardrailContext<'_>) -> Result<Verdict<Value>, BoxError> {
///         let path = call.arguments["path"].as_str().unwrap_or_default();
///         let allowed = call.name != "read_file" || path.starts_with(self.0);
///         Ok(if allowed { Verdict::Pass } else { Verdict::block(format!("only files in {} can be read", self.0)) })
///     }
/// }
///
/// # let model = ScriptedModel::new(["hi"]);
/// let agent = Agent::new(model).guardrail(OneFolder("notes/"));
/// # let _ = agent;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a guardrail",
    label = "not a guardrail",
    note = "implement `petalflow_agent::guardrail::Guardrail` for it, or give a closure to `on_input`, `on_output` or `on_tool_call` of `petalflow_agent::guardrail`"
)]
#[async_trait]
pub trait Guardrail: Send + Sync + 'static {
    /// The name, for events and errors.
    fn name(&self) -> &str;

    /// Whether the check of the input runs while the model answers. Such a check cannot rewrite the input. Default:
    /// `false`.
    fn runs_beside_model(&self) -> bool {
        false
    }

    /// Whether listeners get no pieces of a streamed answer, because [`check_output`](Self::check_output) must see all of
    /// it first. Default: unless it runs beside the model.
    fn holds_back_pieces(&self) -> bool {
        !self.runs_beside_model()
    }

    /// Checks the message that begins a turn.
    ///
    /// # Errors
    ///
    /// An error ends the run.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    async fn check_input(
        &self,
        message: &ChatMessage,
        cx: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        let _ = (message, cx);
        Ok(Verdict::Pass)
    }

    /// Checks an answer of the model. [`GuardrailContext::is_partial`] is true if it is the text so far of a streamed
    /// answer; a rewritten text is then not used.
    ///
    /// # Errors
    ///
    /// An error ends the run.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    async fn check_output(
        &self,
        message: &ChatMessage,
        cx: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        let _ = (message, cx);
        Ok(Verdict::Pass)
    }

    /// Checks a call before it is made. A rewritten value is its arguments.
    ///
    /// # Errors
    ///
    /// An error ends the run.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    async fn check_tool_call(
        &self,
        call: &ToolCall,
        cx: &GuardrailContext<'_>,
    ) -> Result<Verdict<Value>, BoxError> {
        let _ = (call, cx);
        Ok(Verdict::Pass)
    }
}

/// What a guardrail knows about the content that it checks.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::guardrail::{Guardrail, GuardrailContext, Verdict};
/// use petalflow_llm::ChatMessage;
///
/// /// Only the agent `clerk` may name prices.
/// struct Prices;
///
/// #[async_trait]
/// impl Guardrail for Prices {
///     fn name(&self) -> &str {
///         "prices"
///     }
///
///     async fn check_output(&self, message: &ChatMessage, cx: &GuardrailContext<'_>) -> Result<Verdict<ChatMessage>, BoxError> {
///         let allowed = cx.agent() == "clerk" || !message.text().contains('$');
///         Ok(if allowed { Verdict::Pass } else { Verdict::block("Please ask the clerk.") })
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct GuardrailContext<'a> {
    position: Position<'a>,
    partial: bool,
}

impl<'a> GuardrailContext<'a> {
    /// The context of a check of complete content.
    pub(crate) fn complete(position: Position<'a>) -> Self {
        GuardrailContext {
            position,
            partial: false,
        }
    }

    /// The context of a check of the text so far of a streamed answer.
    pub(crate) fn partial(position: Position<'a>) -> Self {
        GuardrailContext {
            position,
            partial: true,
        }
    }

    position_methods!();

    /// The conversation before the content.
    pub fn conversation(&self) -> &'a Conversation {
        self.position.conversation
    }

    /// Whether the content is the text so far of a streamed answer.
    pub fn is_partial(&self) -> bool {
        self.partial
    }
}

impl fmt::Debug for GuardrailContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardrailContext")
            .field("agent", &self.agent())
            .field("partial", &self.partial)
            .finish_non_exhaustive()
    }
}
