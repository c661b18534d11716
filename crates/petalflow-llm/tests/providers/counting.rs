//! Counts of tokens: what is asked, and what is answered.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::request::Effort;
use petalflow_llm::usage::TokenCount;
use petalflow_llm::{ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, ProviderModel, Role};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = ProviderModel::new(name).unwrap().without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

fn request() -> LlmRequest {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    LlmRequest {
        system: Some("Be short.".into()),
        max_tokens: Some(100),
        temperature: Some(0.5),
        stop: vec!["END".into()],
        ..LlmRequest::prompt("Hello, world")
            .with_tools([Arc::new(ToolSpec::new("find", "Finds", schema))])
    }
}

/// The bodies of the providers' documents: what changes only the answer is not in them.
#[tokio::test]
async fn a_provider_counts_what_the_request_would_send() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": false});
    for (name, path, count, expected) in [
        (
            "claude-sonnet-4-6",
            "/v1/messages/count_tokens",
            json!({"input_tokens": 14}),
            json!({
                "model": "claude-sonnet-4-6",
                "system": "Be short.",
                "messages": [{"role": "user", "content": "Hello, world"}],
                "tools": [{"name": "find", "description": "Finds", "input_schema": schema, "strict": true}],
                "tool_choice": {"type": "auto"},
            }),
        ),
        (
            "gpt-4.1::responses",
            "/v1/responses/input_tokens",
            json!({"object": "response.input_tokens", "input_tokens": 14}),
            json!({
                "model": "gpt-4.1",
                "instructions": "Be short.",
                "input": [{"role": "user", "content": "Hello, world"}],
                "tools": [{"type": "function", "name": "find", "description": "Finds", "parameters": schema, "strict": true}],
            }),
        ),
        (
            "gemini-2.5-flash",
            "/v1/models/gemini-2.5-flash:countTokens",
            json!({"totalTokens": 14, "promptTokensDetails": []}),
            json!({"generateContentRequest": {
                "model": "models/gemini-2.5-flash",
                "contents": [{"role": "user", "parts": [{"text": "Hello, world"}]}],
                "systemInstruction": {"parts": [{"text": "Be short."}]},
                "tools": [{"functionDeclarations": [{
                    "name": "find",
                    "description": "Finds",
                    "parametersJsonSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
                }]}],
                "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5, "stopSequences": ["END"]},
            }}),
        ),
    ] {
        let server = Server::always(answer("200 OK", "application/json", &count.to_string())).await;
        let name = match name.split_once("::") {
            Some((name, _)) => format!("openai_resp::{name}"),
            None => name.to_string(),
        };
        let found = model(&name, &server)
            .count_tokens(&request())
            .await
            .unwrap();
        assert_eq!(found, TokenCount::exact(14));
        let sent = server.requests().remove(0);
        assert_eq!(
            (sent.path.as_str(), &sent.body),
            (path, &expected),
            "{name}"
        );
    }
}

#[tokio::test]
async fn reasoning_is_part_of_what_is_counted() {
    let count = json!({"input_tokens": 14}).to_string();
    let server = Server::always(answer("200 OK", "application/json", &count)).await;
    let request = LlmRequest {
        effort: Some(Effort::Low),
        ..request()
    };
    model("claude-sonnet-4-6", &server)
        .count_tokens(&request)
        .await
        .unwrap();
    let body = server.requests().remove(0).body;
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"], json!({"effort": "low"}));
    assert_eq!(body["max_tokens"], Value::Null);
}

#[tokio::test]
async fn without_a_provider_that_counts_it_is_an_estimate() {
    let server = Server::always(answer("404 Not Found", "text/plain", "no such page")).await;
    let estimate = TokenCount::estimate(&request());
    assert!(!estimate.exact);
    for name in ["claude-sonnet-4-6", "gpt-5", "gemini-2.5-flash"] {
        let found = model(name, &server).count_tokens(&request()).await.unwrap();
        assert_eq!(found, estimate, "{name}");
    }
    assert_eq!(server.requests().len(), 3);
    // OpenAI's chat completions have no such request: nothing is sent.
    let found = model("gpt-4o", &server)
        .count_tokens(&request())
        .await
        .unwrap();
    assert_eq!((found, server.requests().len()), (estimate, 3));
}

#[tokio::test]
async fn an_answer_that_is_not_a_count_is_an_error() {
    for (status, body, kind) in [
        ("200 OK", "{}", LlmErrorKind::Malformed),
        ("200 OK", "{\"input_tokens\": -1}", LlmErrorKind::Malformed),
        (
            "401 Unauthorized",
            "{\"error\": {\"message\": \"no\"}}",
            LlmErrorKind::Auth,
        ),
        (
            "429 Slow",
            "{\"error\": {\"message\": \"no\"}}",
            LlmErrorKind::RateLimited { retry_after: None },
        ),
    ] {
        let server = Server::always(answer(status, "application/json", body)).await;
        let error = model("claude-sonnet-4-6", &server)
            .count_tokens(&request())
            .await;
        assert_eq!(error.unwrap_err().kind, kind, "{body}");
    }
}

#[test]
fn an_estimate_has_all_that_is_sent() {
    let of = |request: &LlmRequest| TokenCount::estimate(request).tokens;
    let empty = of(&LlmRequest::default());
    assert_eq!(empty, 0);
    let base = of(&request());
    assert!((20..60).contains(&base), "{base}");
    let picture = Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("A".repeat(1_000_000)),
        origin: None,
    };
    let shown = LlmRequest::new(vec![ChatMessage::new(
        Role::User,
        vec![Part::Media(picture.clone())],
    )]);
    assert!(
        (1_000..3_000).contains(&of(&shown)),
        "a picture is not counted as text"
    );
    let result = petalflow::tool::ToolResult {
        content: json!([{"type": "text", "text": "Here"}, picture.to_block()]),
        ..petalflow::tool::ToolResult::default()
    };
    let result = LlmRequest::new(vec![ChatMessage::new(
        Role::Tool,
        vec![Part::Result(result)],
    )]);
    assert!((1_000..3_000).contains(&of(&result)), "nor one in a result");
    let japanese = of(&LlmRequest::prompt("日本語の文章です"));
    assert_eq!(japanese, 12);
}
