//! From the items of a turn to updates of its task.

use std::collections::HashMap;

use petalflow_agent::Pending;
use petalflow_agent::human::{CONFIRMATION, CREDENTIAL};
use petalflow_llm::response::FinishReason;
use serde_json::{Value, json};

use super::content::media_part;
use crate::protocol::turn::{ItemKind, MessageEnd, TurnEnd, TurnItem, TurnOutcome};

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskState {
    /// Its message is stored, and its turn has not begun.
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
}

impl TaskState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            TaskState::Submitted => "TASK_STATE_SUBMITTED",
            TaskState::Working => "TASK_STATE_WORKING",
            TaskState::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            TaskState::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
            TaskState::Completed => "TASK_STATE_COMPLETED",
            TaskState::Failed => "TASK_STATE_FAILED",
            TaskState::Canceled => "TASK_STATE_CANCELED",
            TaskState::Rejected => "TASK_STATE_REJECTED",
        }
    }

    /// Whether a message with the id of the task goes on with it.
    pub(super) fn waits(self) -> bool {
        matches!(self, TaskState::InputRequired | TaskState::AuthRequired)
    }

    pub(super) fn is_terminal(self) -> bool {
        !self.waits() && !matches!(self, TaskState::Submitted | TaskState::Working)
    }
}

/// An update of a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Update {
    /// A part of an artifact. With `append`, it follows those before it; otherwise it replaces them.
    Artifact {
        number: usize,
        part: Value,
        append: bool,
        last: bool,
    },
    /// A tool is called.
    Tool(String),
    /// The turn has ended.
    End {
        end: Box<TurnEnd>,
        state: TaskState,
        text: Option<String>,
    },
}

/// Makes updates of the items of the turns of a task. Each message for the user is an artifact.
#[derive(Clone, Debug, Default)]
pub(super) struct Updates {
    /// The number of artifacts.
    count: usize,
    /// The artifacts of messages that are not complete, by the agent that writes them.
    open: HashMap<String, OpenArtifact>,
    /// The words with which the model has refused the newest message.
    refusal: Option<String>,
    /// Why the newest message is missing.
    error: Option<String>,
}

#[derive(Clone, Debug)]
struct OpenArtifact {
    number: usize,
    /// Whether the next part follows those before it.
    append: bool,
}

impl Updates {
    pub(super) fn read(&mut self, item: TurnItem) -> Option<Update> {
        if item.voice.is_called() {
            return None;
        }
        let agent = item.voice.agent;
        match item.kind {
            ItemKind::Text(text) => Some(self.add(agent, json!({ "text": text }))),
            ItemKind::Media(media) => Some(self.add(agent, media_part(&media))),
            ItemKind::MessageEnd(end) => self.end_message(&agent, *end),
            // A request to a person is in the status at the end.
            ItemKind::Call(call) if [CONFIRMATION, CREDENTIAL].contains(&&*call.name) => None,
            ItemKind::Call(call) => Some(Update::Tool(call.name)),
            ItemKind::End(end) => Some(self.end(end)),
            ItemKind::Thought(_) | ItemKind::Result(_) | ItemKind::State(_) => None,
        }
    }

    fn add(&mut self, agent: String, part: Value) -> Update {
        let count = &mut self.count;
        let open = self.open.entry(agent).or_insert_with(|| {
            *count += 1;
            OpenArtifact {
                number: *count,
                append: false,
            }
        });
        let append = std::mem::replace(&mut open.append, true);
        Update::Artifact {
            number: open.number,
            part,
            append,
            last: false,
        }
    }

    fn end_message(&mut self, agent: &str, end: MessageEnd) -> Option<Update> {
        if end.is_void {
            // What follows replaces the artifact.
            if let Some(open) = self.open.get_mut(agent) {
                open.append = false;
            }
            return None;
        }
        let is_refusal = end.finish == Some(FinishReason::Refusal);
        self.refusal = end.refusal.or(end.finish_message).filter(|_| is_refusal);
        self.error = end.error;
        let open = self.open.remove(agent)?;
        Some(Update::Artifact {
            number: open.number,
            part: json!({ "text": "" }),
            append: true,
            last: true,
        })
    }

    fn end(&mut self, end: Box<TurnEnd>) -> Update {
        let is_credential = |it: &Pending| matches!(it, Pending::Credential { .. });
        let (state, text) = match &end.outcome {
            TurnOutcome::Finished if end.turn.pending.is_empty() => {
                match (self.refusal.take(), self.error.take()) {
                    (Some(refusal), _) => (TaskState::Rejected, Some(refusal)),
                    (None, Some(error)) => (TaskState::Failed, Some(error)),
                    (None, None) => (TaskState::Completed, None),
                }
            }
            TurnOutcome::Finished if end.turn.pending.iter().all(is_credential) => {
                (TaskState::AuthRequired, None)
            }
            TurnOutcome::Finished | TurnOutcome::Interrupted => (TaskState::InputRequired, None),
            TurnOutcome::Failed(error) => (TaskState::Failed, Some(error.clone())),
            TurnOutcome::Cancelled => (TaskState::Canceled, None),
            // The next process continues it.
            TurnOutcome::Stopped => (TaskState::Working, None),
        };
        Update::End { end, state, text }
    }
}

/// The id of an artifact.
pub(super) fn artifact_id(number: usize) -> String {
    format!("answer-{number}")
}

/// Adds a part of an artifact to the artifacts of a task. Texts that follow each other are one part.
pub(super) fn collect(artifacts: &mut Vec<Value>, number: usize, part: Value, append: bool) {
    let id = artifact_id(number);
    let known = artifacts.iter().position(|it| it["artifactId"] == *id);
    let index = known.unwrap_or(artifacts.len());
    if known.is_none() {
        artifacts.push(json!({ "artifactId": id, "name": "answer", "parts": [] }));
    }
    let artifact = &mut artifacts[index];
    if !append {
        artifact["parts"] = json!([]);
    }
    let Some(parts) = artifact["parts"].as_array_mut() else {
        return;
    };
    let last = parts.last_mut().and_then(|last| last.get_mut("text"));
    match (last, &part["text"]) {
        (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
        (_, Value::String(more)) if more.is_empty() => {}
        _ => parts.push(part),
    }
}
