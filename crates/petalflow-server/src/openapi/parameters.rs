//! The parameters of an operation.

use serde_json::{Value, json};

use super::operations::Operation;
use super::schemas;

/// Its parameters: of the path, of the query, and the header with which a client waits.
pub(super) fn of(operation: &Operation) -> Value {
    let names = operation.path.split(['{', '}']).skip(1).step_by(2);
    let in_path = names.map(|name| parameter(name, "path"));
    let in_query = operation.query.iter().map(|name| parameter(name, "query"));
    let in_headers = operation
        .headers
        .iter()
        .map(|name| parameter(name, "header"));
    let waits = operation.waits.then(|| parameter("Prefer", "header"));
    in_path
        .chain(in_query)
        .chain(in_headers)
        .chain(waits)
        .collect()
}

fn parameter(name: &str, place: &str) -> Value {
    let schema = match name {
        "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }),
        "before" | "checkpoint" | "Last-Event-ID" | "starting_after" => {
            json!({ "type": "integer", "minimum": 0 })
        }
        "stream" => json!({ "type": "boolean", "default": false }),
        "status" => schemas::status(),
        _ => json!({ "type": "string" }),
    };
    let description = match name {
        "agent" | "model" => "The name of an agent or a conversation.",
        "flow" => "The name of a flow.",
        "thread" => "The id of a thread.",
        "question" => "The id of a question.",
        "response" | "task" => "The id of a turn.",
        "schedule" => "The name of a schedule.",
        "checkpoint" => "The number of a checkpoint.",
        "status" => "Only threads with this status.",
        "label" => "Only threads with this label, as `name:value`.",
        "prefix" => "Only ids that begin with this text.",
        "after" => "Only ids after this one: for the next page.",
        "Last-Event-ID" => "Only events after the one with this number.",
        "Prefer" => "`wait=SECONDS`: how long the response may wait for the end of the run.",
        "before" => "Only checkpoints before this one: for the next page.",
        "stream" => "Whether the events are sent.",
        "starting_after" => "Only events after the one with this number.",
        _ => "The largest number of items.",
    };
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "description": description,
        "schema": schema,
    })
}
