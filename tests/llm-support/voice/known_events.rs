//! The events and fields that the provider knows, as the types of its SDK have them.

use serde_json::Value;

/// Refuses an event that the provider does not know, and one with unknown fields.
pub(super) fn check_event(event: &Value) {
    let kind = event["type"].as_str().expect("an event has a type");
    let fields: &[&str] = match kind {
        "session.update" => &["session"],
        "input_audio_buffer.append" => &["audio"],
        "input_audio_buffer.commit" => &[],
        "conversation.item.create" => &["item", "previous_item_id"],
        "conversation.item.delete" => &["item_id"],
        "conversation.item.truncate" => &["item_id", "content_index", "audio_end_ms"],
        "response.create" => &["response"],
        "response.cancel" => &["response_id"],
        other => panic!("the provider does not know the event `{other}`"),
    };
    check_fields(event, &[fields, &["type", "event_id"]].concat());
    if kind == "session.update" {
        let session = &event["session"];
        assert_eq!(session["type"], "realtime");
        check_fields(
            session,
            &[
                "type",
                "audio",
                "include",
                "instructions",
                "max_output_tokens",
                "model",
                "output_modalities",
                "parallel_tool_calls",
                "prompt",
                "reasoning",
                "tool_choice",
                "tools",
                "tracing",
                "truncation",
            ],
        );
        check_fields(&session["audio"], &["input", "output"]);
        check_fields(
            &session["audio"]["input"],
            &[
                "format",
                "noise_reduction",
                "transcription",
                "turn_detection",
            ],
        );
        check_fields(&session["audio"]["output"], &["format", "speed", "voice"]);
    }
    if kind == "conversation.item.create" {
        let item = &event["item"];
        let (fields, kinds): (&[&str], &[&str]) =
            match (item["type"].as_str(), item["role"].as_str()) {
                (Some("message"), Some("assistant")) => (&["role", "content"], &["output_text"]),
                (Some("message"), Some("system")) => (&["role", "content"], &["input_text"]),
                (Some("message"), Some("user")) => {
                    (&["role", "content"], &["input_text", "input_image"])
                }
                (Some("function_call"), _) => (&["call_id", "name", "arguments"], &[]),
                (Some("function_call_output"), _) => (&["call_id", "output"], &[]),
                _ => panic!("the provider does not know the item {item}"),
            };
        check_fields(item, &[fields, &["type", "id"]].concat());
        for part in item["content"].as_array().into_iter().flatten() {
            let kind = part["type"].as_str().expect("a part has a type");
            assert!(kinds.contains(&kind), "{item}");
        }
    }
    if kind == "response.create" {
        check_fields(
            &event["response"],
            &[
                "audio",
                "conversation",
                "input",
                "instructions",
                "max_output_tokens",
                "metadata",
                "output_modalities",
                "parallel_tool_calls",
                "prompt",
                "reasoning",
                "tool_choice",
                "tools",
            ],
        );
    }
}

fn check_fields(value: &Value, known: &[&str]) {
    let fields = value.as_object().expect("an object");
    for name in fields.keys() {
        assert!(
            known.contains(&name.as_str()),
            "the provider does not know the field `{name}` of {value}"
        );
    }
}
