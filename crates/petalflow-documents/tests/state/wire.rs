//! The wire form of envelopes, row P208.

use petalflow_documents::{Artifact, Envelope, NodeFailure, NodeKind, Trace, WireEnvelope};
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value, json};

fn wire(envelope: &Envelope) -> Value {
    serde_json::to_value(WireEnvelope::from(envelope)).expect("it is JSON")
}

fn full() -> Envelope {
    let mut envelope = Envelope::new()
        .with_input(json!({ "q": 1 }))
        .with_var("a", json!([1, null]));
    envelope.append_artifact(Artifact {
        id: "art-1".into(),
        mime_type: "image/png".into(),
        bytes: vec![0x89, 0x50, 0x4e, 0x47],
        uri: "https://example.com/".into(),
        meta: Map::from_iter([("confidence".into(), json!(0.9))]),
        ..Artifact::new("file")
    });
    envelope.append_artifact(Artifact {
        text: "words".into(),
        ..Artifact::new("document")
    });
    envelope.append_message(ChatMessage::user("Hello"));
    let mut answer = ChatMessage::assistant("Hi!").with_name("bot");
    answer.meta.insert("model".into(), json!("large"));
    envelope.append_message(answer);
    let mut failure = NodeFailure::new("tool-1", "tool failed").with_cause("refused");
    failure.kind = Some(NodeKind::Tool);
    failure.attempt = 2;
    failure.at_ms = 1_770_465_600_000;
    failure.details.insert("tool".into(), json!("search"));
    envelope.append_error(failure);
    let mut same = NodeFailure::new("llm-1", "boom").with_cause("boom");
    same.at_ms = 1;
    envelope.append_error(same);
    envelope.trace = Trace {
        run_id: "run-1".into(),
        parent_id: "parent-1".into(),
        span_id: "span-1".into(),
        started_ms: 1_770_465_600_123,
    };
    envelope
}

#[test]
fn p208_an_empty_envelope_has_variables_only() {
    let empty = Envelope {
        trace: Trace::default(),
        ..Envelope::new()
    };
    assert_eq!(wire(&empty), json!({ "vars": {} }));
    assert_eq!(
        wire(&Envelope::new()),
        json!({ "vars": {} }),
        "a trace without an identifier is left out"
    );
}

#[test]
fn p208_all_parts_have_a_form() {
    assert_eq!(
        wire(&full()),
        json!({
            "input": { "q": 1 },
            "vars": { "a": [1, null] },
            "messages": [
                { "role": "user", "content": "Hello" },
                { "role": "assistant", "content": "Hi!", "name": "bot", "meta": { "model": "large" } },
            ],
            "artifacts": [
                {
                    "id": "art-1", "name": "art-1", "type": "file", "mime_type": "image/png", "content": "iVBORw==",
                    "uri": "https://example.com/", "meta": { "confidence": 0.9 },
                },
                { "type": "document", "text": "words" },
            ],
            "errors": [
                {
                    "node_id": "tool-1", "kind": "tool", "message": "tool failed", "attempt": 2,
                    "at": "2026-02-07T12:00:00Z", "details": { "tool": "search" }, "cause": "refused",
                },
                { "node_id": "llm-1", "message": "boom", "attempt": 1, "at": "1970-01-01T00:00:00.001Z" },
            ],
            "trace": {
                "run_id": "run-1", "parent_id": "parent-1", "span_id": "span-1", "started_at": "2026-02-07T12:00:00.123Z",
            },
        })
    );
}

#[test]
fn p208_an_envelope_survives_the_wire() {
    let before = full();
    let text = serde_json::to_string(&WireEnvelope::from(&before)).expect("it is JSON");
    let read: WireEnvelope = serde_json::from_str(&text).expect("it reads");
    let after = Envelope::try_from(read).expect("it is an envelope");
    assert_eq!(
        (&after.input, &after.vars, &after.trace),
        (&before.input, &before.vars, &before.trace)
    );
    assert_eq!(
        (&after.artifacts, &after.messages),
        (&before.artifacts, &before.messages)
    );
    assert_eq!(after.errors[0], before.errors[0]);
    assert_eq!(wire(&after), wire(&before));
}

#[test]
fn p208_wrong_parts_are_named() {
    for (value, problem) in [
        (
            json!({ "messages": [{ "role": "boss" }] }),
            "`messages[0].role` of the envelope is `boss`",
        ),
        (
            json!({ "artifacts": [{ "type": "a" }, { "type": "a", "content": "%" }] }),
            "`artifacts[1].content` of the envelope is not base64",
        ),
        (
            json!({ "errors": [{ "node_id": "n", "message": "m", "at": "noon" }] }),
            "`errors[0].at` of the envelope is not a time",
        ),
        (
            json!({ "trace": { "started_at": "-9999-01-01T00:00:00Z" } }),
            "`trace.started_at` of the envelope is not a time",
        ),
    ] {
        let wire: WireEnvelope = serde_json::from_value(value).expect("the form is right");
        let error = Envelope::try_from(wire)
            .expect_err("a part is wrong")
            .to_string();
        assert!(error.starts_with(problem), "{error}");
    }
    assert!(serde_json::from_value::<WireEnvelope>(json!({ "var": {} })).is_err());
}
