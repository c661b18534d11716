//! A thread as clients see it.

use petalflow::checkpoint::ThreadInfo;
use petalflow::state::State;
use petalflow::thread::Snapshot;
use serde_json::{Map, Value, json};

use super::facts::Facts;

/// A checkpoint of a thread. `info` is what is listed of the thread.
pub(super) fn value<S: State>(
    flow: &Facts,
    info: &ThreadInfo,
    snapshot: &Snapshot<S>,
    state: Value,
) -> Value {
    let mut view = match json!(snapshot.info) {
        Value::Object(checkpoint) => checkpoint,
        _ => Map::new(),
    };
    let tasks = snapshot.tasks.iter();
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
        ("checkpoint_ms".to_string(), json!(snapshot.info.created_ms)),
        ("tasks".to_string(), json!(snapshot.tasks)),
        ("errors".to_string(), errors.collect()),
        ("questions".to_string(), json!(snapshot.interrupts)),
        ("state".to_string(), state),
    ]);
    if let Some(trigger) = &flow.trigger {
        view.insert("trigger".to_string(), json!(trigger));
    }
    Value::Object(view)
}
