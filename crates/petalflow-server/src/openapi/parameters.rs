//! The parameters of an operation.

use serde_json::{Value, json};

use super::operations::Operation;
use super::schemas;

/// Its parameters: of the path, of the query, the header with the key of the request, and the header with which a client waits.
pub(super) fn of(operation: &Operation, key_header: &str) -> Value {
    let names = operation.path.split(['{', '}']).skip(1).step_by(2);
    let in_path = names.map(|name| parameter(name, "path"));
    let in_query = operation.query.iter().map(|name| parameter(name, "query"));
    let in_headers = operation
        .headers
        .iter()
        .map(|name| parameter(name, "header"));
    let keyed = operation.keyed.then(|| key(key_header));
    let waits = operation.waits.then(|| parameter("Prefer", "header"));
    in_path
        .chain(in_query)
        .chain(in_headers)
        .chain(keyed)
        .chain(waits)
        .collect()
}

/// The header with the key of a request.
pub(super) fn key(header: &str) -> Value {
    let mut key = parameter(DEFAULT_KEY_HEADER, "header");
    // The names of headers have no case.
    if !header.eq_ignore_ascii_case(DEFAULT_KEY_HEADER) {
        key["name"] = header.into();
    }
    key
}

const DEFAULT_KEY_HEADER: &str = "Idempotency-Key";

fn parameter(name: &str, place: &str) -> Value {
    let schema = match name {
        "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 }),
        "before" | "checkpoint" | "seconds" | "Last-Event-ID" | "starting_after" => {
            json!({ "type": "integer", "minimum": 0 })
        }
        name if name.ends_with("_ms") => json!({ "type": "integer", "minimum": 0 }),
        "flow" | "label" | "any_label" | "not_label" | "where" | "namespace"
            if place == "query" =>
        {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        "order" => schemas::order(),
        "until" => json!({ "type": "string", "enum": ["rest", "end"], "default": "rest" }),
        "stream" => json!({ "type": "boolean", "default": false }),
        "status" => json!({ "type": "array", "items": schemas::status() }),
        _ => json!({ "type": "string" }),
    };
    let description = match name {
        "agent" | "model" => "The name of an agent or a conversation.",
        "flow" if place == "query" => "Only threads of one of these flows.",
        "flow" => "The name of a flow.",
        "thread" => "The id of a thread.",
        "question" => "The id of a question.",
        "namespace" => "The names of a namespace, in their order. Without one: the whole memory.",
        "key" => "The key of the entry.",
        "text" => "What to search for.",
        "filter" => "A filter on the fields of values, in JSON.",
        "response" | "task" => "The id of a turn.",
        "schedule" => "The name of a schedule.",
        "checkpoint" => "The number of a checkpoint.",
        "status" => "Only threads with one of these statuses.",
        "label" => "Only threads with all of these labels, as `name:value`.",
        "any_label" => "Only threads with one of these labels, as `name:value`.",
        "not_label" => "Only threads with none of these labels, as `name:value`.",
        "where" => {
            "Only threads whose search attributes meet all of these conditions: a name, one of `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=` (begins with) and `*=` (contains), and a value, such as `amount>100`."
        }
        "prefix" => "Only ids that begin with this text.",
        "created_from_ms" => {
            "Only threads that were created at this time or later, in milliseconds since 1970 (UTC)."
        }
        "created_before_ms" => {
            "Only threads that were created before this time, in milliseconds since 1970 (UTC)."
        }
        "updated_from_ms" => {
            "Only threads that changed last at this time or later, in milliseconds since 1970 (UTC)."
        }
        "updated_before_ms" => {
            "Only threads that changed last before this time, in milliseconds since 1970 (UTC)."
        }
        "order" => "The order of the list.",
        "after" => "Where the page begins: `next` of the page before.",
        "Idempotency-Key" => {
            "An identifier of the request. A repetition gets the answer of the first one."
        }
        "seconds" => "How long the response may wait. By default as long as the server allows.",
        "until" => {
            "`end`: until the thread has ended or is held. `rest`: also until it waits for a person, or sleeps."
        }
        "Last-Event-ID" | "starting_after" => "Only events after the one with this number.",
        "Prefer" => "`wait=SECONDS`: how long the response may wait for the end of the run.",
        "before" => "Only checkpoints before this one: for the next page.",
        "stream" => "Whether the events are sent.",
        _ => "The largest number of items.",
    };
    json!({
        "name": name,
        "in": place,
        "required": place == "path" || ["key", "text"].contains(&name),
        "description": description,
        "schema": schema,
    })
}
