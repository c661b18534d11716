//! Requests to Gemini.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::request::Effort;
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel, Role};
use serde_json::{Value, json};

use petalflow_llm_test_support::replay::Replay;
use petalflow_llm_test_support::server::{Server, answer};

fn model(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("gemini-2.5-flash").unwrap();
    model
        .with_base_url(server.url("/v1beta"))
        .with_key("test-key")
}

async fn request_body(request: &LlmRequest) -> Value {
    let body =
        json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]});
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    model(&server).complete(request).await.unwrap();
    let asked = &server.requests()[0];
    assert_eq!(
        asked.path,
        "/v1beta/models/gemini-2.5-flash:generateContent"
    );
    assert!(asked.head.contains("x-goog-api-key: test-key"));
    asked.body.clone()
}

fn sum(id: &str, signature: Option<&str>) -> Part {
    Part::Call(ToolCall {
        id: id.into(),
        name: "sum".into(),
        arguments: json!({"a": 1, "b": 2}),
        signature: signature.map(Into::into),
        ..ToolCall::default()
    })
}

fn sum_result(id: &str) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: "sum".into(),
        content: json!({"sum": 3}),
        is_error: false,
    }
}

#[tokio::test]
async fn i001_i003_i004_the_conversation_is_sent_with_calls_results_and_signatures() {
    let thought = Part::Thought("A sum.".into());
    let request = LlmRequest {
        system: Some("Be terse.".into()),
        instructions: Some("Be kind.".into()),
        ..LlmRequest::new(vec![
            ChatMessage::user("1 + 2?"),
            ChatMessage::new(
                Role::Assistant,
                vec![thought, sum("c1", Some("s1")), sum("c2", None)],
            ),
            ChatMessage::results([sum_result("c1"), sum_result("c2")]),
        ])
    };
    let body = request_body(&request).await;
    assert_eq!(
        body["systemInstruction"]["parts"][0]["text"],
        "Be terse.\nBe kind."
    );
    let contents = body["contents"].as_array().unwrap();
    let roles: Vec<_> = contents
        .iter()
        .map(|turn| turn["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let calls = contents[1]["parts"].as_array().unwrap();
    assert_eq!(calls.len(), 2, "thoughts are not sent back");
    assert_eq!(calls[0]["thoughtSignature"], "s1");
    assert_eq!(calls[0]["functionCall"]["args"], json!({"a": 1, "b": 2}));
    assert_eq!(calls[1].get("thoughtSignature"), None);
    let results = contents[2]["parts"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["functionResponse"]["name"], "sum");
    assert_eq!(
        results[0]["functionResponse"],
        json!({"id": "c1", "name": "sum", "response": {"sum": 3}})
    );
}

#[tokio::test]
async fn i007_the_schema_and_the_tools_are_sent() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = ToolSpec::new("sum", "Adds", schema.clone());
    let body = request_body(&LlmRequest::prompt("hi").with_tools([Arc::new(tool)])).await;
    let declared = &body["tools"][0]["functionDeclarations"][0];
    assert_eq!(
        (&declared["name"], &declared["description"]),
        (&json!("sum"), &json!("Adds"))
    );
    assert_eq!(declared["parametersJsonSchema"], schema);
    let body = request_body(&LlmRequest::prompt("hi").with_schema(schema.clone())).await;
    assert_eq!(body["generationConfig"]["responseJsonSchema"], schema);
}

#[tokio::test]
async fn thoughts_are_requested_only_with_a_thinking_option() {
    let body = request_body(&LlmRequest::prompt("hi")).await;
    assert_eq!(body.pointer("/generationConfig/thinkingConfig"), None);
    let request = LlmRequest {
        effort: Some(Effort::Budget(512)),
        ..LlmRequest::prompt("hi")
    };
    let thinking = json!({"thinkingBudget": 512, "includeThoughts": true});
    assert_eq!(
        request_body(&request).await["generationConfig"]["thinkingConfig"],
        thinking
    );
}

/// The first turn's call is answered with a result, the second turn's words with an end, in whatever order they are asked.
#[tokio::test]
async fn a066_a_replay_answers_the_most_similar_request() {
    let Some(replay) = Replay::of("adk/agent/llmagent/testdata/TestFunctionTool.httprr").await
    else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let question = ChatMessage::user("what is the sum of 1 + 2?");
    let first = LlmRequest::new(vec![question.clone()]);
    let call = ChatMessage::new(Role::Assistant, vec![sum("", None)]);
    let second = LlmRequest::new(vec![question, call, ChatMessage::results([sum_result("")])]);
    let words: LlmResponse = model.complete(&second).await.unwrap();
    let called: LlmResponse = model.complete(&first).await.unwrap();
    assert_eq!(words.text().trim(), "3");
    assert_eq!(
        called.calls().next().unwrap().arguments,
        json!({"a": 1, "b": 2})
    );
    assert_eq!(replay.remaining(), 0);
}
