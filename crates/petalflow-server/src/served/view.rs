//! A thread as clients see it.

use petalflow::checkpoint::{ThreadInfo, ThreadStatus};
use petalflow::interrupt::Interrupt;
use petalflow::thread::{CheckpointInfo, TaskState};
use serde_json::{Map, Value, json};

use super::facts::Facts;
use super::open_question::OpenQuestion;
use super::question::Questions;
use super::wait::Wait;

/// What a checkpoint has.
pub(super) struct Shown<'a> {
    pub(super) checkpoint: &'a CheckpointInfo,
    pub(super) tasks: &'a [TaskState],
    pub(super) questions: &'a [Interrupt],
    pub(super) state: Value,
    /// What the thread waits for.
    pub(super) waits: Vec<Wait>,
}

/// What a thread waits for: its questions, and what is pending in its state, if it waits.
pub(super) fn waits(
    info: &ThreadInfo,
    interrupts: &[Interrupt],
    questions: &Questions,
    pending: impl FnOnce() -> Vec<Wait>,
) -> Vec<Wait> {
    let open = interrupts.iter();
    let open = open.filter_map(|open| OpenQuestion::of(json!(open), questions));
    let mut waits: Vec<Wait> = open.map(|open| Wait::from(&open)).collect();
    // A run that was begun with the answers still has the state before it.
    if info.status == ThreadStatus::Waiting {
        waits.extend(pending());
    }
    waits
}

/// A checkpoint of a thread. `info` is what is listed of the thread.
pub(super) fn value(flow: &Facts, info: &ThreadInfo, shown: Shown<'_>) -> Value {
    let mut view = match json!(shown.checkpoint) {
        Value::Object(checkpoint) => checkpoint,
        _ => Map::new(),
    };
    let tasks = shown.tasks.iter();
    let errors = tasks.filter_map(|task| {
        let error = task.error.as_ref()?;
        Some(json!({ "node": task.node, "error": error.to_string() }))
    });
    let since_ms = shown.checkpoint.created_ms;
    let waits = shown.waits.iter().map(|wait| wait.value(since_ms));
    view.extend([
        ("thread".to_string(), json!(info.id)),
        ("flow".to_string(), json!(flow.name)),
        ("status".to_string(), json!(info.status.as_str())),
        ("labels".to_string(), json!(info.labels)),
        ("created_ms".to_string(), json!(info.created_ms)),
        ("updated_ms".to_string(), json!(info.updated_ms)),
        ("due_ms".to_string(), json!(info.due_ms)),
        (
            "checkpoint_ms".to_string(),
            json!(shown.checkpoint.created_ms),
        ),
        ("tasks".to_string(), json!(shown.tasks)),
        ("errors".to_string(), errors.collect()),
        ("questions".to_string(), json!(shown.questions)),
        ("waits".to_string(), waits.collect()),
        ("state".to_string(), shown.state),
    ]);
    if let Some(trigger) = &flow.trigger {
        view.insert("trigger".to_string(), json!(trigger));
    }
    Value::Object(view)
}
