//! From events to the messages that a model reads: which of them an agent sees, how it sees what others did, and that each
//! result stands behind its call.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::AgentEvent;
use super::confirmation::is_to_people;
use super::planner::Plans;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::{ChatMessage, Part, Role};

/// Who reads a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reader {
    /// The agent's name.
    pub(super) agent: String,
    /// Its line of agents.
    pub(super) branch: Option<String>,
    /// The call it works on, and what that asks for, where it was given a task: it hears it first.
    pub(super) task: Option<(String, String)>,
    /// Which of its thoughts it is told again.
    pub(super) plans: Plans,
    /// Whether code that it wrote was run by the program. It reads of it in words: providers take only what they ran themselves.
    pub(super) runs_code: bool,
}

/// Why a history makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no call `{0}` comes before its result in the conversation: give results the id of their call"
)]
pub(super) struct Uncalled(String);

impl Reader {
    /// Whether the reader sees the event at all.
    pub(super) fn sees(&self, event: &AgentEvent) -> bool {
        event.has_content()
            && event.scope.as_deref() == self.task.as_ref().map(|(call, _)| &**call)
            && belongs(self.branch.as_deref(), event.branch.as_deref())
    }

    /// The event's message as the reader sees it; none if nothing is left of it.
    pub(super) fn view(&self, event: &AgentEvent) -> Option<ChatMessage> {
        let message = event.message.as_ref()?;
        if event.is_from_user() || event.author == self.agent {
            self.own(message)
        } else {
            foreign(&event.author, message)
        }
    }

    /// What the user said, or the reader itself: without what is between the agent and people, with its plans and its code in
    /// words, and what that printed told by the user.
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

/// Whether a reader in `branch` sees what happened in `event`: in its own line, or in one that leads to it.
fn belongs(branch: Option<&str>, event: Option<&str>) -> bool {
    match (branch, event) {
        (_, None) | (None, _) => true,
        (Some(branch), Some(event)) => branch
            .strip_prefix(event)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

/// What another agent said and did, told to this one by a user.
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
        // Thoughts are the other's own.
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

/// All that the reader sees, in an order that models take: the results of a message's calls in one message behind it, of
/// several results of one call the last. A call without a result, which most providers refuse, gets one that says so.
///
/// # Errors
///
/// When a result belongs to no call before it.
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

/// Moves results behind their calls.
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
        // A message of results alone has moved.
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
    // What the model said while it waited for the result must not be the last word: the result is what is new.
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

/// The last result of each call, by id: what came before it was only progress.
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

/// Whether a message can go behind the others as it is: its results, if it has any, are just those of the calls in the message
/// before, and no call there is left without one.
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

/// Where the current turn begins: at the last thing that the user, or another agent, said to this one.
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
