//! What an agent and its user have said: the state of the flow that an agent is.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::view::View;
use super::{AgentError, AgentEvent, CONFIRMATION};
use crate::llm::{ChatMessage, Part, Role, TokenUsage, ToolCall, ToolResult};
use crate::state;
use crate::tool::Confirmation;

/// A conversation: what was said and done, and what the agents know. A run of an agent comes to one; shown as text it is the
/// answer.
///
/// ```
/// use petalflow::agent::{Agent, AgentEvent, Conversation};
/// use petalflow::llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["hello yourself", "until tomorrow"]));
/// let talk: Conversation = agent.run("hello").await?;
/// assert_eq!(talk.to_string(), "hello yourself");
///
/// // Goes on, with what was said before.
/// let talk = agent.run(talk.say("good bye")).await?;
/// let said: Vec<String> = talk.events.iter().map(AgentEvent::text).collect();
/// assert_eq!(said, ["hello", "hello yourself", "good bye", "until tomorrow"]);
/// # Ok(())
/// # }
/// ```
#[state]
#[derive(Clone, Debug)]
pub struct Conversation {
    /// What is said to the agent now.
    #[key(input, turn, default)]
    pub message: Option<ChatMessage>,
    /// What was said and done, in order. It only grows; a conversation with another past begins with a
    /// [`ConversationInput`] of its own.
    #[key(input, append)]
    pub events: Vec<AgentEvent>,
    /// What tools and callbacks have written down, and instructions can name.
    #[key(input, merge)]
    pub state: Map<String, Value>,
    /// The same for keys that begin with `temp:`, which are gone with the next turn.
    #[key(merge, turn)]
    pub temp: Map<String, Value>,
    /// The line of agents that it happens in, joined by dots.
    #[key(input, turn, default)]
    pub branch: Option<String>,
    /// The id of the turn.
    #[key(turn, default)]
    pub(crate) invocation: String,
    /// Who speaks: the agent that converses, then those that were given tasks.
    #[key(input, skip_zero, default)]
    #[doc(hidden)]
    pub(crate) speakers: Vec<Speaker>,
    /// How often a model was called in the turn.
    #[key(sum, turn)]
    pub(crate) calls: u32,
    /// How often in a row it only thought.
    #[key(turn, default)]
    pub(crate) thoughts: u32,
    /// What the calls of the superstep before came to.
    #[key(append, ephemeral)]
    pub(crate) outcomes: Vec<Outcome>,
    /// The messages that were made of `events`.
    #[key(input, untracked, default)]
    #[doc(hidden)]
    pub view: View,
}

/// An agent that speaks, and the call it works on if it was given a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Speaker {
    pub(crate) agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<ToolCall>,
}

/// A call that is to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PendingCall {
    /// Its place among the calls that are made together.
    pub(crate) place: usize,
    pub(crate) call: ToolCall,
    /// What a person decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confirmation: Option<Confirmation>,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) place: usize,
    /// What an agent did that was asked something, in its own line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inner: Vec<AgentEvent>,
    /// None where the result comes later.
    pub(crate) event: Option<AgentEvent>,
    /// What is written to the state although there is no event.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) state: Map<String, Value>,
}

/// Something that a conversation waits for.
///
/// ```
/// use petalflow::agent::{Agent, ConversationInput, Pending};
/// # use petalflow::llm::{Reply, ScriptedModel};
/// use petalflow::tool::FuncTool;
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("delete", json!({})), "It is gone.".into()]);
/// let delete = FuncTool::new("delete", "Deletes everything.", |_: Value| async { Ok("deleted") });
/// let agent = Agent::new(model).tool(delete.confirm_if(|_| Some("Really everything?".into())));
/// let talk = agent.run("tidy up").await?;
/// let Some(Pending::Confirmation { id, hint, .. }) = talk.pending().pop() else { panic!("somebody must say yes") };
/// assert_eq!(hint, "Really everything?");
///
/// let talk = agent.run(talk.say(ConversationInput::default().confirm(id, true))).await?;
/// assert_eq!(talk.answer(), "It is gone.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pending {
    /// A person must decide about a call: [`ConversationInput::confirm`].
    Confirmation {
        /// What to answer to.
        id: String,
        /// The call.
        call: ToolCall,
        /// What the person is told.
        hint: String,
    },
    /// The result of a call comes later: [`ConversationInput::result`].
    Result {
        /// The call.
        call: ToolCall,
    },
}

impl Conversation {
    /// The answer: the last thing that was said to the user since they spoke, or nothing.
    pub fn answer(&self) -> String {
        let since = self.events.iter().rev();
        since
            .filter(|event| event.scope.as_deref() == self.scope() && event.branch == self.branch)
            .take_while(|event| !event.is_from_user())
            .find(|event| event.has_content())
            .map(AgentEvent::text)
            .unwrap_or_default()
    }

    /// The call that whoever speaks works on.
    pub(crate) fn scope(&self) -> Option<&str> {
        let task = self.speakers.last()?.task.as_ref();
        task.map(|task| &*task.id)
    }

    /// The answer read as a `T`: what [`Agent::output`](super::Agent::output) asks the model for.
    ///
    /// # Errors
    ///
    /// When it cannot be read as one; the error names the place in it.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, AgentError> {
        super::output::read(&self.answer()).map_err(AgentError::Output)
    }

    /// Why there is no answer, if the last model that was asked gave none.
    pub fn error(&self) -> Option<&str> {
        let last = self.events.last()?;
        last.error.as_deref()
    }

    /// What the models took, in all turns.
    pub fn usage(&self) -> TokenUsage {
        self.events.iter().filter_map(|event| event.usage).sum()
    }

    /// What it waits for, in the order in which it was asked.
    pub fn pending(&self) -> Vec<Pending> {
        let mut pending: Vec<Pending> = Vec::new();
        for event in &self.events {
            for result in event.message.iter().flat_map(ChatMessage::tool_results) {
                pending.retain(|waiting| waiting.id() != result.call_id);
            }
            for call in event.message.iter().flat_map(ChatMessage::calls) {
                if event.long_running.contains(&call.id) {
                    pending.push(Pending::of(call));
                }
            }
        }
        pending
    }

    /// What is said next, with all that was said before.
    pub fn say(self, message: impl Into<ConversationInput>) -> ConversationInput {
        let said = message.into();
        let mut state = self.state;
        state.extend(said.state);
        ConversationInput {
            message: said.message,
            events: self.events,
            state,
            branch: said.branch,
            speakers: self.speakers,
            view: self.view,
        }
    }
}

impl Pending {
    fn of(call: &ToolCall) -> Self {
        if call.name != CONFIRMATION {
            return Pending::Result { call: call.clone() };
        }
        let (original, confirmation) = super::confirmation::asked(call).unwrap_or_default();
        Pending::Confirmation {
            id: call.id.clone(),
            call: original,
            hint: confirmation.hint,
        }
    }

    /// What to answer to.
    pub fn id(&self) -> &str {
        match self {
            Pending::Confirmation { id, .. } => id,
            Pending::Result { call } => &call.id,
        }
    }
}

/// The answer.
impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.answer())
    }
}

impl ConversationInput {
    /// What a person decided about the call that the confirmation of this id asks about.
    #[must_use]
    pub fn confirm(self, id: impl Into<String>, confirmed: bool) -> Self {
        self.returned(id.into(), CONFIRMATION, json!({ "confirmed": confirmed }))
    }

    /// The result of a call that was to come later, or how far it has come.
    ///
    /// ```
    /// use petalflow::agent::{Agent, ConversationInput};
    /// # use petalflow::llm::{Reply, ScriptedModel};
    /// use petalflow::tool::FuncTool;
    /// # use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("build", json!({})), "It is built.".into()]);
    /// let build = FuncTool::new("build", "Builds a house.", |_: Value| async { Ok(()) }).long_running();
    /// let agent = Agent::new(model).tool(build);
    /// let talk = agent.run("a house, please").await?;
    /// let call = talk.pending()[0].id().to_string();
    ///
    /// // A year later:
    /// let built = ConversationInput::default().result(call, "four rooms");
    /// assert_eq!(agent.run(talk.say(built)).await?.answer(), "It is built.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn result(self, call: impl Into<String>, content: impl Into<Value>) -> Self {
        self.returned(call.into(), "", content.into())
    }

    fn returned(mut self, call_id: String, name: &str, content: Value) -> Self {
        let result = ToolResult {
            call_id,
            name: name.into(),
            content,
            is_error: false,
        };
        let message = self
            .message
            .get_or_insert_with(|| ChatMessage::new(Role::Tool, Vec::new()));
        message.parts.push(Part::Result(result));
        self
    }

    /// With a value in the conversation's state.
    ///
    /// ```
    /// use petalflow::agent::{Agent, ConversationInput};
    /// # use petalflow::llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
    /// let agent = Agent::new(model).instructions("You talk to {name}.");
    /// let input = ConversationInput::from("hello").with_state("name", "Ann");
    /// assert_eq!(agent.run(input).await?.answer(), "You talk to Ann.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_state(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.state.insert(key.into(), value.into());
        self
    }
}

impl From<ChatMessage> for ConversationInput {
    fn from(message: ChatMessage) -> Self {
        ConversationInput {
            message: Some(message),
            ..Self::default()
        }
    }
}

impl From<&str> for ConversationInput {
    fn from(text: &str) -> Self {
        ChatMessage::user(text).into()
    }
}

impl From<String> for ConversationInput {
    fn from(text: String) -> Self {
        ChatMessage::user(text).into()
    }
}
