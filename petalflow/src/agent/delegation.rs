//! Giving tasks to agents: an agent that works on tasks is a tool of the agent above it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Mode;
use super::at::At;
use super::roster::Roster;
use crate::tool::{ToolCall, ToolSpec};

/// The tool by which an agent says that its task is done.
pub(super) const FINISH: &str = "finish_task";

/// What an agent that works on a task is told.
pub(super) const INSTRUCTION: &str = "You work on a task that another agent gave to you. When it is done, call `finish_task` \
     with its result. If you need to know something from the user, ask, and wait for the answer.";

/// The agents below the one at `place` that are tools of it.
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

/// The tool that ends the task of an agent.
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

/// What the call that gives a task asks for.
pub(super) fn request(task: &ToolCall) -> String {
    match task.arguments.get("request") {
        Some(Value::String(request)) => request.clone(),
        _ => task.arguments.to_string(),
    }
}
