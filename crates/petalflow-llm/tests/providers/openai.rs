//! The requests to a server with OpenAI's protocol, and how its answers are read.

use std::sync::Arc;

use futures_util::StreamExt;
use petalflow::tool::Origin;
use petalflow::tool::ToolSpec;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::message::Text;
use petalflow_llm::request::ToolChoice;
use petalflow_llm::response::FinishReason;
use petalflow_llm::stream::Delta;
use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::{ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, ProviderModel, Role};
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, event, events};

fn model(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny").with_key("sk-secret")
}

fn whole(message: &Value) -> Vec<Step> {
    let body = json!({
        "id": "chatcmpl-1",
        "model": "tiny-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1_000,
            "completion_tokens": 100,
            "total_tokens": 1_100,
            "prompt_tokens_details": {"cached_tokens": 400},
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
    });
    answer("200 OK", "application/json", &body.to_string())
}

fn delta(delta: &Value) -> Step {
    event(
        &json!({"id": "chatcmpl-2", "model": "tiny-2026", "choices": [{"index": 0, "delta": delta}]}),
    )
}

fn assistant_with_call(name: &str, arguments: &str) -> Value {
    json!({
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}],
    })
}

#[tokio::test]
async fn i001_i003_i004_i005_the_conversation_is_sent_in_order() {
    let server = Server::always(whole(&json!({"role": "assistant", "content": "ok"}))).await;
    let call = ToolCall {
        id: "c1".into(),
        name: "sum".into(),
        arguments: json!({"a": 1}),
        ..ToolCall::default()
    };
    let good = ToolResult {
        call_id: "c1".into(),
        name: "sum".into(),
        content: json!({"sum": 3}),
        is_error: false,
    };
    let bad = ToolResult {
        content: json!("too big"),
        is_error: true,
        ..good.clone()
    };
    let request = LlmRequest {
        system: Some("You are terse.".into()),
        instructions: Some("Answer in French.".into()),
        input_text: Some("And now?".into()),
        ..LlmRequest::new(vec![
            ChatMessage::user("Add."),
            ChatMessage::new(
                Role::Assistant,
                vec![Part::text("Calling."), Part::Call(call)],
            ),
            ChatMessage::results([good, bad]),
        ])
    };
    model(&server).complete(&request).await.unwrap();
    let asked = &server.requests()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert!(asked.head.contains("authorization: bearer sk-secret"));
    let messages = asked.body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "user"
        ]
    );
    assert_eq!(messages[0]["content"], "You are terse.");
    assert_eq!(messages[1]["content"], "Answer in French.");
    assert_eq!(
        messages[3]["tool_calls"][0]["function"],
        json!({"name": "sum", "arguments": "{\"a\":1}"})
    );
    assert_eq!(
        messages[4],
        json!({"role": "tool", "tool_call_id": "c1", "content": "{\"sum\":3}"})
    );
    assert_eq!(messages[5]["content"], "{\"error\":\"too big\"}");
    assert_eq!(messages[6]["content"], "And now?");
}

#[tokio::test]
async fn i006_options_are_sent_and_absent_ones_are_not() {
    let server = Server::always(whole(&json!({"content": "ok"}))).await;
    let model = model(&server);
    let request = LlmRequest {
        temperature: Some(0.7),
        top_p: Some(0.5),
        max_tokens: Some(64),
        stop: vec!["END".into()],
        seed: Some(7),
        extra: json!({"guided": true}).as_object().unwrap().clone(),
        ..LlmRequest::prompt("hi")
    };
    model.complete(&request).await.unwrap();
    model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    let asked = server.requests();
    let body = &asked[0].body;
    assert_eq!(body["temperature"], 0.7);
    assert_eq!((&body["top_p"], &body["seed"]), (&json!(0.5), &json!(7)));
    assert_eq!(
        (&body["stop"], &body["guided"]),
        (&json!(["END"]), &json!(true))
    );
    assert!(
        body["max_tokens"] == 64 || body["max_completion_tokens"] == 64,
        "{body}"
    );
    for absent in [
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "tools",
        "response_format",
        "tool_choice",
    ] {
        assert_eq!(asked[1].body.get(absent), None, "{absent}");
    }
}

/// Upstream sends neither (`toCoreChatRequest`); we do.
#[tokio::test]
async fn i007_the_schema_and_the_tools_are_sent() {
    let server = Server::always(whole(&json!({"content": "{\"n\": 1}"}))).await;
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": false,
    });
    let search = ToolSpec::new("search", "Searches", schema.clone());
    let request = LlmRequest {
        tool_choice: ToolChoice::Required,
        ..LlmRequest::prompt("hi")
            .with_schema(schema.clone())
            .with_tools([Arc::new(search)])
    };
    let response = model(&server).complete(&request).await.unwrap();
    assert_eq!(response.json, Some(json!({"n": 1})));
    let body = &server.requests()[0].body;
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
    let tool = &body["tools"][0]["function"];
    assert_eq!(
        (&tool["name"], &tool["description"]),
        (&json!("search"), &json!("Searches"))
    );
    assert_eq!(tool["parameters"]["properties"], schema["properties"]);
    assert_eq!(body["tool_choice"], "required");
}

#[tokio::test]
async fn i008_i009_an_answer_has_its_model_and_usage() {
    let server = Server::always(whole(&json!({"content": "hello"}))).await;
    let price = Price {
        input: 2.0,
        cached: 0.5,
        output: 8.0,
        ..Price::default()
    };
    let model = model(&server).with_prices(Prices::new().with("tiny", price));
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(response.text(), "hello");
    assert_eq!(response.provider, "openai-compatible");
    assert_eq!(
        (response.model.as_str(), response.id.as_str()),
        ("tiny-2026", "chatcmpl-1")
    );
    assert_eq!(response.finish, Some(FinishReason::Stop));
    let usage = response.usage;
    assert_eq!(
        (usage.input, usage.output, usage.total),
        (1_000, 100, 1_100)
    );
    assert_eq!((usage.cached, usage.reasoning), (400, 60));
    assert!((usage.cost - 0.0022).abs() < 1e-12, "{}", usage.cost);
}

#[tokio::test]
async fn i012_arguments_that_are_not_json_are_an_error_with_the_answer() {
    let wrong = whole(&assistant_with_call("search", "{\"for\": oops"));
    let server = Server::always(wrong).await;
    let error = model(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "arguments of call `c1` of tool `search` are not a JSON object: `{\\\"for\\\": oops`"
    );
    let LlmErrorKind::Arguments { response } = error.kind else {
        panic!("of the wrong kind");
    };
    assert_eq!(response.calls().next().unwrap().arguments, "{\"for\": oops");
    assert_eq!(
        (response.model.as_str(), response.usage.input),
        ("tiny-2026", 1_000)
    );
}

#[tokio::test]
async fn i012_empty_arguments_are_an_empty_object() {
    let server = Server::always(whole(&assistant_with_call("now", ""))).await;
    let response = model(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    assert_eq!(response.calls().next().unwrap().arguments, json!({}));
}

#[tokio::test]
async fn i016_text_is_streamed_and_usage_comes_last() {
    let server = Server::always(vec![
        events(),
        delta(&json!({"role": "assistant", "content": "Hel"})),
        delta(&json!({"content": "lo é"})),
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
        event(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})),
        chunk("data: [DONE]\n\n"),
        end(),
    ])
    .await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let chunks: Vec<_> = stream.collect().await;
    let words: Vec<_> = chunks.iter().map(|chunk| chunk.delta.clone()).collect();
    assert_eq!(
        words,
        [
            Delta::Text("Hel".into()),
            Delta::Text("lo é".into()),
            Delta::None
        ]
    );
    let response = chunks[2].response.as_ref().unwrap();
    assert_eq!(response.text(), "Hello é");
    assert_eq!((response.usage.input, response.usage.total), (3, 5));
    assert_eq!(
        (response.id.as_str(), response.model.as_str()),
        ("chatcmpl-2", "tiny-2026")
    );
    assert_eq!(response.finish, Some(FinishReason::Stop));
    assert_eq!(server.requests()[0].body["stream"], true);
}

fn piece(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut call = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    if let Some(name) = name {
        call["function"]["name"] = json!(name);
    }
    json!({"tool_calls": [call]})
}

/// Upstream drops calls from streams (`streaming.go`); we do not.
#[tokio::test]
async fn i021_streamed_calls_are_joined() {
    let server = Server::always(vec![
        events(),
        delta(&json!({"role": "assistant", "content": "Two."})),
        delta(&piece(0, Some("a"), Some("sum"), "")),
        delta(&piece(0, None, None, "{\"x\": 1")),
        delta(&piece(0, None, None, "1}")),
        delta(&piece(1, Some("b"), Some("sum"), "{\"x\"")),
        delta(&piece(1, None, None, ": 2}")),
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})),
        chunk("data: [DONE]\n\n"),
        end(),
    ])
    .await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let response = stream.into_response().await.unwrap();
    let calls: Vec<_> = response
        .calls()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone()))
        .collect();
    assert_eq!(
        calls,
        [
            ("a", "sum", json!({"x": 11})),
            ("b", "sum", json!({"x": 2}))
        ]
    );
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    assert_eq!(response.text(), "Two.");
}

#[tokio::test]
async fn streamed_arguments_that_are_not_json_are_an_error_with_the_answer() {
    let server = Server::always(vec![
        events(),
        delta(&piece(0, Some("a"), Some("sum"), "{\"x\": ")),
        chunk("data: [DONE]\n\n"),
        end(),
    ])
    .await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let error = stream.into_response().await.unwrap_err();
    assert!(
        matches!(error.kind, LlmErrorKind::Arguments { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_without_the_last_event_is_complete() {
    let server = Server::always(vec![
        events(),
        delta(&json!({"content": "Hello"})),
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})),
        end(),
    ])
    .await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let response = stream.into_response().await.unwrap();
    assert_eq!(
        (response.text(), response.finish),
        ("Hello".into(), Some(FinishReason::Length))
    );
}

#[tokio::test]
async fn i011_thoughts_are_separate_from_the_text() {
    let message = json!({"content": "4", "reasoning_content": "2 and 2"});
    let server = Server::always(whole(&message)).await;
    let response = model(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let thought = Text {
        text: "2 and 2".into(),
        origin: Some(Box::new(Origin::new("openai-compatible"))),
        ..Text::default()
    };
    assert_eq!(
        response.message.as_ref().unwrap().parts,
        [Part::Thought(thought), Part::text("4")]
    );
    assert_eq!(response.text(), "4");
}

#[tokio::test]
async fn a_request_may_name_another_model_of_the_same_provider() {
    let server = Server::always(whole(&json!({"content": "ok"}))).await;
    let request = LlmRequest {
        model: Some("tiny-pro".into()),
        ..LlmRequest::prompt("hi")
    };
    model(&server).complete(&request).await.unwrap();
    assert_eq!(server.requests()[0].body["model"], "tiny-pro");
}
