//! Parts of a compiled graph that tasks and strategies share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::documents::agent::{Agent, Task};

/// Where a task begins and ends in the graph.
pub(super) struct TaskNodes {
    pub(super) first: String,
    pub(super) last: String,
}

/// The tasks by name.
pub(super) type Tasks = BTreeMap<String, TaskNodes>;

/// What the model is told about the agent. Without a task for a manager.
pub(super) fn system_prompt(agent: &Agent, task: Option<&Task>) -> String {
    let text = format!("You are a {}.\n\nGoal: {}", agent.role, agent.goal);
    let Some(task) = task else {
        return text;
    };
    let backstory = if agent.backstory.is_empty() {
        String::new()
    } else {
        format!("\n\nBackstory: {}", agent.backstory)
    };
    format!(
        "{text}{backstory}\n\nExpected output: {}",
        task.expected_output
    )
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
