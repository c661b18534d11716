//! The state of a conversation.

// `#[state]` makes a type for each key; those that only the turn writes are not part of the interface.
#![allow(unreachable_pub)]

use std::sync::{Arc, Mutex, PoisonError};

use petalflow::state;
use petalflow_llm::{ChatMessage, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::step::Outcome;

/// The state of a conversation.
///
/// ```
/// use petalflow_conversations::ConversationFlow;
/// # use petalflow_conversations::document::Conversation;
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// # let document = Conversation::from_config(&document).unwrap();
/// # let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."])).build()?;
/// let state = flow.run(()).await?;
/// assert_eq!(state.answer(), "Hello.");
/// assert_eq!(state.position.node.as_deref(), Some("a"));
/// assert!(!state.has_ended());
/// # Ok(())
/// # }
/// ```
#[state]
#[derive(Clone, Debug)]
pub struct ConversationState {
    /// What the person says in this turn. Without it, the conversation starts or continues by itself.
    #[key(input, turn, default)]
    pub user_message: Option<String>,
    /// The values that functions set. Placeholders in prompts and the functions of all nodes read them.
    #[key(input, merge)]
    pub values: Map<String, Value>,
    /// All messages, in order. The list only grows: messages that a node hides from the model stay in it.
    #[key(input, append)]
    pub messages: Vec<ChatMessage>,
    /// Where the conversation is. An input without it does not change it.
    #[key(input, skip_zero, default)]
    pub position: Position,
    /// The number of model calls in the turn.
    #[key(sum, turn)]
    pub(crate) model_calls: u32,
    /// The outcomes of the functions of the previous superstep.
    #[key(append, ephemeral)]
    pub(crate) outcomes: Vec<Outcome>,
    /// The messages for the model.
    #[key(input, untracked, default)]
    #[doc(hidden)]
    pub view: View,
}

/// Where a conversation is.
///
/// ```
/// use petalflow_conversations::{ConversationStateInput, Position};
///
/// // Continues a conversation of another program at the node `menu`.
/// let mut input = ConversationStateInput::user_message("A pizza, please.");
/// input.position = Position { node: Some("menu".into()), ..Position::default() };
/// assert!(!input.position.has_ended);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// The node. `None` before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Who the model is: the role message of the last node that had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The index in [`ConversationState::messages`] of the first message that the model reads.
    pub first_message: usize,
    /// Whether the actions after the model's turn have not run yet.
    pub actions_wait: bool,
    /// Whether the conversation has ended.
    pub has_ended: bool,
    /// The version of the document with which the node was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_version: Option<String>,
}

impl ConversationState {
    /// Returns the last text of the model in the current turn; empty if there is none.
    pub fn answer(&self) -> String {
        let since = self.messages.iter().rev();
        since
            .take_while(|message| message.role != Role::User)
            .find(|message| message.role == Role::Assistant && !message.text().is_empty())
            .map(ChatMessage::text)
            .unwrap_or_default()
    }

    /// Returns whether the conversation has ended. It takes no further turns.
    pub fn has_ended(&self) -> bool {
        self.position.has_ended
    }

    /// Returns the input of the next turn: what the person says, with all that was before. A thread of a store needs
    /// only the new message.
    pub fn next_input(self, message: impl Into<String>) -> ConversationStateInput {
        ConversationStateInput {
            user_message: Some(message.into()),
            values: self.values,
            messages: self.messages,
            position: self.position,
            view: self.view,
        }
    }
}

impl ConversationStateInput {
    /// Creates the input of a conversation that the model begins.
    ///
    /// ```
    /// use petalflow_conversations::ConversationStateInput;
    ///
    /// assert_eq!(ConversationStateInput::start().user_message, None);
    /// ```
    pub fn start() -> Self {
        ConversationStateInput {
            user_message: None,
            values: Map::new(),
            messages: Vec::new(),
            position: Position::default(),
            view: View::default(),
        }
    }

    /// Creates the input of a turn in which the person says something.
    ///
    /// ```
    /// use petalflow_conversations::ConversationStateInput;
    ///
    /// assert_eq!(ConversationStateInput::user_message("Hello.").user_message.as_deref(), Some("Hello."));
    /// ```
    pub fn user_message(text: impl Into<String>) -> Self {
        ConversationStateInput {
            user_message: Some(text.into()),
            ..ConversationStateInput::start()
        }
    }

    /// Sets a value that placeholders and functions read.
    ///
    /// ```
    /// use petalflow_conversations::ConversationStateInput;
    ///
    /// let input = ConversationStateInput::start().with_value("restaurant_name", "La Maison");
    /// assert_eq!(input.values["restaurant_name"], "La Maison");
    /// ```
    #[must_use]
    pub fn with_value(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }
}

impl From<&str> for ConversationStateInput {
    fn from(text: &str) -> Self {
        ConversationStateInput::user_message(text)
    }
}

impl From<String> for ConversationStateInput {
    fn from(text: String) -> Self {
        ConversationStateInput::user_message(text)
    }
}

impl From<()> for ConversationStateInput {
    fn from((): ()) -> Self {
        ConversationStateInput::start()
    }
}

/// The messages that the model reads, shared with requests. New messages are appended in place.
#[derive(Default)]
pub struct View(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    first: usize,
    messages: Arc<Vec<ChatMessage>>,
}

impl View {
    /// The messages from `first` on.
    pub(crate) fn messages(&self, all: &[ChatMessage], first: usize) -> Arc<Vec<ChatMessage>> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = all.get(first..).unwrap_or_default();
        let known = seen.messages.len();
        if seen.first != first || known > wanted.len() {
            *seen = Seen {
                first,
                messages: Arc::new(wanted.to_vec()),
            };
        } else if known < wanted.len() {
            // There is no other owner while no request is in progress. Then nothing is copied.
            Arc::make_mut(&mut seen.messages).extend_from_slice(&wanted[known..]);
        }
        Arc::clone(&seen.messages)
    }
}

/// A clone is empty, because copies of a conversation continue differently.
impl Clone for View {
    fn clone(&self) -> Self {
        View::default()
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").finish_non_exhaustive()
    }
}
