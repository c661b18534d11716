//! The conversation of an agent and its user: the state of the agent's flow.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::calls::Outcome;
use super::client::ClientSettings;
use super::cut::Cut;
use super::run_resources::RunResources;
use super::speakers::{Speaker, Waiting};
use super::view::View;
use crate::limits::Usage;
use crate::{AgentError, AgentEvent, output};
use petalflow::state;
use petalflow_llm::ChatMessage;

/// A conversation: its events and the agents' state. An agent's run returns it. Displayed as text it is the answer.
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
/// // The next turn continues the conversation.
/// let talk = agent.run(talk.next_input("good bye")).await?;
/// let texts: Vec<String> = talk.events.iter().map(AgentEvent::text).collect();
/// assert_eq!(texts, ["hello", "hello yourself", "good bye", "until tomorrow"]);
/// # Ok(())
/// # }
/// ```
#[state]
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The new message to the agent.
    #[key(input, turn, default)]
    pub message: Option<ChatMessage>,
    /// The events, in order. The list only grows, unless the agent
    /// [removes events](crate::Agent::remove_cut_events) that no model reads any more. To start with other events, create a
    /// [`ConversationInput`].
    #[key(input, append)]
    pub events: Vec<AgentEvent>,
    /// The state that tools and callbacks write. Instructions can name its keys.
    #[key(input, merge)]
    pub state: Map<String, Value>,
    /// The state for keys that begin with `temp:`. It is removed when the next turn begins.
    #[key(merge, turn)]
    pub temp: Map<String, Value>,
    /// The branch of agents that the conversation belongs to: their names, joined by dots.
    #[key(input, turn, default)]
    pub branch: Option<String>,
    /// The id of the turn.
    #[key(turn, default, id = "invocation")]
    pub(crate) turn_id: String,
    /// The speakers: the agent that has the conversation, then the agents that were given tasks.
    #[key(input, skip_zero, default)]
    pub(crate) speakers: Vec<Speaker>,
    /// The agents that were called and wait for a person before they answer.
    #[key(input, skip_zero, default)]
    pub(crate) waiting: Option<Vec<Waiting>>,
    /// The number of model calls in the turn.
    #[key(sum, turn)]
    pub(crate) calls: u32,
    /// The number of consecutive answers that contain only thoughts.
    #[key(turn, default, id = "thoughts")]
    pub(crate) thought_only_answers: u32,
    /// What was used in all turns. A called agent starts with the count of its caller.
    #[key(input, sum, skip_zero)]
    pub(crate) spent: Usage,
    /// What was used in the turn.
    #[key(input, sum, turn)]
    pub(crate) turn_spent: Usage,
    /// The usage of unfinished steps of an interrupted turn. Only recovery writes it.
    #[key(sum, ephemeral, recover)]
    pub(crate) unfinished: Usage,
    /// What models read instead of the start of the events, for each agent.
    #[key(input, skip_zero, default)]
    pub(crate) cuts: Vec<Cut>,
    /// The number of events before the first one in `events`.
    #[key(input, sum, skip_zero)]
    pub(crate) removed: u64,
    /// The outcomes of the calls in the previous superstep. A turn after an interrupted one begins with those of the calls
    /// that had finished.
    #[key(append, ephemeral, recover)]
    pub(crate) outcomes: Vec<Outcome>,
    /// The ids of the calls that decisions of a person have started, until their outcomes are gathered.
    #[key(default)]
    pub(crate) decided: Vec<String>,
    /// Messages to the agent while it works, which its next model call reads: see
    /// [`Thread::send`](petalflow::thread::Thread::send).
    #[key(append, inbox)]
    pub steering: Vec<ChatMessage>,
    /// What the client adds to the turn.
    #[key(input, turn, default)]
    pub client: ClientSettings,
    /// The messages built from `events`.
    #[key(input, untracked, default)]
    pub(crate) view: View,
    /// What the steps of the run share.
    #[key(turn, untracked, default)]
    pub(crate) resources: RunResources,
}

impl Conversation {
    /// The answer: the last text for the user since the user's last message. Empty if there is none.
    pub fn answer(&self) -> String {
        self.answer_event()
            .map(AgentEvent::text)
            .unwrap_or_default()
    }

    /// The value of an answer that an output function has given.
    pub(crate) fn answer_value(&self) -> Option<&Value> {
        let event = self.answer_event()?;
        // The event of a finished task has the results of tools.
        let is_answer = event.results().next().is_none();
        event.output.as_ref().filter(|_| is_answer)
    }

    fn answer_event(&self) -> Option<&AgentEvent> {
        let since = self.events.iter().rev();
        since
            .filter(|event| event.scope.as_deref() == self.scope() && event.branch == self.branch)
            .take_while(|event| !event.is_from_user())
            .find(|event| event.has_content() && !event.is_void())
    }

    /// The id of the call that the current speaker works on.
    pub(crate) fn scope(&self) -> Option<&str> {
        let task = self.speakers.last()?.task.as_ref();
        task.map(|task| &*task.id)
    }

    /// Parses the answer as a `T`. [`Agent::output`](crate::Agent::output) asks the model for such answers. Of an agent that answers
    /// with an [output function](crate::Agent::output_function), it is the result of the function.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["[3, 5, 8]"])).output::<Vec<u32>>();
    /// let talk = agent.run("three numbers, please").await?;
    /// assert_eq!(talk.output::<Vec<u32>>()?, [3, 5, 8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the answer cannot be parsed. The error names the position in it, and how the agent is asked for this type.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, AgentError> {
        let answer = self.answer();
        let read = match self.answer_value() {
            Some(value) => output::deserialize(value),
            None => output::parse(&answer),
        };
        read.map_err(|problem| AgentError::OtherType {
            ty: output::short_name::<T>(),
            problem,
            answer,
        })
    }

    /// The reason for a missing answer, if the last model call gave none.
    pub fn error(&self) -> Option<&str> {
        let last = self.events.last()?;
        last.error.as_deref()
    }

    /// The number of events that were removed from the start of [`events`](Self::events): see
    /// [`Agent::remove_cut_events`](crate::Agent::remove_cut_events).
    pub fn removed_events(&self) -> u64 {
        self.removed
    }

    /// What the conversation used in all turns: requests, tokens, money and tool calls. Those of agents that were called
    /// are included.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hello", "good bye"]));
    /// let talk = agent.run("hi").await?;
    /// let talk = agent.run(talk.next_input("bye")).await?;
    /// assert_eq!((talk.usage().requests, talk.turn_usage().requests), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn usage(&self) -> Usage {
        self.spent
    }

    /// What the conversation used in the last turn.
    pub fn turn_usage(&self) -> Usage {
        self.turn_spent
    }

    /// The input for the next turn: the new message with all earlier events.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::from_fn(|request| request.messages.len().to_string()));
    /// let talk = agent.run("one").await?;
    /// let talk = agent.run(talk.next_input("two")).await?;
    /// assert_eq!(talk.answer(), "3");
    /// # Ok(())
    /// # }
    /// ```
    pub fn next_input(self, message: impl Into<ConversationInput>) -> ConversationInput {
        let input = message.into();
        let mut state = self.state;
        state.extend(input.state);
        ConversationInput {
            message: input.message,
            events: self.events,
            state,
            branch: input.branch,
            speakers: self.speakers,
            waiting: self.waiting,
            spent: self.spent,
            turn_spent: Usage::default(),
            cuts: self.cuts,
            removed: self.removed,
            client: input.client,
            view: self.view,
        }
    }
}

/// Displays the answer; without one, what the conversation waits for, or why there is no answer.
impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.answer();
        let (pending, error) = (self.pending(), self.error());
        if answer.is_empty() && (!pending.is_empty() || error.is_some()) {
            let waiting = pending.iter().map(ToString::to_string);
            let lines: Vec<_> = waiting.chain(error.map(String::from)).collect();
            return f.write_str(&lines.join("\n"));
        }
        f.write_str(&answer)
    }
}
