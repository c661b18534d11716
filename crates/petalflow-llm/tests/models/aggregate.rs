//! Pieces of answers joined (row A064, `stream_aggregator_test.go` upstream).

use petalflow_llm::message::{Media, MediaSource, Text};
use petalflow_llm::stream::{Delta, StreamAccumulator};
use petalflow_llm::{ChatMessage, LlmResponse, Part, TokenUsage};
use serde_json::{Value, json};

fn accumulate(deltas: &[Delta]) -> LlmResponse {
    let mut answer = StreamAccumulator::new();
    deltas.iter().for_each(|delta| answer.push(delta));
    answer.finish(LlmResponse::default())
}

fn call(index: usize, name: Option<&str>, arguments: &str) -> Delta {
    Delta::Call {
        index,
        id: name.map(|name| format!("id-{name}")),
        name: name.map(Into::into),
        arguments: arguments.into(),
    }
}

fn argument(path: &str, value: Value) -> Delta {
    Delta::Argument {
        index: 0,
        path: path.into(),
        value,
    }
}

fn arguments(response: &LlmResponse) -> Vec<Value> {
    response
        .calls()
        .map(|call| call.arguments.clone())
        .collect()
}

#[test]
fn a064_text_and_thoughts_are_joined_separately_and_in_order() {
    let response = accumulate(&[
        Delta::Thought("Let ".into()),
        Delta::Thought("me think.".into()),
        Delta::Text("It ".into()),
        Delta::Text("is 4.".into()),
        Delta::Thought("Sure?".into()),
        Delta::Text(" Yes.".into()),
    ]);
    assert_eq!(
        response.message.as_ref().unwrap().parts,
        [
            Part::Thought("Let me think.".into()),
            Part::text("It is 4."),
            Part::Thought("Sure?".into()),
            Part::text(" Yes."),
        ]
    );
    assert_eq!(response.text(), "It is 4. Yes.");
}

#[test]
fn a064_arguments_in_pieces_of_text_are_joined_by_call_and_keep_the_order_of_parts() {
    let response = accumulate(&[
        Delta::Text("One moment.".into()),
        call(1, Some("b"), "{\"x\""),
        call(0, Some("a"), ""),
        call(1, None, ": [1, 2]}"),
        Delta::Text("Done.".into()),
    ]);
    let parts = &response.message.as_ref().unwrap().parts;
    let names: Vec<_> = response.calls().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "as they began");
    assert_eq!(arguments(&response), [json!({"x": [1, 2]}), json!({})]);
    assert!(matches!(&parts[3], Part::Text(text) if text.text == "Done."));
}

#[test]
fn a064_arguments_by_json_path_are_joined() {
    let response = accumulate(&[
        call(0, Some("book"), ""),
        argument("$.city", json!("New ")),
        argument("$.city", json!("Delhi")),
        argument("$.guests[0].name", json!("A")),
        argument("$.guests[0].name", json!("da")),
        argument("$.guests[1]", json!({"name": "Bob"})),
        argument("$.nights", json!(3)),
        argument("$.breakfast", json!(true)),
        argument("$.note", Value::Null),
    ]);
    assert_eq!(
        arguments(&response),
        [json!({
            "city": "New Delhi",
            "guests": [{"name": "Ada"}, {"name": "Bob"}],
            "nights": 3,
            "breakfast": true,
            "note": null,
        })]
    );
}

#[test]
fn a064_signatures_stay_with_their_parts() {
    let response = accumulate(&[
        Delta::Thought("Hm.".into()),
        Delta::Signature("s1".into()),
        Delta::Text("Yes".into()),
        Delta::Text(".".into()),
        call(0, Some("a"), "{}"),
        Delta::Signature("s2".into()),
        Delta::Text("Bye".into()),
        Delta::Signature("s3".into()),
        Delta::Text("!".into()),
    ]);
    let signatures: Vec<_> = response
        .message
        .unwrap()
        .parts
        .iter()
        .map(signature)
        .collect();
    assert_eq!(
        signatures,
        [
            Some("s1".into()),
            None,
            Some("s2".into()),
            Some("s3".into()),
            None
        ]
    );
}

fn signature(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) | Part::Thought(text) => text.signature.clone(),
        Part::Call(call) => call.signature.clone(),
        _ => None,
    }
}

#[test]
fn a064_a_signature_with_nothing_before_it_is_a_part_of_its_own() {
    let response = accumulate(&[Delta::Signature("s".into())]);
    let alone = Text {
        text: String::new(),
        signature: Some("s".into()),
        origin: None,
    };
    assert_eq!(response.message.unwrap().parts, [Part::Text(alone)]);
}

#[test]
fn a064_usage_is_preserved() {
    let usage = TokenUsage {
        input: 3,
        ..TokenUsage::default()
    };
    let rest = LlmResponse {
        usage,
        ..LlmResponse::default()
    };
    assert_eq!(StreamAccumulator::new().finish(rest).usage, usage);
}

#[test]
fn other_parts_come_through_whole() {
    let picture = Part::Media(Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("AAAA".into()),
        origin: None,
    });
    let response = accumulate(&[Delta::Text("See:".into()), Delta::Part(picture.clone())]);
    assert_eq!(response.message.unwrap().parts[1], picture);
}

#[test]
fn an_empty_stream_has_no_message() {
    assert_eq!(
        accumulate(&[Delta::None, Delta::Text(String::new())]).message,
        None
    );
}

#[test]
fn arguments_that_are_not_json_stay_as_they_were_written() {
    let response = accumulate(&[call(0, Some("a"), "{\"x\": "), call(0, None, "oops")]);
    assert_eq!(arguments(&response), [json!("{\"x\": oops")]);
}

#[test]
fn a_message_split_into_deltas_and_joined_is_unchanged() {
    let message: ChatMessage = serde_json::from_value(json!({
        "role": "assistant",
        "parts": [
            {"thought": {"text": "Hm", "signature": "s"}},
            {"text": {"text": "Yes"}},
            {"call": {"id": "1", "name": "a", "arguments": {"x": 1}, "signature": "t"}},
            {"call": {"id": "2", "name": "b", "arguments": {}}},
            {"code": {"language": "python", "code": "1"}},
        ],
    }))
    .unwrap();
    assert_eq!(
        accumulate(&Delta::from_message(&message)).message,
        Some(message)
    );
}

#[test]
fn many_small_pieces_take_linear_time() {
    let mut answer = StreamAccumulator::new();
    for _ in 0..1_000_000 {
        answer.push(&Delta::Text("x".into()));
        assert!(matches!(answer.text(), std::borrow::Cow::Borrowed(_)));
    }
    assert_eq!(answer.text().len(), 1_000_000);
}
