//! The schemas of the OpenAPI document.

use serde_json::{Map, Value, json};

/// The statuses of threads.
pub(crate) const STATUSES: [&str; 7] = [
    "running", "waiting", "sleeping", "stopped", "held", "failed", "finished",
];

/// The name of a component, which has fewer characters than that of a flow.
pub(super) fn component(name: &str) -> String {
    name.replace('~', "_")
}

pub(super) fn status() -> Value {
    json!({ "type": "string", "enum": STATUSES })
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
pub(super) fn object(required: &Value, optional: Value) -> Value {
    let fields = || required.as_object().into_iter().flatten();
    let names: Vec<&String> = fields().map(|(name, _)| name).collect();
    let mut properties = optional;
    for (name, schema) in fields() {
        properties[name] = schema.clone();
    }
    json!({ "type": "object", "required": names, "properties": properties })
}

/// The body of a request: an object that has no other fields.
pub(super) fn request(required: &Value, optional: Value) -> Value {
    let mut schema = object(required, optional);
    schema["additionalProperties"] = false.into();
    schema
}

pub(super) fn list_of(schema: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{schema}") } })
}

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

pub(super) fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(super) fn optional(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

/// The part of an id that a client may choose. Without a default: generators would make the field required.
fn optional_id() -> Value {
    let mut schema = id();
    schema["type"] = json!(["string", "null"]);
    schema
}

fn labels() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string", "maxLength": 255 } })
}

/// Search attributes by their names.
fn attributes() -> Value {
    let value = json!({ "type": ["boolean", "number", "string", "null"] });
    json!({ "type": "object", "additionalProperties": value })
}

/// The part of an id that a client chooses.
fn id() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 128 })
}

pub(super) fn any() -> Value {
    json!({})
}

/// All schemas by name, but those of the inputs of flows and of what a server keeps.
pub(super) fn all() -> Map<String, Value> {
    let all = of_server().into_iter();
    let all = all.chain(of_lists()).chain(of_changes());
    let all = all.chain(of_schedules()).chain(answers());
    all.map(|(name, schema)| (name.to_string(), schema))
        .collect()
}

/// Those of the server, and of the starts of threads and turns.
fn of_server() -> Vec<(&'static str, Value)> {
    vec![
        ("Health", object(&json!({ "status": text() }), json!({}))),
        ("Error", object(&json!({ "error": text() }), json!({}))),
        ("Flow", flow()),
        ("Info", info()),
        (
            "Flows",
            object(&json!({ "flows": list_of("Flow") }), json!({})),
        ),
        ("Start", start()),
        (
            "Turn",
            request(
                &json!({}),
                json!({
                    "input": any(),
                    "discard_pending": { "type": "boolean" },
                    "multitask_strategy": {
                        "enum": ["reject", "enqueue", "steer", "interrupt", "rollback"],
                        "description": "What happens if a run has the thread. Without it, what the flow says.",
                    },
                }),
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
                json!({
                    "status": status(),
                    "state": any(),
                    "waits": list_of("Wait"),
                    "due_ms": optional("integer"),
                    "message": {
                        "type": "string",
                        "enum": ["enqueued", "steered"],
                        "description": "What was done with an input of a thread that a run has, unless it has begun a turn.",
                    },
                }),
            ),
        ),
    ]
}

/// Those of lists, and of what is in them.
fn of_lists() -> Vec<(&'static str, Value)> {
    vec![
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
        ("Note", note()),
        ("Task", task()),
        ("AwaitedMessage", awaited()),
        (
            "TaskError",
            object(&json!({ "node": text(), "error": text() }), json!({})),
        ),
        (
            "History",
            object(
                &json!({ "checkpoints": list_of("CheckpointInfo") }),
                json!({ "next": optional("integer") }),
            ),
        ),
        (
            "ThreadFile",
            object(
                &json!({
                    "petalflow": { "const": "thread" },
                    "version": { "type": "integer" },
                    "thread": { "type": "string" },
                    "flow": { "type": "string" },
                }),
                json!({}),
            ),
        ),
    ]
}

/// Those of changes of a thread.
fn of_changes() -> Vec<(&'static str, Value)> {
    vec![
        ("Answer", answer()),
        ("EventMessage", event_message()),
        (
            "Edit",
            request(
                &json!({ "keys": { "type": "object" } }),
                json!({ "node": optional("string") }),
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
                json!({ "id": optional("string") }),
            ),
        ),
        ("Sent", object(&json!({ "message": number() }), json!({}))),
        (
            "Fork",
            request(
                &json!({ "checkpoint": number() }),
                json!({ "id": optional_id() }),
            ),
        ),
        ("Copy", request(&json!({ "id": id() }), json!({}))),
        ("Labels", labels()),
        (
            "Labelled",
            object(&json!({ "labels": labels() }), json!({})),
        ),
    ]
}

fn of_schedules() -> [(&'static str, Value); 5] {
    [
        ("Schedule", schedule()),
        ("Definition", definition()),
        (
            "Backfill",
            request(&json!({ "from": time(), "to": time() }), json!({})),
        ),
        (
            "Backfilled",
            object(
                &json!({ "threads": { "type": "array", "items": text() }, "times": number() }),
                json!({}),
            ),
        ),
        (
            "Schedules",
            object(&json!({ "schedules": list_of("Schedule") }), json!({})),
        ),
    ]
}

fn start() -> Value {
    request(
        &json!({}),
        json!({
            "id": optional_id(),
            "input": any(),
            "labels": labels(),
            "delay": optional("string"),
            "at": { "type": ["string", "null"], "format": "date-time" },
        }),
    )
}

fn info() -> Value {
    let flow = object(&json!({ "name": text(), "kind": text() }), json!({}));
    let store = object(
        &json!({ "type": text(), "shared": { "type": "boolean" } }),
        json!({}),
    );
    let required = json!({
        "version": text(),
        "features": { "type": "array", "items": text() },
        "flows": { "type": "array", "items": flow },
        "store": store,
    });
    object(&required, json!({}))
}

fn flow() -> Value {
    let kinds = json!({ "type": "string", "enum": ["flow", "agent", "conversation", "document", "stored"] });
    object(
        &json!({ "name": text(), "kind": kinds, "graph": any() }),
        json!({
            "description": optional("string"),
            "webhooks": { "type": "array", "items": text() },
            "input": any(),
            "state": any(),
            "questions": { "type": "object" },
            "attributes": { "type": "object", "additionalProperties": text() },
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
        "attributes": attributes(),
        "created_ms": number(),
        "updated_ms": number(),
        "checkpoints": number(),
        "bytes": number(),
    });
    object(
        &required,
        json!({ "due_ms": optional("integer"), "damage": optional("string"), "trouble": trouble() }),
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
        json!({ "parent": optional("integer"), "notes": list_of("Note") }),
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
        "tasks": list_of("Task"),
        "errors": list_of("TaskError"),
        "questions": list_of("OpenInterrupt"),
        "waits": list_of("Wait"),
        "state": any(),
    });
    let mut others = checkpoint()["properties"].take();
    others["trigger"] = text();
    others["checkpoint_ms"] = number();
    others["due_ms"] = optional("integer");
    others["trouble"] = json!({ "anyOf": [trouble(), { "type": "null" }] });
    object(&required, others)
}

/// Why a run of an engine is not getting on.
fn trouble() -> Value {
    let required = json!({
        "state": { "type": "string", "enum": ["retrying", "paused"] },
        "service": text(),
        "attempts": number(),
        "error": text(),
    });
    object(&required, json!({ "next_ms": optional("integer") }))
}

/// A person's decision.
fn note() -> Value {
    let required = json!({ "node": text(), "decision": text() });
    let by = json!({ "by": optional("string"), "reason": optional("string"), "at_ms": optional("integer") });
    object(&required, by)
}

/// A task of the next superstep.
fn task() -> Value {
    let failure = json!({ "$ref": "#/components/schemas/NodeFailure" });
    let required = json!({
        "node": text(),
        "index": optional("integer"),
        "finished": { "type": "boolean" },
        "error": { "anyOf": [failure, { "type": "null" }] },
        "receives": list_of("AwaitedMessage"),
    });
    object(&required, json!({}))
}

/// A message for which a node waits.
fn awaited() -> Value {
    let required = json!({
        "key": text(),
        "since_ms": number(),
        "until_ms": optional("integer"),
    });
    object(&required, json!({}))
}

/// The fields of something that a thread waits for.
fn waits() -> Value {
    json!({
        "id": text(),
        "kind": { "type": "string", "enum": ["question", "approval", "confirmation", "credential", "result"] },
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

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn missed() -> Value {
    json!({ "type": "string", "enum": ["skip", "latest", "all"] })
}

fn definition() -> Value {
    request(
        &json!({ "flow": text(), "cron": text() }),
        json!({ "zone": text(), "input": any(), "missed": missed() }),
    )
}

fn schedule() -> Value {
    let times = json!({ "type": "array", "items": time() });
    let required = json!({
        "name": text(),
        "flow": text(),
        "cron": text(),
        "text": text(),
        "zone": text(),
        "missed": missed(),
        "source": { "enum": ["program", "client"] },
        "paused": { "type": "boolean" },
        "next": times,
    });
    object(&required, json!({ "input": any(), "clock_ahead": time() }))
}

/// The bodies of answers, by name: to a question, about a call of an agent, about a node, and to the question of a human node.
fn answers() -> [(&'static str, Value); 6] {
    let decisions = json!({ "type": "string", "enum": ["approve", "reject", "skip"] });
    [
        (
            "QuestionAnswer",
            request(&json!({ "answer": any() }), json!({})),
        ),
        (
            "CallDecision",
            request(
                &json!({ "approve": { "type": "boolean" } }),
                json!({ "reason": optional("string"), "arguments": optional("object") }),
            ),
        ),
        (
            "CallResult",
            request(&json!({ "result": any() }), json!({})),
        ),
        (
            "CallCredential",
            request(&json!({ "credential": any() }), json!({})),
        ),
        (
            "NodeDecision",
            request(
                &json!({ "decision": decisions }),
                json!({ "by": text(), "reason": text() }),
            ),
        ),
        (
            "HumanAnswer",
            request(
                &json!({ "approved": { "type": "boolean" } }),
                json!({ "choice": text(), "data": any(), "notes": text(), "responded_by": text() }),
            ),
        ),
    ]
}

/// A message of a stream of server-sent events.
fn event_message() -> Value {
    let event = json!({ "$ref": "#/components/schemas/ThreadEvent" });
    let data =
        json!({ "type": "string", "contentMediaType": "application/json", "contentSchema": event });
    let required = json!({ "event": text(), "id": text(), "data": data });
    object(&required, json!({}))
}

/// An answer of any kind.
fn answer() -> Value {
    let names = answers().map(|(name, _)| name);
    let bodies = names.map(|name| json!({ "$ref": format!("#/components/schemas/{name}") }));
    json!({ "anyOf": bodies })
}
