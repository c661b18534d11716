//! The schemas of what a server keeps: finished threads, and the entries of its memory.

use serde_json::{Value, json};

use super::schemas::{any, list_of, number, object, optional, request, text};

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let rules = object(&json!({ "retention": list_of("RetentionRule") }), json!({}));
    let page = json!({ "entries": list_of("Entry"), "next": optional("string") });
    let hit = object(
        &json!({ "entry": { "$ref": "#/components/schemas/Entry" }, "score": { "type": "number" } }),
        json!({}),
    );
    let hits = object(
        &json!({ "hits": { "type": "array", "items": hit } }),
        json!({}),
    );
    vec![
        ("KeptThreads", request(&json!({}), kept())),
        ("RetentionRule", rule()),
        ("Retention", rules),
        ("Entry", entry()),
        ("Entries", object(&page, json!({}))),
        ("Hits", hits),
        ("WrittenEntry", written()),
    ]
}

/// How old finished threads may be, and how many are kept.
fn kept() -> Value {
    let number = |description: &str| json!({ "type": ["integer", "null"], "minimum": 0, "description": description });
    json!({
        "max_age_seconds": number("The longest time since a finished thread has changed. Without it, any."),
        "max_threads": number("How many finished threads are kept: the newest. Without it, all."),
    })
}

fn rule() -> Value {
    let source = json!({
        "type": "string",
        "enum": ["program", "client", "default"],
        "description": "Who has set the rule. `default`: nobody, so all threads are kept.",
    });
    let mut required = kept();
    required["flow"] = text();
    required["source"] = source;
    object(&required, json!({}))
}

fn entry() -> Value {
    let required = json!({
        "namespace": names(),
        "key": text(),
        "value": any(),
        "created_ms": number(),
        "updated_ms": number(),
        "expires_ms": optional("integer"),
    });
    object(&required, json!({}))
}

fn names() -> Value {
    json!({ "type": "array", "items": text() })
}

fn written() -> Value {
    let seconds = json!({
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "How long the entry is kept. Without it, until it is deleted.",
    });
    request(
        &json!({ "value": any() }),
        json!({ "ttl_seconds": seconds }),
    )
}
