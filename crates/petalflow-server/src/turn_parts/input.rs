//! The input of a turn, for agents and conversations.

use petalflow::BoxError;
use petalflow_agent::{Agent, ClientSettings, ConversationInput};
use petalflow_conversations::ConversationStateInput;
use petalflow_llm::{ChatMessage, Part, Role};
use serde_json::{Map, Value};

use crate::call_decision::CallDecision;

/// The input of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnInput {
    /// The new messages, after those of the thread. Of a client that keeps the conversation itself, all of them.
    pub(crate) messages: Vec<ChatMessage>,
    /// Tools that the client runs, and settings of requests.
    pub(crate) client: ClientSettings,
    /// Values for the state of the conversation.
    pub(crate) state: Map<String, Value>,
    /// The answers to what the conversation waits for.
    pub(crate) answers: Vec<PersonAnswer>,
    /// Whether the turn discards the questions that the flow waits for.
    pub(crate) discards_questions: bool,
}

/// An answer to what a conversation waits for, with the id of the request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PersonAnswer {
    /// A person's decision about a call.
    Decision(CallDecision),
    Credential {
        id: String,
        credential: Value,
    },
    /// The result of a call.
    Result {
        id: String,
        content: Value,
    },
}

impl PersonAnswer {
    /// Adds the answer to the input of an agent.
    pub(crate) fn add_to(self, input: ConversationInput) -> ConversationInput {
        match self {
            PersonAnswer::Decision(decision) => decision.add_to(input),
            PersonAnswer::Credential { id, credential } => input.credential(id, credential),
            PersonAnswer::Result { id, content } => input.result(id, content),
        }
    }
}

impl TurnInput {
    /// The input of an agent.
    pub(crate) fn for_agent(self, agent: &Agent) -> Result<ConversationInput, BoxError> {
        let input = if self.messages.is_empty() {
            ConversationInput::default()
        } else {
            agent.input_from(self.messages)?
        };
        let instructions = input.client.instructions.clone();
        let client = self.client.instruct(instructions.unwrap_or_default());
        agent.check_client(&client)?;
        let mut input = input.with_client(client);
        input.state = self.state;
        let answers = self.answers.into_iter();
        Ok(answers.fold(input, |input, answer| answer.add_to(input)))
    }

    /// The input of a conversation of a document: a text of the person. The functions and the instructions are those of
    /// the document.
    pub(crate) fn for_conversation(self) -> Result<ConversationStateInput, BoxError> {
        if self.client != ClientSettings::default() || !self.answers.is_empty() {
            return Err("a conversation of a document has its own functions, instructions and settings: send only a text".into());
        }
        let Some(message) = self.messages.first() else {
            return Ok(ConversationStateInput::start());
        };
        let is_text = |part: &Part| matches!(part, Part::Text(_));
        if self.messages.len() > 1
            || message.role != Role::User
            || !message.parts.iter().all(is_text)
        {
            return Err("a conversation of a document keeps its messages itself: send one text of the user, and continue its thread with the next one".into());
        }
        let mut input = ConversationStateInput::user_message(message.text());
        input.values = self.state;
        Ok(input)
    }
}
