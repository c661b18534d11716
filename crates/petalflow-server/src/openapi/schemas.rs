//! The schemas of the OpenAPI document.

use serde_json::{Map, Value, json};

pub(super) fn status() -> Value {
    json!({ "enum": ["running", "waiting", "sleeping", "stopped", "held", "failed", "finished"] })
}

fn command() -> Value {
    json!({ "enum": ["cancel", "hold", "resume", "delete", "label"] })
}

pub(super) fn order() -> Value {
    let orders = [
        "id",
        "created-newest",
        "created-oldest",
        "updated-newest",
        "updated-oldest",
    ];
    json!({ "enum": orders, "default": "id" })
}

/// An object with these required fields, and these others.
fn object(required: &Value, optional: Value) -> Value {
    let fields = || required.as_object().into_iter().flatten();
    let names: Vec<&String> = fields().map(|(name, _)| name).collect();
    let mut properties = optional;
    for (name, schema) in fields() {
        properties[name] = schema.clone();
    }
    json!({ "type": "object", "required": names, "properties": properties })
}

/// The body of a request: an object that has no other fields.
fn request(required: &Value, optional: Value) -> Value {
    let mut schema = object(required, optional);
    schema["additionalProperties"] = false.into();
    schema
}

fn list_of(schema: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{schema}") } })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn optional(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

fn labels() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string", "maxLength": 255 } })
}

/// The part of an id that a client chooses.
fn id() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 128 })
}

fn any() -> Value {
    json!({})
}

/// All schemas but those of the inputs of flows, by name.
pub(super) fn all() -> Map<String, Value> {
    let all = [
        ("Error", object(&json!({ "error": text() }), json!({}))),
        ("Flow", flow()),
        (
            "Flows",
            object(&json!({ "flows": list_of("Flow") }), json!({})),
        ),
        (
            "Start",
            request(
                &json!({}),
                json!({ "id": id(), "input": any(), "labels": labels() }),
            ),
        ),
        (
            "Turn",
            request(
                &json!({}),
                json!({ "input": any(), "discard_pending": { "type": "boolean" } }),
            ),
        ),
        (
            "Command",
            request(
                &json!({ "command": command() }),
                json!({
                    "labels": { "type": "object", "additionalProperties": { "type": ["string", "null"] } },
                    "all": { "type": "boolean" },
                }),
            ),
        ),
        (
            "Thread",
            object(
                &json!({ "thread": text() }),
                json!({ "checkpoint": number() }),
            ),
        ),
        (
            "Begun",
            object(
                &json!({ "thread": text() }),
                json!({ "status": status(), "state": any(), "waits": list_of("Wait") }),
            ),
        ),
        ("Listed", listed()),
        (
            "Threads",
            object(
                &json!({ "threads": list_of("Listed") }),
                json!({ "next": optional("string") }),
            ),
        ),
        (
            "Counts",
            object(&json!({ "counts": list_of("Count") }), json!({})),
        ),
        (
            "Count",
            object(
                &json!({ "flow": text(), "status": status(), "threads": number() }),
                json!({}),
            ),
        ),
        ("View", view()),
        ("Wait", object(&waits(), json!({}))),
        ("InboxItem", inbox_item()),
        (
            "Inbox",
            object(
                &json!({ "items": list_of("InboxItem"), "threads": number() }),
                json!({ "next": optional("string") }),
            ),
        ),
        ("CheckpointInfo", checkpoint()),
        (
            "History",
            object(
                &json!({ "checkpoints": list_of("CheckpointInfo") }),
                json!({ "next": optional("integer") }),
            ),
        ),
        ("Answer", answer()),
        (
            "Edit",
            request(
                &json!({ "keys": { "type": "object" } }),
                json!({ "node": text() }),
            ),
        ),
        (
            "Checkpoint",
            object(&json!({ "checkpoint": number() }), json!({})),
        ),
        (
            "Message",
            request(
                &json!({ "key": text(), "value": {} }),
                json!({ "id": text() }),
            ),
        ),
        ("Sent", object(&json!({ "message": number() }), json!({}))),
        (
            "Fork",
            request(&json!({ "checkpoint": number() }), json!({ "id": id() })),
        ),
        ("Copy", request(&json!({ "id": id() }), json!({}))),
        ("Schedule", schedule()),
        (
            "Schedules",
            object(&json!({ "schedules": list_of("Schedule") }), json!({})),
        ),
        ("Labels", labels()),
        (
            "Labelled",
            object(&json!({ "labels": labels() }), json!({})),
        ),
    ];
    let all = all.into_iter();
    all.map(|(name, schema)| (name.to_string(), schema))
        .collect()
}

fn flow() -> Value {
    let kinds = json!({ "enum": ["flow", "agent", "conversation", "document"] });
    object(
        &json!({ "name": text(), "kind": kinds, "graph": any() }),
        json!({
            "webhooks": { "type": "array", "items": text() },
            "input": any(),
            "state": any(),
            "questions": { "type": "object" },
            "threads": { "type": "object", "additionalProperties": number() },
        }),
    )
}

fn listed() -> Value {
    let required = json!({
        "id": text(),
        "flow": text(),
        "status": status(),
        "labels": labels(),
        "created_ms": number(),
        "updated_ms": number(),
        "checkpoints": number(),
        "bytes": number(),
    });
    object(
        &required,
        json!({ "due_ms": optional("integer"), "damage": optional("string") }),
    )
}

fn checkpoint() -> Value {
    let required = json!({
        "checkpoint": number(),
        "cause": text(),
        "turn": number(),
        "superstep": number(),
        "next": { "type": "array", "items": text() },
        "created_ms": number(),
        "bytes": number(),
    });
    object(
        &required,
        json!({ "parent": optional("integer"), "notes": { "type": "array" } }),
    )
}

fn view() -> Value {
    let required = json!({
        "thread": text(),
        "flow": text(),
        "status": status(),
        "checkpoint": number(),
        "superstep": number(),
        "labels": labels(),
        "created_ms": number(),
        "updated_ms": number(),
        "tasks": { "type": "array" },
        "errors": { "type": "array" },
        "questions": { "type": "array" },
        "waits": list_of("Wait"),
        "state": any(),
    });
    object(&required, json!({ "trigger": text() }))
}

/// The fields of something that a thread waits for.
fn waits() -> Value {
    json!({
        "id": text(),
        "kind": { "enum": ["question", "approval", "confirmation", "credential", "result"] },
        "text": text(),
        "name": optional("string"),
        "arguments": any(),
        "node": optional("string"),
        "asked_ms": number(),
        "expires_ms": optional("integer"),
        "schema": any(),
    })
}

fn inbox_item() -> Value {
    let mut required = waits();
    required["thread"] = text();
    required["flow"] = text();
    required["labels"] = labels();
    required["answerable"] = json!({ "type": "boolean" });
    object(&required, json!({}))
}

fn schedule() -> Value {
    let times = json!({ "type": "array", "items": { "type": "string", "format": "date-time" } });
    let missed = json!({ "enum": ["skip", "latest", "all"] });
    let required = json!({
        "name": text(),
        "flow": text(),
        "cron": text(),
        "text": text(),
        "zone": text(),
        "missed": missed,
        "paused": { "type": "boolean" },
        "next": times,
    });
    let clock_ahead = json!({ "type": "string", "format": "date-time" });
    object(
        &required,
        json!({ "input": any(), "clock_ahead": clock_ahead }),
    )
}

/// An answer to a question, a decision about an approval, or an answer to the question of a human node.
fn answer() -> Value {
    let decisions = json!({ "enum": ["approve", "reject", "skip"] });
    json!({
        "anyOf": [
            request(&json!({ "answer": any() }), json!({})),
            request(
                &json!({ "approve": { "type": "boolean" } }),
                json!({ "reason": text(), "arguments": { "type": "object" } }),
            ),
            request(&json!({ "result": any() }), json!({})),
            request(&json!({ "credential": any() }), json!({})),
            request(&json!({ "decision": decisions }), json!({ "by": text(), "reason": text() })),
            request(
                &json!({ "approved": { "type": "boolean" } }),
                json!({ "choice": text(), "data": any(), "notes": text(), "responded_by": text() }),
            ),
        ],
    })
}
