//! What happens in a conversation: one thing that somebody said or did.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use petalflow::tool::Actions;
use petalflow_llm::{ChatMessage, FinishReason, Part, TokenUsage};

/// One thing that was said or done in a conversation: by its user, an agent, or the tools of an agent.
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
    /// Names it. The same when a crashed run goes on.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The turn that it belongs to: all that one input set off.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub invocation: String,
    /// The agent's name, or [`AgentEvent::USER`].
    pub author: String,
    /// The line of agents that it happened in, joined by dots; agents in other lines do not see it. None for all to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The call that it works on, where an agent was given a task: others do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What is said, called or returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<ChatMessage>,
    /// Whether it is a piece of a message that is still being written. Pieces are not part of the conversation.
    #[serde(skip_serializing_if = "is_default")]
    pub partial: bool,
    /// What else it does.
    #[serde(skip_serializing_if = "is_default")]
    pub actions: Actions,
    /// Those of its calls whose results come later, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub long_running: Vec<String>,
    /// What a task came to, on the event that ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// What the model took for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// Whether the user interrupted it.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// What the provider says went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What else the provider says about it, such as what the answer rests on ([`LlmResponse::meta`](petalflow_llm::LlmResponse)).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl AgentEvent {
    /// The author of what the user says.
    pub const USER: &'static str = "user";

    /// An event in which `author` says this.
    pub fn new(author: impl Into<String>, message: ChatMessage) -> Self {
        AgentEvent {
            author: author.into(),
            message: Some(message),
            ..Self::default()
        }
    }

    /// Its words, without what was only thought.
    pub fn text(&self) -> String {
        self.message
            .as_ref()
            .map(ChatMessage::text)
            .unwrap_or_default()
    }

    /// Whether it ends the turn: nothing is left to do about it, or what is left is up to others.
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
        if self.actions.skip_summarization || !self.long_running.is_empty() {
            return true;
        }
        let parts = self.parts();
        !self.partial
            && !parts
                .iter()
                .any(|part| matches!(part, Part::Call(_) | Part::Result(_)))
            && !matches!(parts.last(), Some(Part::CodeResult { .. }))
    }

    /// Whether the model only thought, and said nothing. A signature on other parts makes no thought of them.
    pub fn is_thought_only(&self) -> bool {
        let parts = self.parts();
        !self.partial
            && !parts.is_empty()
            && parts.iter().all(|part| matches!(part, Part::Thought(_)))
    }

    /// Whether the user said it.
    pub fn is_from_user(&self) -> bool {
        self.author == Self::USER
    }

    pub(super) fn parts(&self) -> &[Part] {
        self.message.as_ref().map_or(&[], |message| &message.parts)
    }

    /// Whether it has something in it that a model can read.
    pub(super) fn has_content(&self) -> bool {
        self.parts().iter().any(|part| match part {
            Part::Text(text) => !text.text.is_empty() || text.signature.is_some(),
            _ => true,
        })
    }
}
