//! Calls of an agent for one answer. The call has its own conversation, and waits while the agent waits for people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::at::At;
use super::conversation::{PendingCall, Speaker};
use super::flow::launch_of;
use super::{AgentError, AgentEvent, Conversation, ConversationInput, delegation, output};
use petalflow::BoxError;
use petalflow::tool::ToolCall;
use petalflow_llm::{ChatMessage, Part};

/// A called agent that waits for people before it answers, with its own conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Waiting {
    /// The call of the agent.
    pub(crate) call: ToolCall,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) speakers: Vec<Speaker>,
    /// The waiting agents that it has called itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<Vec<Waiting>>,
}

/// Result of calling the agent.
pub(super) struct Asked {
    pub(super) answer: Answer,
    /// The new events of its conversation.
    pub(super) events: Vec<AgentEvent>,
    pub(super) state: Map<String, Value>,
}

pub(super) enum Answer {
    Given(Value),
    /// The agent waits for people.
    Later(Waiting),
}

/// Calls the agent at `place`, or continues its conversation if people have answered.
pub(super) async fn ask(
    at: At<'_>,
    place: usize,
    pending: &PendingCall,
) -> Result<Asked, BoxError> {
    let agent = &at.roster.at(place).agent;
    let line = format!("{}@1", agent.name);
    let branch = match &at.conversation.branch {
        Some(branch) => format!("{branch}.{line}"),
        None => line,
    };
    let mut waiting = at.conversation.waiting.iter().flatten();
    let before = waiting.find(|waiting| waiting.call.id == pending.call.id);
    let input = match (before, &pending.answer) {
        (Some(before), Some(answer)) => ConversationInput {
            events: before.events.clone(),
            speakers: before.speakers.clone(),
            waiting: before.within.clone(),
            ..answer.clone().into()
        },
        _ => ConversationInput {
            speakers: vec![Speaker {
                agent: agent.name.to_string(),
                task: None,
            }],
            ..delegation::request(&pending.call).into()
        },
    };
    let known = input.events.len();
    let input = ConversationInput {
        branch: Some(branch),
        state: at.conversation.state.clone(),
        ..input
    };
    let launch = launch_of(at.root());
    let talk = launch.run_in(at.cx, &agent.name, input).await?;
    let new = talk.events[known..].iter();
    let events: Vec<AgentEvent> = new.filter(|event| !event.is_from_user()).cloned().collect();
    let mut state = Map::new();
    for event in &events {
        state.extend(event.actions.state_delta.clone());
    }
    let answer = if waits(&talk) {
        Answer::Later(Waiting {
            call: pending.call.clone(),
            events: talk.events,
            speakers: talk.speakers,
            within: talk.waiting,
        })
    } else {
        Answer::Given(answered(&talk, agent)?)
    };
    Ok(Asked {
        answer,
        events,
        state,
    })
}

/// Whether a conversation ended with a question to people and not with an answer.
fn waits(talk: &Conversation) -> bool {
    let asks = talk.events.last().is_some_and(|last| {
        let mut pending = talk.pending().into_iter();
        pending.any(|pending| last.long_running.iter().any(|id| id == pending.id()))
    });
    // An agent that works on a task has asked the user a question.
    let works = talk.speakers.last().is_some_and(|last| last.task.is_some());
    asks || works || talk.waiting.iter().flatten().next().is_some()
}

fn answered(talk: &Conversation, agent: &super::Definition) -> Result<Value, BoxError> {
    if let Some(error) = talk.error() {
        return Err(format!("agent `{}` has no answer: {error}", agent.name).into());
    }
    let text = talk.answer();
    let answer = match &agent.output {
        Some(_) => output::read(&text).map_err(AgentError::Output)?,
        None => Value::String(text),
    };
    Ok(json!({ "result": answer }))
}

/// Splits the user's message: the part for each waiting agent, and the rest for the current agent. Text is for an
/// agent that works on a task, if `listens` is true for it.
pub(super) fn divided(
    waiting: &[Waiting],
    message: ChatMessage,
    listens: impl Fn(&Waiting) -> bool,
) -> (ChatMessage, Vec<(&Waiting, ChatMessage)>) {
    let mut rest = ChatMessage {
        parts: Vec::new(),
        ..message.clone()
    };
    let mut answers: Vec<(&Waiting, ChatMessage)> = Vec::new();
    for part in message.parts {
        let whose = waiting.iter().find(|waiting| match &part {
            Part::Result(result) => waiting.made(&result.call_id),
            _ => waiting.works() && listens(waiting),
        });
        let Some(whose) = whose else {
            rest.parts.push(part);
            continue;
        };
        match answers
            .iter_mut()
            .find(|(other, _)| std::ptr::eq(*other, whose))
        {
            Some((_, answer)) => answer.parts.push(part),
            None => answers.push((whose, ChatMessage::new(message.role, vec![part]))),
        }
    }
    (rest, answers)
}

impl Waiting {
    /// Whether an agent in it works on a task and has asked the user a question as text.
    fn works(&self) -> bool {
        let mut within = self.within.iter().flatten();
        self.speakers.last().is_some_and(|last| last.task.is_some()) || within.any(Waiting::works)
    }

    /// Whether its conversation contains a call.
    fn made(&self, id: &str) -> bool {
        let messages = self.events.iter().flat_map(|event| &event.message);
        messages
            .flat_map(ChatMessage::calls)
            .any(|call| call.id == id)
    }
}
