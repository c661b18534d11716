//! A thread as clients see it.

use petalflow::checkpoint::ThreadInfo;
use petalflow::interrupt::Interrupt;
use petalflow::thread::{CheckpointInfo, TaskState};
use serde_json::{Map, Value, json};

use super::facts::Facts;

/// What a checkpoint has.
pub(super) struct Shown<'a> {
    pub(super) checkpoint: &'a CheckpointInfo,
    pub(super) tasks: &'a [TaskState],
    pub(super) questions: &'a [Interrupt],
    pub(super) state: Value,
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
    view.extend([
        ("thread".to_string(), json!(info.id)),
        ("flow".to_string(), json!(flow.name)),
        ("status".to_string(), json!(info.status.as_str())),
        ("labels".to_string(), json!(info.labels)),
        ("created_ms".to_string(), json!(info.created_ms)),
        ("updated_ms".to_string(), json!(info.updated_ms)),
        (
            "checkpoint_ms".to_string(),
            json!(shown.checkpoint.created_ms),
        ),
        ("tasks".to_string(), json!(shown.tasks)),
        ("errors".to_string(), errors.collect()),
        ("questions".to_string(), json!(shown.questions)),
        ("state".to_string(), shown.state),
    ]);
    if let Some(trigger) = &flow.trigger {
        view.insert("trigger".to_string(), json!(trigger));
    }
    Value::Object(view)
}
