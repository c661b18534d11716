//! Anthropic's words: signed thoughts, arguments in pieces, and what is sent back.

use petalflow::tool::Origin;
use petalflow::tool::ToolResult;
use petalflow_llm::message::Text;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Part, ProviderModel};
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};

fn model(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("claude-sonnet-4-6").unwrap();
    model
        .with_base_url(server.url("/v1"))
        .with_key("sk-ant-test")
}

fn event(name: &str, data: &Value) -> Step {
    chunk(&format!("event: {name}\ndata: {data}\n\n"))
}

fn stream_steps() -> Vec<Step> {
    let block = |index: usize, block: &Value| {
        event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        )
    };
    let delta = |index: usize, delta: &Value| {
        event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        )
    };
    let stop = |index: usize| {
        event(
            "content_block_stop",
            &json!({"type": "content_block_stop", "index": index}),
        )
    };
    vec![
        events(),
        event(
            "message_start",
            &json!({"type": "message_start", "message": {
                "id": "msg_1", "model": "claude-sonnet-4-6-x", "usage": {"input_tokens": 10, "output_tokens": 1},
            }}),
        ),
        block(
            0,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Two "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "calls."})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        event("ping", &json!({"type": "ping"})),
        block(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "One moment."})),
        stop(1),
        block(
            2,
            &json!({"type": "tool_use", "id": "t1", "name": "sum", "input": {}}),
        ),
        delta(2, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            2,
            &json!({"type": "input_json_delta", "partial_json": "{\"x\": 1"}),
        ),
        delta(
            2,
            &json!({"type": "input_json_delta", "partial_json": "1, \"y\": 2}"}),
        ),
        stop(2),
        block(
            3,
            &json!({"type": "tool_use", "id": "t2", "name": "now", "input": {}}),
        ),
        stop(3),
        event(
            "message_delta",
            &json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}}),
        ),
        event("message_stop", &json!({"type": "message_stop"})),
        end(),
    ]
}

#[tokio::test]
async fn i021_a_stream_has_signed_thoughts_text_and_calls() {
    let server = Server::always(stream_steps()).await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let response = stream.into_response().await.unwrap();
    let signed = Text {
        text: "Two calls.".into(),
        signature: Some("c2ln".into()),
        origin: Some(Box::new(Origin::new("anthropic"))),
    };
    let parts = &response.message.as_ref().unwrap().parts;
    assert_eq!(
        parts[..2],
        [Part::Thought(signed), Part::text("One moment.")]
    );
    let calls: Vec<_> = response
        .calls()
        .map(|call| (call.id.as_str(), call.arguments.clone()))
        .collect();
    assert_eq!(calls, [("t1", json!({"x": 11, "y": 2})), ("t2", json!({}))]);
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    assert_eq!(
        (response.id.as_str(), response.model.as_str()),
        ("msg_1", "claude-sonnet-4-6-x")
    );
    assert_eq!((response.usage.input, response.usage.output), (10, 30));
}

#[tokio::test]
async fn encrypted_thoughts_are_sent_back() {
    let hidden = json!({"type": "redacted_thinking", "data": "aGlkZGVu"});
    let body = json!({
        "id": "msg_3",
        "model": "claude-sonnet-4-6-x",
        "content": [
            {"type": "thinking", "thinking": "A sum.", "signature": "c2ln"},
            hidden,
            {"type": "text", "text": "13"},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let mut stream = stream_steps();
    let start = json!({"type": "content_block_start", "index": 9, "content_block": hidden});
    let stop = json!({"type": "content_block_stop", "index": 9});
    stream.splice(
        7..7,
        [
            event("content_block_start", &start),
            event("content_block_stop", &stop),
        ],
    );
    let server = Server::start(move |_, asked| {
        if asked.body["stream"] == true {
            stream.clone()
        } else {
            answer("200 OK", "application/json", &body.to_string())
        }
    })
    .await;
    let model = model(&server);
    let request = LlmRequest::new(vec![ChatMessage::user("Add 11 and 2.")]);
    let whole = model.complete(&request).await.unwrap();
    let streamed = model
        .stream(&request)
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    for response in [whole, streamed] {
        let next = LlmRequest::new(request.messages_with(&response));
        model.complete(&next).await.unwrap();
        let asked = server.requests().pop().unwrap();
        let parts = asked.body["messages"][1]["content"].as_array().unwrap();
        assert_eq!(parts[0]["signature"], "c2ln");
        assert_eq!(parts[1], hidden);
    }
}

#[tokio::test]
async fn answers_are_sent_back_unchanged() {
    let body = json!({
        "id": "msg_2",
        "model": "claude-sonnet-4-6-x",
        "content": [{"type": "text", "text": "13"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
    .to_string();
    let server = Server::start(move |number, _| match number {
        0 => stream_steps(),
        _ => answer("200 OK", "application/json", &body),
    })
    .await;
    let model = model(&server);
    let question = ChatMessage::user("Add 11 and 2.");
    let request = LlmRequest::new(vec![question]);
    let first = model
        .stream(&request)
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    let results = first.calls().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: json!({"sum": 13}),
        is_error: false,
    });
    let results = ChatMessage::results(results);
    let mut messages = request.messages_with(&first);
    messages.push(results);
    let second = model.complete(&LlmRequest::new(messages)).await.unwrap();
    assert_eq!((second.text(), second.id), ("13".into(), "msg_2".into()));
    let asked = &server.requests()[1];
    assert!(asked.head.contains("x-api-key: sk-ant-test"));
    let parts = asked.body["messages"][1]["content"].as_array().unwrap();
    let kinds: Vec<_> = parts
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(parts[0]["signature"], "c2ln");
    assert_eq!(parts[2]["input"], json!({"x": 11, "y": 2}));
    let results = asked.body["messages"][2]["content"].as_array().unwrap();
    assert_eq!(
        (results[0]["tool_use_id"].as_str(), results.len()),
        (Some("t1"), 2)
    );
}
