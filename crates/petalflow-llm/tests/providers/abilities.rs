//! What models can do: requests that need something else are refused before anything is sent.

use std::sync::Arc;

use petalflow::tool::{ToolCall, ToolResult, ToolSpec};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::request::{Effort, PromptCache};
use petalflow_llm::{
    Capabilities, ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, ProviderModel, Role,
};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

fn capabilities(model: &str) -> Capabilities {
    ProviderModel::new(model).unwrap().capabilities()
}

fn media(media_type: &str) -> Media {
    Media {
        media_type: media_type.into(),
        source: MediaSource::Base64("aGk=".into()),
        origin: None,
    }
}

fn showing(media_type: &str) -> LlmRequest {
    let part = Part::Media(media(media_type));
    LlmRequest::new(vec![ChatMessage::new(Role::User, vec![part])])
}

fn with_tool() -> LlmRequest {
    let tool = ToolSpec::new("find", "Finds", json!({"type": "object", "properties": {}}));
    LlmRequest::prompt("hi").with_tools([Arc::new(tool)])
}

#[test]
fn models_are_known() {
    let able = capabilities("gpt-5-mini");
    assert!(able.reasoning && able.strict_schemas && able.schema_with_tools && able.images);
    assert!(!able.audio);
    let able = capabilities("gpt-4o");
    assert!(!able.reasoning && !able.audio && able.files);
    assert!(capabilities("gpt-4o-audio-preview").audio && !capabilities("gpt-3.5-turbo").images);
    let able = capabilities("claude-sonnet-4-6");
    assert!(able.reasoning && able.files && !able.audio && !able.embeddings);
    assert!(
        !capabilities("claude-3-5-haiku-latest").reasoning
            && capabilities("claude-3-7-sonnet").reasoning
    );
    let able = capabilities("gemini-2.5-flash");
    assert!(able.audio && able.video && able.embeddings && !able.schema_with_tools);
    // Of a server's models nothing is known: the server decides.
    assert_eq!(capabilities("vllm::qwen3"), Capabilities::default());
}

#[tokio::test]
async fn a_request_beyond_the_capabilities_is_refused_before_anything_is_sent() {
    let server = Server::always(Vec::new()).await;
    let effort = LlmRequest {
        effort: Some(Effort::Low),
        ..LlmRequest::prompt("hi")
    };
    let of_other = LlmRequest {
        model: Some("gpt-3.5-turbo".into()),
        ..showing("image/png")
    };
    for (name, request, expected) in [
        (
            "gpt-4o",
            effort.clone(),
            "model `gpt-4o` does not reason: the request has an effort; use another model, or set `Capabilities::reasoning` with `with_capabilities` if this is wrong",
        ),
        (
            "claude-3-5-haiku-latest",
            effort,
            "model `claude-3-5-haiku-latest` does not reason",
        ),
        (
            "gpt-4o",
            showing("audio/wav"),
            "model `gpt-4o` takes no audio: the request has media of type `audio/wav`",
        ),
        (
            "gpt-3.5-turbo",
            showing("image/png"),
            "model `gpt-3.5-turbo` takes no pictures",
        ),
        (
            "gpt-3.5-turbo",
            showing("application/pdf"),
            "model `gpt-3.5-turbo` takes no documents",
        ),
        (
            "claude-sonnet-4-6",
            showing("video/mp4"),
            "model `claude-sonnet-4-6` takes no videos",
        ),
        // The model that the request names counts.
        (
            "gpt-4o",
            of_other,
            "model `gpt-3.5-turbo` takes no pictures",
        ),
    ] {
        let model = ProviderModel::new(name)
            .unwrap()
            .with_base_url(server.url("/v1"));
        for error in [
            model.complete(&request).await.unwrap_err(),
            model.stream(&request).await.unwrap_err(),
            model.count_tokens(&request).await.unwrap_err(),
        ] {
            assert_eq!(error.kind, LlmErrorKind::Request);
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
    assert_eq!(server.requests().len(), 0);
}

/// The body that a model with these capabilities sends.
async fn body(name: &str, able: Capabilities, request: &LlmRequest) -> Value {
    let server = Server::always(answer("500 Oops", "text/plain", "")).await;
    let model = ProviderModel::new(name).unwrap().without_retry();
    let model = model
        .with_base_url(server.url("/v1"))
        .with_key("k")
        .with_capabilities(able);
    model.complete(request).await.unwrap_err();
    server.requests().remove(0).body
}

#[tokio::test]
async fn capabilities_are_switches() {
    let server = Server::always(Vec::new()).await;
    let model = ProviderModel::new("ollama::qwen3")
        .unwrap()
        .with_base_url(server.url("/v1"));
    let mut able = Capabilities::default();
    able.tools = false;
    able.embeddings = false;
    let model = model.with_capabilities(able);
    let error = model.complete(&with_tool()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("model `qwen3` calls no tools"),
        "{error}"
    );
    let error = model.embed(&["hi".into()]).await.unwrap_err();
    assert_eq!(error.to_string(), "provider `ollama` has no embeddings");
    assert_eq!(server.requests().len(), 0);

    let mut able = capabilities("gpt-4o");
    able.audio = true;
    let sent = body("gpt-4o", able, &showing("audio/wav")).await;
    assert_eq!(sent["messages"][0]["content"][0]["type"], "input_audio");
    let mut able = capabilities("claude-sonnet-4-6");
    able.prompt_cache = false;
    let cached = LlmRequest {
        prompt_cache: PromptCache::Long,
        ..LlmRequest::prompt("hi")
    };
    let sent = body("claude-sonnet-4-6", able, &cached).await;
    assert!(!sent.to_string().contains("cache_control"));
}

#[tokio::test]
async fn one_call_at_a_time_is_asked_for_in_the_words_of_each_provider() {
    for (name, path, expected) in [
        ("gpt-4o", "/parallel_tool_calls", json!(false)),
        ("gpt-5", "/parallel_tool_calls", json!(false)),
        (
            "claude-sonnet-4-6",
            "/tool_choice",
            json!({"type": "auto", "disable_parallel_tool_use": true}),
        ),
    ] {
        let mut able = capabilities(name);
        able.parallel_calls = false;
        assert_eq!(
            body(name, able, &with_tool()).await.pointer(path),
            Some(&expected)
        );
        let without_tools = body(name, able, &LlmRequest::prompt("hi")).await;
        assert_eq!(without_tools.pointer(path), None);
    }
}

#[tokio::test]
async fn a_medium_that_a_model_does_not_take_is_a_note_in_a_result() {
    let result = ToolResult {
        call_id: "a".into(),
        name: "draw".into(),
        content: json!([media("image/png").to_block()]),
        ..ToolResult::default()
    };
    let call = ToolCall {
        id: "a".into(),
        name: "draw".into(),
        ..ToolCall::default()
    };
    let request = LlmRequest::new(vec![
        ChatMessage::new(Role::Assistant, vec![Part::Call(call)]),
        ChatMessage::results([result]),
    ]);
    for name in ["gpt-4o", "gpt-5", "claude-sonnet-4-6", "gemini-2.5-flash"] {
        let mut able = capabilities(name);
        able.images = false;
        let sent = body(name, able, &request).await.to_string();
        assert!(
            sent.contains("not shown") && !sent.contains("aGk="),
            "{name}: {sent}"
        );
        let sent = body(name, capabilities(name), &request).await.to_string();
        assert!(sent.contains("aGk="), "{name}: {sent}");
    }
}

#[tokio::test]
async fn an_answer_with_tools_arrives_complete_where_it_cannot_be_streamed() {
    let whole = json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]});
    let server = Server::always(answer("200 OK", "application/json", &whole.to_string())).await;
    let mut able = Capabilities::default();
    able.streaming_with_tools = false;
    let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny").with_capabilities(able);
    let stream = model.stream(&with_tool()).await.unwrap();
    assert_eq!(stream.into_response().await.unwrap().text(), "Hello");
    assert_eq!(server.requests()[0].body["stream"], Value::Null);
    model.stream(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(server.requests()[1].body["stream"], true);
}
