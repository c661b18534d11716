//! Delegation of tasks: an agent that works on tasks is a tool of its parent agent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::at::At;
use super::conversation::Speaker;
use super::gather::called;
use super::roster::Roster;
use super::{AgentEvent, Mode};
use petalflow::tool::{ToolCall, ToolResult, ToolSpec};
use petalflow_llm::ChatMessage;

/// The tool by which an agent reports that its task is done.
pub(super) const FINISH: &str = "finish_task";

/// The instructions for an agent that works on a task.
pub(super) const INSTRUCTION: &str = "You work on a task that another agent gave to you. When it is done, call `finish_task` \
     with its result. If you need to know something from the user, ask, and wait for the answer.";

/// The agents below the one at `place` that are its tools.
pub(super) fn delegates(roster: &Roster, place: usize) -> impl Iterator<Item = usize> {
    let children = roster.at(place).children.iter().copied();
    children.filter(|child| roster.at(*child).agent.mode != Mode::Chat)
}

/// An agent as a tool.
pub(super) fn spec(roster: &Roster, place: usize) -> Arc<ToolSpec> {
    let agent = &roster.at(place).agent;
    let parameters = json!({
        "type": "object",
        "properties": { "request": { "type": "string", "description": "What the agent shall do." } },
        "required": ["request"],
        "additionalProperties": false
    });
    Arc::new(ToolSpec::new(&*agent.name, &*agent.description, parameters))
}

/// The tool that finishes an agent's task.
pub(super) fn finish(at: At<'_>) -> Arc<ToolSpec> {
    let parameters = at.agent().output.as_ref().map_or_else(
        || {
            json!({
                "type": "object",
                "properties": { "result": { "type": "string", "description": "What the task came to." } },
                "required": ["result"],
                "additionalProperties": false
            })
        },
        |output| Value::clone(&output.schema),
    );
    let description = "Says that the task is done, and what it came to.";
    Arc::new(ToolSpec::new(FINISH, description, parameters))
}

/// The request in the call that gives a task.
pub(super) fn request(task: &ToolCall) -> String {
    task.arguments.to_string()
}

/// The first task without an answer among the last calls of the agent at `place`.
pub(super) fn open_task<'e>(
    roster: &Roster,
    place: usize,
    events: impl DoubleEndedIterator<Item = &'e AgentEvent>,
) -> Option<Speaker> {
    let agent = &*roster.at(place).agent.name;
    let works = |name: &str| {
        delegates(roster, place)
            .map(|place| &roster.at(place).agent)
            .any(|agent| agent.mode == Mode::Task && *agent.name == *name)
    };
    let mut answered: Vec<&str> = Vec::new();
    for event in events.rev() {
        let Some(message) = &event.message else {
            continue;
        };
        answered.extend(message.tool_results().map(|result| &*result.call_id));
        if event.author == agent && message.calls().next().is_some() {
            let mut calls = message.calls();
            let task = calls.find(|call| works(&call.name) && !answered.contains(&&*call.id))?;
            return Some(Speaker {
                agent: task.name.clone(),
                task: Some(task.clone()),
            });
        }
    }
    None
}

/// A finished task: the result for the agent that gave it, and the next speakers.
pub(super) struct Done {
    pub(super) event: AgentEvent,
    pub(super) speakers: Vec<Speaker>,
}

/// Finishes the agent's task if the agent has reported that it is done. Adds the task's output to the results.
pub(super) fn done(at: At<'_>, results: &mut AgentEvent) -> Option<Done> {
    let (speaker, above) = at.conversation.speakers.split_last()?;
    let task = speaker.task.as_ref()?;
    let said = results.message.iter().flat_map(ChatMessage::tool_results);
    let finished = said
        .filter(|result| result.name == FINISH && !result.is_error)
        .last()?;
    let output = called(at, &finished.call_id)?.arguments.clone();
    results.output = Some(output.clone());
    let event = AgentEvent {
        author: AgentEvent::USER.into(),
        scope: above
            .last()
            .and_then(|speaker| speaker.task.as_ref())
            .map(|task| task.id.clone()),
        message: Some(ChatMessage::results([ToolResult {
            call_id: task.id.clone(),
            name: task.name.clone(),
            content: output,
            is_error: false,
        }])),
        ..at.nobody(3)
    };
    Some(Done {
        event,
        speakers: above.to_vec(),
    })
}
