//! Delegation of tasks: an agent that works on tasks is a tool of its parent agent.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::AgentEvent;
use crate::conversation::Speaker;
use crate::definition::{AgentTree, Definition, Mode};
use crate::turn::ctx::Ctx;
use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::ChatMessage;

/// The tool by which an agent reports that its task is done.
pub(crate) const FINISH: &str = "finish_task";

/// The instructions for an agent that works on a task.
pub(in crate::turn) const INSTRUCTION: &str = "You work on a task that another agent gave to you. When it is done, call `finish_task` \
     with its result. If you need to know something from the user, ask, and wait for the answer.";

/// An agent as a tool.
pub(in crate::turn) fn spec(agent: &Definition) -> Arc<ToolSpec> {
    let parameters = json!({
        "type": "object",
        "properties": { "request": { "type": "string", "description": "What the agent shall do." } },
        "required": ["request"],
        "additionalProperties": false
    });
    Arc::new(ToolSpec::new(&*agent.name, &*agent.description, parameters))
}

/// The tool that finishes an agent's task.
pub(in crate::turn) fn finish(agent: &Definition) -> Arc<ToolSpec> {
    let parameters = agent.output.as_ref().map_or_else(
        || {
            json!({
                "type": "object",
                "properties": { "result": { "type": "string", "description": "The result of the task." } },
                "required": ["result"],
                "additionalProperties": false
            })
        },
        |output| Value::clone(&output.schema),
    );
    let description = "Reports that the task is done, with its result.";
    Arc::new(ToolSpec::new(FINISH, description, parameters))
}

/// The answer in the arguments of [`FINISH`]: their JSON if the agent has an output type, and otherwise the text.
pub(in crate::turn) fn answer(agent: &Definition, arguments: &Value) -> String {
    match (&agent.output, &arguments["result"]) {
        (None, Value::String(text)) => text.clone(),
        _ => arguments.to_string(),
    }
}

/// The output of a task with this answer: the JSON if it fits the agent's output type, and otherwise the text.
fn output(agent: &Definition, answer: &str) -> Value {
    let typed = agent.output.as_ref().and_then(|output| {
        let value = serde_json::from_str(answer).ok()?;
        output.check(&value).is_ok().then_some(value)
    });
    typed.unwrap_or_else(|| json!({ "result": answer }))
}

/// The first task without an answer among the last calls of the agent at `index`.
pub(in crate::turn) fn open_task<'e>(
    tree: &AgentTree,
    index: usize,
    events: impl DoubleEndedIterator<Item = &'e AgentEvent>,
) -> Option<Speaker> {
    let agent = &*tree.agent(index).name;
    let works_on_tasks = |name: &str| {
        let delegates = tree.delegates(index);
        let mut delegates = delegates.map(|index| tree.agent(index));
        delegates.any(|agent| agent.mode == Mode::Task && *agent.name == *name)
    };
    let mut answered: Vec<&str> = Vec::new();
    for event in events.rev() {
        answered.extend(event.results().map(|result| &*result.call_id));
        if event.author == agent && event.calls().next().is_some() {
            let mut calls = event.calls();
            let task =
                calls.find(|call| works_on_tasks(&call.name) && !answered.contains(&&*call.id))?;
            return Some(Speaker {
                agent: task.name.clone(),
                task: Some(task.clone()),
            });
        }
    }
    None
}

/// A finished task: the result for the agent that gave it, and the next speakers.
pub(in crate::turn) struct FinishedTask {
    pub(in crate::turn) event: AgentEvent,
    pub(in crate::turn) speakers: Vec<Speaker>,
}

/// Finishes the agent's task if the agent has reported that it is done. Adds the task's output to the results.
pub(in crate::turn) fn finished_task(
    ctx: Ctx<'_>,
    results: &mut AgentEvent,
) -> Option<FinishedTask> {
    let (speaker, above) = ctx.conversation.speakers.split_last()?;
    let task = speaker.task.as_ref()?;
    let finished = results
        .results()
        .filter(|result| result.name == FINISH && !result.is_error)
        .last()?;
    let mut outcomes = ctx.conversation.outcomes.iter();
    let outcome = outcomes.find(|outcome| outcome.call_id == finished.call_id);
    let output = match outcome.and_then(|outcome| outcome.answer.as_deref()) {
        Some(replaced) => output(ctx.agent(), replaced),
        None => ctx.call(&finished.call_id)?.arguments.clone(),
    };
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
        ..ctx.event(3)
    };
    Some(FinishedTask {
        event,
        speakers: above.to_vec(),
    })
}
