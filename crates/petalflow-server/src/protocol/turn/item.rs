//! What happens in a turn, in a form that belongs to no protocol.

use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::TokenUsage;
use petalflow_llm::message::Media;
use petalflow_llm::response::FinishReason;
use serde_json::{Map, Value};

use super::cited::CitedPassage;
use super::end::TurnEnd;
use crate::turn_parts::Voice;

/// Something that happens in a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnItem {
    pub(crate) voice: Voice,
    pub(crate) kind: ItemKind,
}

/// The kind of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemKind {
    /// The next text of a message. No text comes twice.
    Text(String),
    /// The next text of the model's reasoning.
    Thought(String),
    /// The message is complete. Text after it belongs to another message.
    MessageEnd(Box<MessageEnd>),
    /// A medium in a message.
    Media(Media),
    /// A call of a tool. If its result comes from the client or later, the end of the turn lists it as pending.
    Call(ToolCall),
    /// The result of a call, or a first one.
    Result(ToolResult),
    /// Changes of the state of the conversation.
    State(Map<String, Value>),
    /// The end of the turn. It is the last item.
    End(Box<TurnEnd>),
}

/// The end of a message of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MessageEnd {
    pub(crate) finish: Option<FinishReason>,
    /// The words of a refusal. They are no text of the message, except for what was streamed before the model refused.
    pub(crate) refusal: Option<String>,
    /// What the provider says about `finish`, such as what its filter has found.
    pub(crate) finish_message: Option<String>,
    /// Why the message is missing or incomplete.
    pub(crate) error: Option<String>,
    /// The tokens of this model call.
    pub(crate) usage: Option<TokenUsage>,
    /// The sources that its text cites.
    pub(crate) cited: Vec<CitedPassage>,
    /// Whether the message went back to the model, and is no answer.
    pub(crate) is_void: bool,
}
