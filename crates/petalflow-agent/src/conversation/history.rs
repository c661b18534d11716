//! Turns events into the messages that a model reads. Selects the events that an agent sees, describes the actions of
//! other agents, and puts each result after its call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::branch;
use super::cut::{Cut, MessageOrigin};
use crate::AgentEvent;
use crate::human;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::message::Media;
use petalflow_llm::{ChatMessage, Part, Role};

/// Selects the thoughts that an agent reads again: the plans of its planner.
#[derive(Clone, Default)]
pub(crate) struct Plans(Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>);

impl Plans {
    pub(crate) fn new(is_plan: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Plans(Some(Arc::new(is_plan)))
    }

    fn has(&self, part: &Part) -> bool {
        match (&self.0, part) {
            (Some(is_plan), Part::Thought(thought)) => is_plan(&thought.text),
            _ => false,
        }
    }
}

impl PartialEq for Plans {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

/// The agent that reads a conversation.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Reader {
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    /// Its branch of agents.
    pub(crate) branch: Option<String>,
    /// The id and the request of the call that it works on, if it was given a task. The request is its first message.
    pub(crate) task: Option<(String, String)>,
    /// Which of its thoughts it reads again.
    pub(crate) plans: Plans,
    /// Whether the program runs the agent's code. If so, the agent reads it as text: providers accept only their
    /// code.
    pub(crate) runs_code: bool,
    /// Whether it reads the events of agents that were called for one answer.
    pub(crate) reads_called: bool,
}

/// Error of a history with a result that has no call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no call `{0}` comes before its result in the conversation: give results the id of their call"
)]
pub(crate) struct ResultWithoutCall(String);

impl Reader {
    /// The cut of the reader's messages, if it was made in these events.
    pub(crate) fn cut<'c>(&self, cuts: &'c [Cut], events: &[AgentEvent]) -> Option<&'c Cut> {
        let cut = cuts.iter().find(|cut| self.has(cut))?;
        cut.fits(events).then_some(cut)
    }

    /// Whether the cut is one of the reader's messages.
    pub(crate) fn has(&self, cut: &Cut) -> bool {
        let task = self.task.as_ref().map(|(call, _)| call);
        cut.agent == *self.agent && cut.task.as_ref() == task
    }

    /// Whether the reader sees the event.
    pub(crate) fn sees(&self, event: &AgentEvent) -> bool {
        event.has_content()
            && event.scope.as_deref() == self.task.as_ref().map(|(call, _)| &**call)
            && self.sees_branch(event.branch.as_deref())
    }

    /// Whether the reader sees the events of a branch: its own branch, or one above it. A reader without a branch sees all branches,
    /// except those of agents that were called for one answer: it reads the answer as the result of the call.
    fn sees_branch(&self, event: Option<&str>) -> bool {
        match (self.branch.as_deref(), event) {
            (_, None) => true,
            (None, Some(event)) => self.reads_called || !branch::is_of_call(event),
            (Some(branch), Some(event)) => branch
                .strip_prefix(event)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        }
    }

    /// The event's message as the reader sees it; `None` if no part of it is left.
    pub(crate) fn view(&self, event: &AgentEvent) -> Option<ChatMessage> {
        #[cfg(test)]
        tests::VISITED.with(|visited| visited.set(visited.get() + 1));
        let message = event.message.as_ref()?;
        if event.is_from_user() || event.author == *self.agent {
            self.own(message)
        } else if event.is_void() {
            None
        } else {
            of_other_agent(&event.author, message)
        }
    }

    /// A message of the user or of the reader. Requests to a person and their results are removed. Plans and code become
    /// text, and code output becomes a user message.
    fn own(&self, message: &ChatMessage) -> Option<ChatMessage> {
        let is_visible = |part: &Part| match part {
            Part::Call(call) => !human::is_request(&call.name),
            Part::Result(result) => !human::is_request(&result.name),
            _ => true,
        };
        let is_output = self.runs_code && matches!(&message.parts[..], [Part::CodeResult { .. }]);
        let code = |part: &Part| part.code_as_text().filter(|_| self.runs_code);
        let is_unchanged =
            |part: &Part| is_visible(part) && !self.plans.has(part) && code(part).is_none();
        if message.parts.iter().all(is_unchanged) {
            return Some(message.clone());
        }
        let parts = message.parts.iter().filter(|part| is_visible(part));
        let parts = parts.map(|part| match part {
            Part::Thought(plan) if self.plans.has(part) => Part::Text(plan.clone()),
            part => code(part).map_or_else(|| part.clone(), Part::text),
        });
        let parts: Vec<Part> = parts.collect();
        (!parts.is_empty()).then(|| ChatMessage {
            parts,
            role: if is_output { Role::User } else { message.role },
            ..message.clone()
        })
    }
}

/// Messages and actions of another agent, described in a user message.
fn of_other_agent(author: &str, message: &ChatMessage) -> Option<ChatMessage> {
    // Pictures are not text.
    let mut media = Vec::new();
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if text.text.is_empty() => None,
        Part::Text(text) => Some(Part::text(format!("[{author}] said: {}", text.text))),
        Part::Call(call) if human::is_request(&call.name) => None,
        Part::Call(call) => Some(Part::text(format!(
            "[{author}] called tool `{}` with parameters: {}",
            call.name,
            json_text(&call.arguments)
        ))),
        Part::Result(result) if human::is_request(&result.name) => None,
        Part::Result(result) => {
            let mut content = result.content.clone();
            media.extend(Media::take_from(&mut content, "attached"));
            Some(Part::text(format!(
                "[{author}] `{}` tool returned result: {}",
                result.name,
                json_text(&content)
            )))
        }
        // An agent does not read the thoughts of other agents. Models are sent no citations.
        Part::Thought(_) | Part::Citation(_) | Part::Provider { .. } => None,
        other => Some(other.clone()),
    });
    let described: Vec<Part> = parts.collect();
    if described.is_empty() {
        return None;
    }
    let mut parts = vec![Part::text("For context:")];
    parts.extend(described);
    parts.extend(media.into_iter().map(Part::Media));
    Some(ChatMessage::new(Role::User, parts))
}

fn json_text(value: &Value) -> String {
    match value {
        Value::Null => "{}".into(),
        value => value.to_string(),
    }
}

/// All messages that the reader sees, in an order that models accept. The results of a message's calls are in one
/// message after it. If a call has several results, the last one counts. A call without a result gets one with the
/// status `pending`, because most providers reject such a call. With a `cut`, its replacement comes instead of the
/// messages before it.
///
/// # Errors
///
/// If a result belongs to no earlier call.
pub(crate) fn messages(
    events: &[AgentEvent],
    reader: &Reader,
    cut: Option<&Cut>,
) -> Result<Vec<(MessageOrigin, ChatMessage)>, ResultWithoutCall> {
    let request = reader.task.iter();
    let request = request.map(|(_, request)| (None, ChatMessage::user(&**request)));
    let read = &events[cut.map_or(0, |cut| cut.from)..];
    let blocked = read.iter().filter(|event| event.blocks_input());
    let blocked: HashSet<&str> = blocked.map(|event| &*event.invocation).collect();
    let seen = |(index, event): (usize, &AgentEvent)| {
        let is_seen = reader.sees(event) && !blocked.contains(&*event.invocation);
        is_seen.then(|| Some((Some(index), reader.view(event)?)))?
    };
    let Some(cut) = cut else {
        let seen = events.iter().enumerate().filter_map(seen);
        return arrange(request.chain(seen).collect());
    };
    let from = events.iter().enumerate().skip(cut.from);
    let seen: Vec<_> = from.filter_map(seen).collect();
    let mut messages: Vec<_> = request.collect();
    let replacement = cut.replacement.iter();
    messages.extend(replacement.map(|message| (None, message.clone())));
    messages.extend(
        cut.kept_before(events, &seen)
            .into_iter()
            .filter_map(|index| {
                let message = reader.view(&events[index])?;
                Some((Some(index), message))
            }),
    );
    messages.extend(seen);
    cut.remove_results(&mut messages);
    arrange(messages)
}

/// Moves results after their calls.
fn arrange(
    messages: Vec<(MessageOrigin, ChatMessage)>,
) -> Result<Vec<(MessageOrigin, ChatMessage)>, ResultWithoutCall> {
    let mut last = last_results(&messages)?;
    let mut number = 0;
    let ends_with_results = messages
        .last()
        .is_some_and(|(_, message)| message.tool_results().next().is_some());
    let mut arranged = Vec::with_capacity(messages.len());
    for (origin, mut message) in messages {
        message
            .parts
            .retain(|part| !matches!(part, Part::Result(_)));
        // A message that had only results has moved.
        if message.parts.is_empty() {
            continue;
        }
        let results: Vec<ToolResult> = message
            .calls()
            .map(|call| {
                number += 1;
                last.remove(&(number - 1)).unwrap_or_else(|| pending(call))
            })
            .collect();
        arranged.push((origin, message));
        if !results.is_empty() {
            arranged.push((origin, ChatMessage::results(results)));
        }
    }
    // Drops the model's messages after the last result: the result is new, and it must be the last message.
    if ends_with_results {
        while arranged
            .last()
            .is_some_and(|(_, last): &(_, ChatMessage)| last.role == Role::Assistant)
        {
            arranged.pop();
        }
    }
    Ok(arranged)
}

/// The last result of each call, by the number of the call. Earlier results were only progress.
///
/// Some servers give calls of different answers the same id: a result belongs to the nearest earlier call with its id, and
/// to one without a result if there is one. A call with the name of the result comes before others.
fn last_results(
    messages: &[(MessageOrigin, ChatMessage)],
) -> Result<HashMap<usize, ToolResult>, ResultWithoutCall> {
    let mut number = 0;
    let mut called: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    let mut last: HashMap<usize, ToolResult> = HashMap::new();
    for part in messages.iter().flat_map(|(_, message)| &message.parts) {
        match part {
            Part::Call(call) => {
                called
                    .entry(&call.id)
                    .or_default()
                    .push((number, &call.name));
                number += 1;
            }
            Part::Result(result) => {
                let with_id = called.get(&*result.call_id).map_or(&[][..], Vec::as_slice);
                let nearest = with_id.iter().rev().max_by_key(|(number, name)| {
                    (*name == result.name, !last.contains_key(number), *number)
                });
                let Some((number, _)) = nearest else {
                    return Err(ResultWithoutCall(result.call_id.clone()));
                };
                last.insert(*number, result.clone());
            }
            _ => {}
        }
    }
    Ok(last)
}

fn pending(call: &ToolCall) -> ToolResult {
    let content = match &call.error {
        Some(error) => json!({ "error": error }),
        None => json!({ "status": "pending" }),
    };
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error: call.error.is_some(),
    }
}

/// Whether a message can follow the others unchanged: its results are those of all calls in the message before it.
pub(crate) fn follows(last: Option<&ChatMessage>, message: &ChatMessage) -> bool {
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
pub(crate) fn turn_start(events: &[AgentEvent], reader: &Reader) -> usize {
    let start = events.iter().rposition(|event| {
        reader.sees(event)
            && event.author != *reader.agent
            && !event
                .parts()
                .iter()
                .any(|part| matches!(part, Part::Result(_)))
    });
    start.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::Agent;
    use crate::compaction::{LastMessages, Summary, TokenWindow};
    use petalflow::checkpoint::InMemoryStore;
    use petalflow_llm::ScriptedModel;

    thread_local! {
        /// The number of events that were made into messages.
        pub(super) static VISITED: Cell<usize> = const { Cell::new(0) };
    }

    fn agent() -> Agent {
        Agent::new(ScriptedModel::from_fn(|_| "yes").without_recording())
    }

    #[tokio::test]
    async fn a_turn_visits_as_many_messages_at_ten_thousand_as_at_one_hundred() {
        let summary = || ScriptedModel::from_fn(|_| "They agree.").without_recording();
        for agent in [
            agent().compaction(LastMessages::new(20)),
            agent().compaction(TokenWindow::new(200)),
            agent().compaction(Summary::new(summary(), LastMessages::new(20))),
        ] {
            let mut talk = agent.run("no?").await.unwrap();
            let mut visited = Vec::new();
            while talk.events.len() < 10_000 {
                VISITED.set(0);
                talk = agent.run(talk.next_input("no?")).await.unwrap();
                visited.push(VISITED.get());
            }
            // A turn with a compaction visits the window three times: before the cut, to cut, and after it.
            let of = |turns: &[usize]| turns.iter().sum::<usize>();
            assert_eq!(of(&visited[100..1_000]), of(&visited[4_000..4_900]));
            assert!(
                visited.iter().all(|visited| *visited <= 70),
                "{:?}",
                visited.iter().max()
            );
        }
    }

    #[tokio::test]
    async fn a_loaded_thread_visits_the_messages_after_the_cut_only() {
        let store = InMemoryStore::new();
        let mut visited = Vec::new();
        for _ in 0..300 {
            let agent = agent().compaction(LastMessages::new(20));
            VISITED.set(0);
            let done = agent.store(&store).thread("t").run("no?").await;
            done.unwrap().into_finished().unwrap();
            visited.push(VISITED.get());
        }
        assert!(
            visited.iter().all(|visited| *visited <= 70),
            "{:?}",
            visited.iter().max()
        );
    }
}
