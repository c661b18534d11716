//! What an agent and its user have said: the state of the flow that an agent is.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::single_turn::Waiting;
use super::view::View;
use super::{AgentError, AgentEvent};
use petalflow::state;
use petalflow::tool::{Confirmation, ToolCall};
use petalflow_llm::{ChatMessage, TokenUsage};

/// A conversation: what was said and done, and what the agents know. A run of an agent comes to one; shown as text it is the
/// answer.
///
/// ```
/// use petalflow_agent::{Agent, AgentEvent, Conversation};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["hello yourself", "until tomorrow"]));
/// let talk: Conversation = agent.run("hello").await?;
/// assert_eq!(talk.to_string(), "hello yourself");
///
/// // Goes on, with what was said before.
/// let talk = agent.run(talk.next_input("good bye")).await?;
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
    /// The agents that were asked something and wait for people before they answer.
    #[key(input, skip_zero, default)]
    #[doc(hidden)]
    pub(crate) waiting: Option<Vec<Waiting>>,
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
    /// The credential that somebody gave for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credential: Option<Value>,
    /// What people answered to the agent that was called, which waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<ChatMessage>,
}

impl PendingCall {
    /// A call about which nobody has decided anything.
    pub(crate) fn new(place: usize, call: ToolCall) -> Self {
        PendingCall {
            place,
            call,
            confirmation: None,
            credential: None,
            answer: None,
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) place: usize,
    /// The id of the call.
    pub(crate) call: String,
    /// What an agent did that was asked something, in its own line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inner: Vec<AgentEvent>,
    /// None where the result comes later.
    pub(crate) event: Option<AgentEvent>,
    /// What is written to the state although there is no event.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) state: Map<String, Value>,
    /// The agent that was asked, if it waits for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<Waiting>,
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

    /// What is said next, with all that was said before.
    pub fn next_input(self, message: impl Into<ConversationInput>) -> ConversationInput {
        let said = message.into();
        let mut state = self.state;
        state.extend(said.state);
        ConversationInput {
            message: said.message,
            events: self.events,
            state,
            branch: said.branch,
            speakers: self.speakers,
            waiting: self.waiting,
            view: self.view,
        }
    }
}

/// The answer.
impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.answer())
    }
}
