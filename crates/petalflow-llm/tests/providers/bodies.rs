//! The bodies of requests, beside the documents of each provider: schemas, tools, reasoning, media, caching.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::tool::schema;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{ToolCall, ToolResult, ToolSpec};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::request::{Effort, PromptCache, ToolChoice};
use petalflow_llm::{ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, ProviderModel, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{Server, answer};

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Order {
    /// Pieces.
    count: u32,
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Tree {
    children: Vec<Tree>,
}

/// The body that a model of this name sends. The answer is an error for each family, which does not matter.
async fn body(model: &str, request: &LlmRequest) -> Value {
    let server = Server::always(answer("500 Oops", "text/plain", "")).await;
    let model = ProviderModel::new(model).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    model.complete(request).await.unwrap_err();
    server.requests().remove(0).body
}

fn strict_order() -> Value {
    petalflow_llm::schema::strict(&schema::of::<Order>()).unwrap()
}

fn with_tool(schema: Value) -> LlmRequest {
    LlmRequest {
        tool_choice: ToolChoice::Tool("order".into()),
        ..LlmRequest::prompt("hi").with_tools([Arc::new(ToolSpec::new("order", "Orders", schema))])
    }
}

#[tokio::test]
async fn schemas_are_strict_where_the_provider_enforces_them() {
    let request = LlmRequest::prompt("hi").with_schema(schema::of::<Order>());
    let strict = strict_order();
    assert_eq!(
        body("gpt-4o-mini", &request).await["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": strict}})
    );
    assert_eq!(
        body("gpt-5-mini", &request).await["text"],
        json!({"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": strict}})
    );
    assert_eq!(
        body("claude-sonnet-4-6", &request).await["output_config"],
        json!({"format": {"type": "json_schema", "schema": strict}})
    );
    let gemini = body("gemini-2.5-flash", &request).await;
    assert_eq!(
        gemini["generationConfig"],
        json!({"responseMimeType": "application/json", "responseJsonSchema": schema::of::<Order>()})
    );
}

#[tokio::test]
async fn schemas_without_a_strict_form_are_sent_without_it() {
    for neutral in [schema::of::<Tree>(), schema::of::<BTreeMap<u32, u8>>()] {
        let request = LlmRequest::prompt("hi").with_schema(neutral.clone());
        let sent = body("gpt-4o-mini", &request).await;
        assert_eq!(
            sent["response_format"]["json_schema"],
            json!({"name": "answer", "strict": false, "schema": neutral})
        );
        let sent = body("claude-sonnet-4-6", &request).await;
        assert_eq!(sent.get("output_config"), None);
        let system = sent["system"].as_str().unwrap();
        assert!(system.ends_with(&neutral.to_string()), "{system}");
        let tool = body("claude-sonnet-4-6", &with_tool(neutral.clone())).await;
        assert_eq!(
            tool["tools"],
            json!([{"name": "order", "description": "Orders", "input_schema": neutral}])
        );
    }
}

#[tokio::test]
async fn tools_are_sent_as_each_family_documents() {
    let (request, strict) = (with_tool(schema::of::<Order>()), strict_order());
    let chat = body("gpt-4o-mini", &request).await;
    assert_eq!(
        (&chat["tools"], &chat["tool_choice"]),
        (
            &json!([{"type": "function", "function": {
                "name": "order", "description": "Orders", "parameters": strict, "strict": true,
            }}]),
            &json!({"type": "function", "function": {"name": "order"}})
        )
    );
    let responses = body("gpt-5-mini", &request).await;
    assert_eq!(
        (&responses["tools"], &responses["tool_choice"]),
        (
            &json!([{"type": "function", "name": "order", "description": "Orders", "parameters": strict, "strict": true}]),
            &json!({"type": "function", "name": "order"})
        )
    );
    let messages = body("claude-sonnet-4-6", &request).await;
    assert_eq!(
        (&messages["tools"], &messages["tool_choice"]),
        (
            &json!([{"name": "order", "description": "Orders", "input_schema": strict, "strict": true}]),
            &json!({"type": "tool", "name": "order"})
        )
    );
    let gemini = body("gemini-2.5-flash", &request).await;
    assert_eq!(
        (&gemini["tools"], &gemini["toolConfig"]),
        (
            &json!([{"functionDeclarations": [{
                "name": "order", "description": "Orders", "parametersJsonSchema": schema::of::<Order>(),
            }]}]),
            &json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["order"]}})
        )
    );
}

#[tokio::test]
async fn servers_of_others_get_no_field_that_they_may_not_know() {
    let sent = body("groq::llama-4", &with_tool(schema::of::<Order>())).await;
    assert_eq!(sent["tools"][0]["function"].get("strict"), None);
    assert_eq!(
        sent["tools"][0]["function"]["parameters"],
        schema::of::<Order>()
    );
    for (model, field) in [("mistral::m", "random_seed"), ("groq::m", "seed")] {
        let request = LlmRequest {
            seed: Some(7),
            ..LlmRequest::prompt("hi")
        };
        assert_eq!(body(model, &request).await[field], 7, "{model}");
    }
}

#[tokio::test]
async fn reasoning_is_requested_as_each_model_takes_it() {
    let with = |effort| LlmRequest {
        effort: Some(effort),
        ..LlmRequest::prompt("hi")
    };
    let high = with(Effort::High);
    assert_eq!(body("o3-mini", &high).await["reasoning_effort"], "high");
    let sent = body("gpt-5-mini", &high).await;
    assert_eq!(
        sent["reasoning"],
        json!({"summary": "auto", "effort": "high"})
    );
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
    let sent = body("openai_resp::gpt-4o", &LlmRequest::prompt("hi")).await;
    assert_eq!((sent.get("reasoning"), sent.get("include")), (None, None));
    let sent = body("claude-sonnet-4-6", &high).await;
    assert_eq!(
        sent["thinking"],
        json!({"type": "adaptive", "display": "summarized"})
    );
    assert_eq!(sent["output_config"], json!({"effort": "high"}));
    let sent = body("claude-sonnet-4-5", &high).await;
    assert_eq!(
        sent["thinking"],
        json!({"type": "enabled", "budget_tokens": 24_000})
    );
    let few = LlmRequest {
        max_tokens: Some(2_000),
        ..high.clone()
    };
    let sent = body("claude-sonnet-4-5", &few).await;
    assert_eq!(sent["thinking"]["budget_tokens"], 1_999);
    let sent = body("gemini-3-pro", &high).await;
    assert_eq!(
        sent["generationConfig"]["thinkingConfig"],
        json!({"thinkingLevel": "HIGH", "includeThoughts": true})
    );
    let sent = body("deepseek-chat", &with(Effort::Minimal)).await;
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn a_conversation_is_marked_for_the_cache_at_its_ends() {
    let conversation = LlmRequest {
        system: Some("Be brief.".into()),
        prompt_cache: PromptCache::Short,
        ..LlmRequest::new(vec![
            ChatMessage::user("One?"),
            ChatMessage::assistant("1"),
            ChatMessage::user("Two?"),
        ])
    };
    let sent = body("claude-sonnet-4-6", &conversation).await;
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent["system"],
        json!([{"type": "text", "text": "Be brief.", "cache_control": mark}])
    );
    assert_eq!(
        sent["messages"][2]["content"],
        json!([{"type": "text", "text": "Two?", "cache_control": mark}])
    );
    assert_eq!(sent["messages"][0]["content"], "One?");
    let long = LlmRequest {
        system: None,
        prompt_cache: PromptCache::Long,
        ..with_tool(json!({"type": "object"}))
    };
    let sent = body("claude-sonnet-4-6", &long).await;
    assert_eq!(
        sent["tools"][0]["cache_control"],
        json!({"type": "ephemeral", "ttl": "1h"})
    );
    let automatic = LlmRequest {
        prompt_cache: PromptCache::Automatic,
        ..conversation
    };
    let sent = body("claude-sonnet-4-6", &automatic).await;
    assert!(!sent.to_string().contains("cache_control"));
}

fn asking_about(media_type: &str, source: MediaSource) -> LlmRequest {
    let media = Part::Media(Media {
        media_type: media_type.into(),
        source,
        origin: None,
    });
    LlmRequest::new(vec![ChatMessage::new(
        Role::User,
        vec![Part::text("What?"), media],
    )])
}

#[tokio::test]
async fn media_are_sent_as_each_family_documents() {
    let data = || MediaSource::Base64("aGk=".into());
    let url = || MediaSource::Url("https://example.com/x".into());
    for (model, media_type, source, path, expected) in [
        (
            "gpt-4o",
            "image/png",
            data(),
            "/messages/0/content/1",
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}),
        ),
        (
            "gpt-4o",
            "image/png",
            url(),
            "/messages/0/content/1",
            json!({"type": "image_url", "image_url": {"url": "https://example.com/x"}}),
        ),
        (
            "gpt-4o-audio-preview",
            "audio/mpeg",
            data(),
            "/messages/0/content/1",
            json!({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}),
        ),
        (
            "gpt-4o",
            "application/pdf",
            data(),
            "/messages/0/content/1",
            json!({"type": "file", "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,aGk="}}),
        ),
        (
            "gpt-5",
            "image/png",
            data(),
            "/input/0/content/1",
            json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="}),
        ),
        (
            "gpt-5",
            "application/pdf",
            url(),
            "/input/0/content/1",
            json!({"type": "input_file", "file_url": "https://example.com/x"}),
        ),
        (
            "claude-sonnet-4-6",
            "image/png",
            data(),
            "/messages/0/content/1",
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}),
        ),
        (
            "claude-sonnet-4-6",
            "application/pdf",
            url(),
            "/messages/0/content/1",
            json!({"type": "document", "source": {"type": "url", "url": "https://example.com/x"}}),
        ),
        (
            "gemini-2.5-flash",
            "audio/wav",
            data(),
            "/contents/0/parts/1",
            json!({"inlineData": {"mimeType": "audio/wav", "data": "aGk="}}),
        ),
        (
            "gemini-2.5-flash",
            "video/mp4",
            url(),
            "/contents/0/parts/1",
            json!({"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/x"}}),
        ),
    ] {
        let sent = body(model, &asking_about(media_type, source)).await;
        assert_eq!(sent.pointer(path), Some(&expected), "{model}, {media_type}");
    }
}

#[tokio::test]
async fn media_that_a_provider_does_not_take_are_an_error_and_not_left_out() {
    let document = asking_about(
        "application/pdf",
        MediaSource::Url("https://example.com/x".into()),
    );
    let sound = asking_about("audio/wav", MediaSource::Base64("aGk=".into()));
    for (model, request, expected) in [
        (
            "gpt-4o",
            &document,
            "this provider accepts no media of type `application/pdf` by URL; load it, and send its data as base64",
        ),
        (
            "gpt-5",
            &sound,
            "model `gpt-5` takes no audio: the request has media of type `audio/wav`; use another model, or set \
             `Capabilities::audio` with `with_capabilities` if this is wrong",
        ),
        (
            "claude-sonnet-4-6",
            &sound,
            "model `claude-sonnet-4-6` takes no audio: the request has media of type `audio/wav`; use another model, or \
             set `Capabilities::audio` with `with_capabilities` if this is wrong",
        ),
    ] {
        let model = ProviderModel::new(model)
            .unwrap()
            .without_retry()
            .with_key("k");
        let error = model.complete(request).await.unwrap_err();
        assert_eq!(
            (error.kind.clone(), error.to_string().as_str()),
            (LlmErrorKind::Request, expected)
        );
    }
}

#[tokio::test]
async fn media_in_the_result_of_a_tool_are_sent_as_media() {
    let picture = Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("aGk=".into()),
        origin: None,
    };
    let call = ToolCall {
        id: "a".into(),
        name: "draw".into(),
        ..ToolCall::default()
    };
    let result = ToolResult {
        call_id: "a".into(),
        name: "draw".into(),
        content: json!({"output": [{"type": "text", "text": "Here."}, picture.to_block()]}),
        is_error: false,
    };
    let request = LlmRequest::new(vec![
        ChatMessage::user("Draw."),
        ChatMessage::new(Role::Assistant, vec![Part::Call(call)]),
        ChatMessage::results([result]),
    ]);
    let rest = json!({"output": [
        {"type": "text", "text": "Here."},
        {"type": "image", "media_type": "image/png", "note": "attached"},
    ]});
    let chat = body("gpt-4o", &request).await;
    assert_eq!(chat["messages"][2]["content"], rest.to_string());
    assert_eq!(
        chat["messages"][3],
        json!({"role": "user", "content": [
            {"type": "text", "text": "Attached to the result of the tool `draw`:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        ]})
    );
    let responses = body("gpt-5", &request).await;
    assert_eq!(
        responses["input"][2]["output"],
        json!([
            {"type": "input_text", "text": rest.to_string()},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
        ])
    );
    let messages = body("claude-sonnet-4-6", &request).await;
    assert_eq!(
        messages["messages"][2]["content"][0]["content"],
        json!([
            {"type": "text", "text": rest.to_string()},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ])
    );
    let gemini = body("gemini-2.5-flash", &request).await;
    assert_eq!(
        gemini["contents"][2]["parts"],
        json!([
            {"functionResponse": {"id": "a", "name": "draw", "response": rest}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        ])
    );
}

#[tokio::test]
async fn media_in_a_result_that_a_provider_does_not_take_are_a_note() {
    let sound = Media {
        media_type: "audio/wav".into(),
        source: MediaSource::Base64("aGk=".into()),
        origin: None,
    };
    let call = ToolCall {
        id: "a".into(),
        name: "sing".into(),
        ..ToolCall::default()
    };
    let result = ToolResult {
        call_id: "a".into(),
        name: "sing".into(),
        content: sound.to_block(),
        is_error: false,
    };
    let sent = body(
        "claude-sonnet-4-6",
        &LlmRequest::new(vec![
            ChatMessage::new(Role::Assistant, vec![Part::Call(call)]),
            ChatMessage::results([result]),
        ]),
    )
    .await;
    let note = json!({
        "type": "audio",
        "media_type": "audio/wav",
        "note": "not shown: this provider does not take it",
    });
    assert_eq!(
        sent["messages"][1]["content"][0]["content"],
        note.to_string()
    );
}

#[tokio::test]
async fn extra_options_are_merged_into_the_request() {
    let extra = json!({"generationConfig": {"topK": 5}, "safetySettings": []});
    let request = LlmRequest {
        temperature: Some(0.5),
        extra: extra.as_object().unwrap().clone(),
        ..LlmRequest::prompt("hi")
    };
    let sent = body("gemini-2.5-flash", &request).await;
    assert_eq!(
        sent["generationConfig"],
        json!({"temperature": 0.5, "topK": 5})
    );
    assert_eq!(sent["safetySettings"], json!([]));
}
