//! Events of a conversation: one message or action each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::guardrail_event::GuardrailEvent;
use petalflow::Context;
use petalflow::event::CustomEvent;
use petalflow::tool::{Actions, ToolCall, ToolResult};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, Part, TokenUsage};

/// An event: one message or action in a conversation, by its user, an agent, or the tools of an agent.
///
/// ```
/// use petalflow_agent::AgentEvent;
/// use petalflow_llm::ChatMessage;
///
/// let event = AgentEvent::new("guide", ChatMessage::assistant("This way."));
/// assert!(event.is_final());
/// assert_eq!(event.text(), "This way.");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentEvent {
    /// The id. It stays the same when a crashed run is resumed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The id of the turn that the event belongs to. A turn is everything that follows from one input.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub invocation: String,
    /// The agent's name, or [`AgentEvent::USER`].
    pub author: String,
    /// The branch of agents that the event belongs to: their names, joined by dots. Agents in other branches do not
    /// see it. `None` if all agents see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The id of the call that the agent works on, if it was given a task. Other agents do not see the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The message: text, calls or results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<ChatMessage>,
    /// Whether it is a piece of a message that is still being streamed. Pieces are not part of the conversation.
    #[serde(skip_serializing_if = "is_default")]
    pub partial: bool,
    /// Its other actions.
    #[serde(skip_serializing_if = "is_default")]
    pub actions: Actions,
    /// The ids of the calls whose results come later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub long_running: Vec<String>,
    /// The output of a task, on the event that finishes it, and the result of an output function, on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The token usage of the model call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// What the provider says about `finish`: the words of a refusal, or what its filter found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_message: Option<String>,
    /// Why an answer went back to the model: on the answer, on the request for another one, and on the results of the
    /// tool by which it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
    /// What guardrails have done with the content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guardrails: Vec<GuardrailEvent>,
    /// Whether the user interrupted the answer.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// The error that the provider reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Other provider metadata, such as the answer's sources ([`LlmResponse::meta`](petalflow_llm::LlmResponse)).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// An answer that does not have the form that [`Agent::output`](crate::Agent::output) requests, and so went back to the
/// model.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["many", "5"])).output::<u32>();
/// let talk = agent.run("How many petals has a wild rose?").await?;
/// assert_eq!(talk.output::<u32>()?, 5);
/// let repair = talk.events[1].repair.as_ref().unwrap();
/// assert_eq!((repair.number, repair.problem.as_str()), (1, "expected value at line 1 column 1"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Repair {
    /// The number of the repair in the turn, from 1. [`Agent::max_repairs`](crate::Agent::max_repairs) limits it.
    pub number: u32,
    /// What is wrong with the answer.
    pub problem: String,
}

/// A source of tools of an agent that has failed: the payload of a [`CustomEvent`] of the run, for each model call without
/// the tools of the source.
///
/// ```
/// use petalflow::tool::{FuncTool, ToolSet, ToolSource};
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::stream::AgentEventKind;
/// use petalflow_agent::{Agent, ToolsUnavailable};
/// use petalflow_llm::ScriptedModel;
/// use serde_json::Value;
///
/// struct Dead;
///
/// #[async_trait]
/// impl ToolSource for Dead {
///     async fn tools(&self) -> Result<ToolSet, BoxError> {
///         Err("server `books` is down".into())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let agent = Agent::new(ScriptedModel::new(["hello"])).tool(ping).tool_source(Dead);
/// let mut events = agent.events("hi");
/// let mut problems = Vec::new();
/// while let Some(item) = events.next().await {
///     if let AgentEventKind::Custom(custom) = item.kind
///         && let Some(unavailable) = custom.downcast_ref::<ToolsUnavailable>()
///     {
///         problems.push(format!("{}: {}", unavailable.agent, unavailable.problem));
///     }
/// }
/// assert_eq!(problems, ["agent: server `books` is down"]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolsUnavailable {
    /// The name of the agent.
    pub agent: String,
    /// What is wrong with the source.
    pub problem: String,
}

impl ToolsUnavailable {
    /// Emits the event to the listener of the run, if there is one.
    pub(crate) fn emit(cx: &Context, agent: &str, problem: &str) {
        cx.emit_with(|| {
            let unavailable = ToolsUnavailable {
                agent: agent.into(),
                problem: problem.into(),
            };
            CustomEvent::named("tools_unavailable", unavailable)
        });
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl AgentEvent {
    /// The author of the user's messages.
    pub const USER: &'static str = "user";

    /// Creates an event with a message of `author`.
    pub fn new(author: impl Into<String>, message: ChatMessage) -> Self {
        AgentEvent {
            author: author.into(),
            message: Some(message),
            ..Self::default()
        }
    }

    /// The text, without thoughts.
    pub fn text(&self) -> String {
        self.message
            .as_ref()
            .map(ChatMessage::text)
            .unwrap_or_default()
    }

    /// Whether the event ends the turn: no step is left, or the next step depends on a person or on a later result.
    ///
    /// ```
    /// use petalflow_agent::AgentEvent;
    /// use petalflow::tool::ToolCall;
    /// use petalflow_llm::{ChatMessage, Part, Role};
    ///
    /// let call = ToolCall { id: "c1".into(), name: "search".into(), ..ToolCall::default() };
    /// let mut event = AgentEvent::new("guide", ChatMessage::new(Role::Assistant, vec![Part::Call(call)]));
    /// assert!(!event.is_final(), "the call's result is missing");
    /// event.long_running.push("c1".into());
    /// assert!(event.is_final(), "it comes later");
    /// ```
    pub fn is_final(&self) -> bool {
        if self.repair.is_some() || self.is_paused() {
            return false;
        }
        if self.actions.skip_summarization || !self.long_running.is_empty() {
            return true;
        }
        let parts = self.parts();
        !self.partial
            && !parts
                .iter()
                .any(|part| matches!(part, Part::Call(_) | Part::Result(_)))
            && !matches!(
                parts.iter().rfind(|part| !is_opaque(part)),
                Some(Part::CodeResult { .. })
            )
    }

    /// Whether the provider has paused the answer. The turn asks for the rest of it.
    pub(crate) fn is_paused(&self) -> bool {
        self.finish == Some(FinishReason::Paused)
    }

    /// Whether it is an answer that went back to the model, or the request for another one. Only the agent that gave it
    /// reads it.
    pub(crate) fn is_void(&self) -> bool {
        self.repair.is_some() && self.results().next().is_none()
    }

    /// Whether it contains only thoughts. A signature on other parts does not make them thoughts.
    pub fn is_thought_only(&self) -> bool {
        let parts = self.parts();
        !self.partial
            && parts.iter().any(|part| matches!(part, Part::Thought(_)))
            && parts
                .iter()
                .all(|part| matches!(part, Part::Thought(_)) || is_opaque(part))
    }

    /// Whether a guardrail has blocked the message that began its turn. No model reads such a turn.
    pub(crate) fn blocks_input(&self) -> bool {
        !self.invocation.is_empty() && self.guardrails.iter().any(GuardrailEvent::blocks_input)
    }

    /// Whether the user is the author.
    pub fn is_from_user(&self) -> bool {
        self.author == Self::USER
    }

    pub(crate) fn parts(&self) -> &[Part] {
        self.message.as_ref().map_or(&[], |message| &message.parts)
    }

    /// The calls in its message.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message.iter().flat_map(ChatMessage::calls)
    }

    /// The results in its message.
    pub(crate) fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.message.iter().flat_map(ChatMessage::tool_results)
    }

    /// Whether it contains the call with this id.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.calls().any(|call| call.id == id)
    }

    /// Emits the event that `make` makes to the listener of the run at once, if there is a listener.
    pub(crate) fn emit(cx: &Context, make: impl FnOnce() -> AgentEvent) {
        cx.emit_with(|| {
            let event = make();
            let is_partial = event.partial;
            let event = CustomEvent::named("agent_event", event);
            if is_partial { event.partial() } else { event }
        });
    }

    /// Emits these events to the listener of the run, if there is one. The log of a thread has them, which has no states.
    pub(crate) fn emit_all(cx: &Context, events: &[AgentEvent]) {
        for event in events {
            Self::emit(cx, || event.clone());
        }
    }

    /// Whether it has content that a model can read.
    pub(crate) fn has_content(&self) -> bool {
        self.parts().iter().any(|part| match part {
            Part::Text(text) => !text.text.is_empty() || text.signature.is_some(),
            _ => true,
        })
    }
}

/// Whether the part says nothing itself: it is something of the provider, or a source of a text.
fn is_opaque(part: &Part) -> bool {
    matches!(part, Part::Provider { .. } | Part::Citation(_))
}
