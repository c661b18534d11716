//! The events of `ConverseStream`.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use petalflow_llm_test_support::server::Step;
use serde_json::{Value, json};

pub(super) fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let text = |text: &str| HeaderValue::String(text.to_string().into());
    let message = Message::new(payload.to_string().into_bytes())
        .add_header(Header::new(format!(":{kind}-type"), text(name)))
        .add_header(Header::new(":content-type", text("application/json")))
        .add_header(Header::new(":message-type", text(kind)));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

pub(super) fn delta(index: u64, delta: &Value) -> Vec<u8> {
    frame(
        "event",
        "contentBlockDelta",
        &json!({"contentBlockIndex": index, "delta": delta, "p": "abc"}),
    )
}

pub(super) fn start(index: u64, block: &Value) -> Vec<u8> {
    frame(
        "event",
        "contentBlockStart",
        &json!({"contentBlockIndex": index, "start": block}),
    )
}

pub(super) fn stop(index: u64) -> Vec<u8> {
    frame(
        "event",
        "contentBlockStop",
        &json!({"contentBlockIndex": index}),
    )
}

pub(super) fn message_stop(reason: &str) -> Vec<u8> {
    frame("event", "messageStop", &json!({"stopReason": reason}))
}

/// The events of a block: its start, its pieces and its end.
pub(super) fn block(index: usize, block: &Value) -> Vec<Vec<u8>> {
    let index = u64::try_from(index).unwrap();
    let mut frames = Vec::new();
    if let Some(text) = block["text"].as_str() {
        frames.push(delta(index, &json!({"text": text})));
    } else if let Some(cited) = block.get("citationsContent") {
        for text in cited["content"].as_array().into_iter().flatten() {
            frames.push(delta(index, text));
        }
        for citation in cited["citations"].as_array().into_iter().flatten() {
            frames.push(delta(index, &json!({"citation": citation})));
        }
    } else if let Some(reasoning) = block.get("reasoningContent") {
        for piece in ["text", "signature"] {
            if let Some(text) = reasoning["reasoningText"].get(piece) {
                frames.push(delta(index, &json!({"reasoningContent": {piece: text}})));
            }
        }
        if let Some(data) = reasoning.get("redactedContent") {
            frames.push(delta(
                index,
                &json!({"reasoningContent": {"redactedContent": data}}),
            ));
        }
    } else if let Some(call) = block.get("toolUse") {
        let mut begun = block.clone();
        begun["toolUse"].as_object_mut().unwrap().remove("input");
        frames.push(start(index, &begun));
        let input = call["input"].to_string();
        let (first, second) = input.split_at(3);
        for piece in [first, second] {
            frames.push(delta(index, &json!({"toolUse": {"input": piece}})));
        }
    } else if let Some(result) = block.get("toolResult") {
        let mut begun = block.clone();
        begun["toolResult"]
            .as_object_mut()
            .unwrap()
            .remove("content");
        frames.push(start(index, &begun));
        frames.push(delta(index, &json!({"toolResult": result["content"]})));
    }
    frames.push(stop(index));
    frames
}

/// A response with these events.
pub(super) fn steps(frames: &[Vec<u8>]) -> Vec<Step> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nconnection: close\r\n\r\n";
    vec![Step::Send(head.to_vec()), Step::Send(frames.concat())]
}
