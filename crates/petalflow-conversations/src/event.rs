//! The events of a conversation.

use petalflow::event::{Event, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ConversationState;

/// Something that happens in a conversation. A program that speaks, or shows text, listens to these.
///
/// ```
/// use petalflow_conversations::{ConversationEvent, ConversationFlow};
/// # use petalflow_conversations::document::Conversation;
/// # use petalflow_llm::ScriptedModel;
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let document = serde_json::from_value(json!({ "initial_node": "a", "nodes": { "a": { "task_messages": [],
/// #     "pre_actions": [{ "type": "tts_say", "text": "One moment." }] } } }))?;
/// # let document = Conversation::from_config(&document).unwrap();
/// # let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."])).build()?;
/// let mut events = flow.run(()).events();
/// let mut spoken = Vec::new();
/// while let Some(event) = events.next().await {
///     match ConversationEvent::of(&event) {
///         Some(ConversationEvent::Say { text } | ConversationEvent::Answer { text }) => spoken.push(text.clone()),
///         _ => {}
///     }
/// }
/// assert_eq!(spoken, ["One moment.", "Hello."]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConversationEvent {
    /// The conversation is at this node now.
    Entered {
        /// The node.
        node: String,
    },
    /// A piece of the model's answer, while it is streamed. The whole answer follows.
    Piece {
        /// The piece.
        text: String,
    },
    /// The model's answer. It is to be spoken or shown.
    Answer {
        /// The text.
        text: String,
    },
    /// An action says this text. The model does not know of it.
    Say {
        /// The text.
        text: String,
    },
    /// The model calls a function.
    Called {
        /// The function.
        function: String,
        /// The arguments.
        arguments: Value,
    },
    /// A function has returned.
    Returned {
        /// The function.
        function: String,
        /// The result, as the model reads it.
        result: Value,
        /// The node that follows.
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    /// An action of the program's own has run.
    Action {
        /// Its type.
        kind: String,
        /// Its other fields.
        fields: Map<String, Value>,
    },
    /// No summary could be made. The messages before the node are kept.
    NoSummary {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// An action has ended the conversation.
    Ended,
}

impl ConversationEvent {
    /// Returns the event of a conversation in an event of a run, if it is one.
    pub fn of(event: &Event<ConversationState>) -> Option<&Self> {
        match &event.kind {
            EventKind::Custom(custom) => custom.downcast_ref(),
            _ => None,
        }
    }
}
