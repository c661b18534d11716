//! Turns events into the messages that a model reads. Selects the events that an agent sees, describes the actions of
//! other agents, and puts each result after its call.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::AgentEvent;
use super::confirmation::is_to_people;
use super::planner::Plans;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::{ChatMessage, Part, Role};

/// The agent that reads a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reader {
    /// The agent's name.
    pub(super) agent: String,
    /// Its branch of agents.
    pub(super) branch: Option<String>,
    /// The id and the request of the call that it works on, if it was given a task. The request is its first message.
    pub(super) task: Option<(String, String)>,
    /// Which of its thoughts it reads again.
    pub(super) plans: Plans,
    /// Whether the program runs the agent's code. If so, the agent reads it as text: providers accept only their
    /// code.
    pub(super) runs_code: bool,
}

/// Error of a history with a result that has no call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no call `{0}` comes before its result in the conversation: give results the id of their call"
)]
pub(super) struct Uncalled(String);

impl Reader {
    /// Whether the reader sees the event.
    pub(super) fn sees(&self, event: &AgentEvent) -> bool {
        event.has_content()
            && event.scope.as_deref() == self.task.as_ref().map(|(call, _)| &**call)
            && belongs(self.branch.as_deref(), event.branch.as_deref())
    }

    /// The event's message as the reader sees it; `None` if no part of it is left.
    pub(super) fn view(&self, event: &AgentEvent) -> Option<ChatMessage> {
        let message = event.message.as_ref()?;
        if event.is_from_user() || event.author == self.agent {
            self.own(message)
        } else {
            foreign(&event.author, message)
        }
    }

    /// A message of the user or of the reader. Calls to people and their results are removed. Plans and code become
    /// text, and code output becomes a user message.
    fn own(&self, message: &ChatMessage) -> Option<ChatMessage> {
        let ours = |part: &Part| match part {
            Part::Call(call) => !is_to_people(&call.name),
            Part::Result(result) => !is_to_people(&result.name),
            _ => true,
        };
        let printed = self.runs_code && matches!(&message.parts[..], [Part::CodeResult { .. }]);
        let code = |part: &Part| part.code_as_text().filter(|_| self.runs_code);
        let as_it_is = |part: &Part| ours(part) && !self.plans.has(part) && code(part).is_none();
        if message.parts.iter().all(as_it_is) {
            return Some(message.clone());
        }
        let parts = message.parts.iter().filter(|part| ours(part));
        let parts = parts.map(|part| match part {
            Part::Thought(plan) if self.plans.has(part) => Part::Text(plan.clone()),
            part => code(part).map_or_else(|| part.clone(), Part::text),
        });
        let parts: Vec<Part> = parts.collect();
        (!parts.is_empty()).then(|| ChatMessage {
            parts,
            role: if printed { Role::User } else { message.role },
            ..message.clone()
        })
    }
}

/// Whether a reader in `branch` sees an event: the event is in the same branch or in a branch above it.
fn belongs(branch: Option<&str>, event: Option<&str>) -> bool {
    match (branch, event) {
        (_, None) | (None, _) => true,
        (Some(branch), Some(event)) => branch
            .strip_prefix(event)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

/// Messages and actions of another agent, described in a user message.
fn foreign(author: &str, message: &ChatMessage) -> Option<ChatMessage> {
    let told = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if text.text.is_empty() => None,
        Part::Text(text) => Some(Part::text(format!("[{author}] said: {}", text.text))),
        Part::Call(call) if is_to_people(&call.name) => None,
        Part::Call(call) => Some(Part::text(format!(
            "[{author}] called tool `{}` with parameters: {}",
            call.name,
            shown(&call.arguments)
        ))),
        Part::Result(result) if is_to_people(&result.name) => None,
        Part::Result(result) => Some(Part::text(format!(
            "[{author}] `{}` tool returned result: {}",
            result.name,
            shown(&result.content)
        ))),
        // An agent does not read the thoughts of other agents.
        Part::Thought(_) => None,
        other => Some(other.clone()),
    });
    let told: Vec<Part> = told.collect();
    if told.is_empty() {
        return None;
    }
    let mut parts = vec![Part::text("For context:")];
    parts.extend(told);
    Some(ChatMessage::new(Role::User, parts))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "{}".into(),
        value => value.to_string(),
    }
}

/// All messages that the reader sees, in an order that models accept. The results of a message's calls are in one
/// message after it. If a call has several results, the last one counts. A call without a result gets one that says
/// so, because most providers reject such a call.
///
/// # Errors
///
/// If a result belongs to no earlier call.
pub(super) fn messages(
    events: &[AgentEvent],
    reader: &Reader,
) -> Result<Vec<ChatMessage>, Uncalled> {
    let asked = reader
        .task
        .iter()
        .map(|(_, asked)| ChatMessage::user(&**asked));
    let seen = events
        .iter()
        .filter(|event| reader.sees(event))
        .filter_map(|event| reader.view(event));
    arranged(asked.chain(seen).collect())
}

/// Moves results after their calls.
fn arranged(messages: Vec<ChatMessage>) -> Result<Vec<ChatMessage>, Uncalled> {
    let mut last = last_results(&messages)?;
    let ends_with_results = messages
        .last()
        .is_some_and(|message| message.tool_results().next().is_some());
    let mut arranged = Vec::with_capacity(messages.len());
    for mut message in messages {
        message
            .parts
            .retain(|part| !matches!(part, Part::Result(_)));
        // A message that had only results has moved.
        if message.parts.is_empty() {
            continue;
        }
        let results: Vec<ToolResult> = message
            .calls()
            .map(|call| last.remove(&call.id).unwrap_or_else(|| pending(call)))
            .collect();
        arranged.push(message);
        if !results.is_empty() {
            arranged.push(ChatMessage::results(results));
        }
    }
    // Drops the model's messages after the last result: the result is new, and it must be the last message.
    if ends_with_results {
        while arranged
            .last()
            .is_some_and(|last: &ChatMessage| last.role == Role::Assistant)
        {
            arranged.pop();
        }
    }
    Ok(arranged)
}

/// The last result of each call, by id. Earlier results were only progress.
fn last_results(messages: &[ChatMessage]) -> Result<HashMap<String, ToolResult>, Uncalled> {
    let mut called: HashSet<&str> = HashSet::new();
    let mut last: HashMap<String, ToolResult> = HashMap::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Call(call) => {
                called.insert(&call.id);
            }
            Part::Result(result) if called.contains(&*result.call_id) => {
                last.insert(result.call_id.clone(), result.clone());
            }
            Part::Result(result) => return Err(Uncalled(result.call_id.clone())),
            _ => {}
        }
    }
    Ok(last)
}

fn pending(call: &ToolCall) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: json!({ "status": "pending" }),
        is_error: false,
    }
}

/// Whether a message can follow the others unchanged: its results are those of all calls in the message before it.
pub(super) fn follows(last: Option<&ChatMessage>, message: &ChatMessage) -> bool {
    let calls = last.into_iter().flat_map(ChatMessage::calls);
    let results = message.tool_results();
    let has_results = message.role == Role::Tool
        && message
            .parts
            .iter()
            .all(|part| matches!(part, Part::Result(_)));
    (has_results || message.tool_results().next().is_none())
        && calls
            .map(|call| &call.id)
            .eq(results.map(|result| &result.call_id))
}

/// The start of the current turn: the last message to this agent from the user or from another agent.
pub(super) fn turn_start(events: &[AgentEvent], reader: &Reader) -> usize {
    let start = events.iter().rposition(|event| {
        reader.sees(event)
            && event.author != reader.agent
            && !event
                .parts()
                .iter()
                .any(|part| matches!(part, Part::Result(_)))
    });
    start.unwrap_or(0)
}
