//! Guardrails that are made of a closure.

use std::fmt;

use super::{Guardrail, GuardrailContext, Verdict};
use petalflow::middleware::BoxFuture;
use petalflow::tool::ToolCall;
use petalflow::{BoxError, async_trait};
use petalflow_llm::ChatMessage;
use serde_json::Value;

type Check<T, R> = Box<dyn Fn(T) -> BoxFuture<'static, Result<Verdict<R>, BoxError>> + Send + Sync>;

/// A guardrail that is made of a closure, by [`on_input`], [`on_output`] or [`on_tool_call`].
pub struct ClosureGuardrail {
    name: String,
    beside: bool,
    check: Stage,
}

enum Stage {
    Input(Check<ChatMessage, ChatMessage>),
    Output(Check<ChatMessage, ChatMessage>),
    ToolCall(Check<ToolCall, Value>),
}

/// A guardrail for the message that begins a turn: see the [module](super).
///
/// ```
/// use petalflow_agent::guardrail::{self, Verdict};
/// use petalflow_llm::ChatMessage;
///
/// let quiet = guardrail::on_input("no shouting", |message: ChatMessage| async move {
///     Ok(Verdict::Rewrite(ChatMessage::user(message.text().to_lowercase())))
/// });
/// # let _ = quiet;
/// ```
pub fn on_input<F>(
    name: impl Into<String>,
    check: impl Fn(ChatMessage) -> F + Send + Sync + 'static,
) -> ClosureGuardrail
where
    F: Future<Output = Result<Verdict<ChatMessage>, BoxError>> + Send + 'static,
{
    let check = Stage::Input(Box::new(move |message| Box::pin(check(message))));
    ClosureGuardrail::new(name, check)
}

/// A guardrail for the answers of models: see the [module](super).
///
/// ```
/// use petalflow_agent::guardrail::{self, Verdict};
///
/// let secret = guardrail::on_output("project name", |message| async move {
///     let leaks = message.text().contains("Tulip");
///     Ok(if leaks { Verdict::block("I cannot tell.") } else { Verdict::Pass })
/// });
/// # let _ = secret;
/// ```
pub fn on_output<F>(
    name: impl Into<String>,
    check: impl Fn(ChatMessage) -> F + Send + Sync + 'static,
) -> ClosureGuardrail
where
    F: Future<Output = Result<Verdict<ChatMessage>, BoxError>> + Send + 'static,
{
    let check = Stage::Output(Box::new(move |message| Box::pin(check(message))));
    ClosureGuardrail::new(name, check)
}

/// A guardrail for the calls of tools: see the [module](super). A rewritten value is the arguments of the call.
///
/// ```
/// use petalflow_agent::guardrail::{self, Verdict};
///
/// let read_only = guardrail::on_tool_call("read only", |call| async move {
///     Ok(if call.name == "delete" { Verdict::block("nothing may be deleted") } else { Verdict::Pass })
/// });
/// # let _ = read_only;
/// ```
pub fn on_tool_call<F>(
    name: impl Into<String>,
    check: impl Fn(ToolCall) -> F + Send + Sync + 'static,
) -> ClosureGuardrail
where
    F: Future<Output = Result<Verdict<Value>, BoxError>> + Send + 'static,
{
    let check = Stage::ToolCall(Box::new(move |call| Box::pin(check(call))));
    ClosureGuardrail::new(name, check)
}

impl ClosureGuardrail {
    fn new(name: impl Into<String>, check: Stage) -> Self {
        ClosureGuardrail {
            name: name.into(),
            beside: false,
            check,
        }
    }

    /// Runs the check while the model answers: see [`Guardrail::runs_beside_model`].
    #[must_use]
    pub fn beside_model(mut self) -> Self {
        self.beside = true;
        self
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Guardrail for ClosureGuardrail {
    fn name(&self) -> &str {
        &self.name
    }

    fn runs_beside_model(&self) -> bool {
        self.beside
    }

    fn holds_back_pieces(&self) -> bool {
        !self.beside && matches!(self.check, Stage::Output(_))
    }

    async fn check_input(
        &self,
        message: &ChatMessage,
        _: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        match &self.check {
            Stage::Input(check) => check(message.clone()).await,
            _ => Ok(Verdict::Pass),
        }
    }

    async fn check_output(
        &self,
        message: &ChatMessage,
        _: &GuardrailContext<'_>,
    ) -> Result<Verdict<ChatMessage>, BoxError> {
        match &self.check {
            Stage::Output(check) => check(message.clone()).await,
            _ => Ok(Verdict::Pass),
        }
    }

    async fn check_tool_call(
        &self,
        call: &ToolCall,
        _: &GuardrailContext<'_>,
    ) -> Result<Verdict<Value>, BoxError> {
        match &self.check {
            Stage::ToolCall(check) => check(call.clone()).await,
            _ => Ok(Verdict::Pass),
        }
    }
}

impl fmt::Debug for ClosureGuardrail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosureGuardrail")
            .field("name", &self.name)
            .field("beside", &self.beside)
            .finish_non_exhaustive()
    }
}
