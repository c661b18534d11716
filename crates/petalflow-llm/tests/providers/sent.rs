//! What is sent to each family of providers, where they differ: results of tools, thoughts, ids, schemas.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::message::{Media, MediaSource, Text};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Part, ProviderModel, Role};
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{ReceivedRequest, Server, answer};

/// What a model of this name is sent for the request.
async fn received_request(name: &str, path: &str, request: &LlmRequest) -> ReceivedRequest {
    let body = match name {
        _ if name.starts_with("claude") => {
            json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
        }
        _ if name.starts_with("gemini") => {
            json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]})
        }
        _ if name.starts_with("openai_resp") => {
            json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]})
        }
        _ => json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}),
    };
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let model = ProviderModel::new(name).unwrap();
    let model = model.with_base_url(server.url(path)).with_key("k");
    let response = model.complete(request).await;
    assert_eq!(response.unwrap().text(), "ok", "{name}");
    server.requests().remove(0)
}

fn call(id: &str, name: &str) -> Part {
    Part::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: json!({"n": 1}),
        ..ToolCall::default()
    })
}

fn result(id: &str, name: &str, content: Value) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: name.into(),
        content,
        is_error: false,
    }
}

fn error_result(id: &str, name: &str, content: Value) -> ToolResult {
    ToolResult {
        is_error: true,
        ..result(id, name, content)
    }
}

fn conversation(parts: Vec<Part>, results: Vec<ToolResult>) -> LlmRequest {
    LlmRequest::new(vec![
        ChatMessage::user("Go."),
        ChatMessage::new(Role::Assistant, parts),
        ChatMessage::results(results),
    ])
}

#[tokio::test]
async fn i004_gemini_is_sent_results_as_objects() {
    let calls = ["a", "b", "c", "d", "e"].map(|id| call(id, "x"));
    let request = conversation(
        calls.to_vec(),
        vec![
            result("a", "x", json!({"n": 1})),
            result("b", "x", json!("words")),
            result("c", "x", json!([1, 2])),
            error_result("d", "x", json!("no")),
            error_result("e", "", json!({"error": "gone"})),
        ],
    );
    let body = received_request("gemini-2.5-flash", "/v1beta", &request)
        .await
        .body;
    let parts = body["contents"][2]["parts"].as_array().unwrap();
    let responses: Vec<_> = parts
        .iter()
        .map(|part| part["functionResponse"]["response"].clone())
        .collect();
    assert_eq!(
        responses,
        [
            json!({"n": 1}),
            json!({"result": "words"}),
            json!({"result": [1, 2]}),
            json!({"error": "no"}),
            json!({"error": "gone"}),
        ]
    );
    assert_eq!(
        parts[4]["functionResponse"]["name"], "x",
        "the name of the call"
    );
}

#[tokio::test]
async fn gemini_gets_its_code_and_images_unchanged() {
    let picture = Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("aGk=".into()),
        origin: None,
    };
    let code = Part::Code {
        language: "PYTHON".into(),
        code: "1 + 1".into(),
        origin: None,
    };
    let printed = Part::CodeResult {
        outcome: "OUTCOME_OK".into(),
        output: "2".into(),
        origin: None,
    };
    let request = LlmRequest {
        system: Some("Be brief.".into()),
        input_text: Some("And now?".into()),
        ..LlmRequest::new(vec![
            ChatMessage::new(
                Role::User,
                vec![Part::text("Draw."), Part::Media(picture.clone())],
            ),
            ChatMessage::new(Role::Assistant, vec![code, printed, Part::Media(picture)]),
        ])
    };
    let body = received_request("gemini-3-pro", "/v1beta", &request)
        .await
        .body;
    let drawn = json!({"inlineData": {"mimeType": "image/png", "data": "aGk="}});
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Draw."}, drawn]},
            {"role": "model", "parts": [
                {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                drawn,
            ]},
            {"role": "user", "parts": [{"text": "And now?"}]},
        ])
    );
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
}

#[tokio::test]
async fn i004_the_failure_of_a_tool_is_sent_to_anthropic() {
    let request = conversation(
        vec![call("a", "x"), call("b", "x")],
        vec![
            result("a", "x", json!("fine")),
            error_result("b", "x", json!("no")),
        ],
    );
    let body = received_request("claude-sonnet-4-6", "/v1", &request)
        .await
        .body;
    assert_eq!(
        body["messages"][2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "fine"},
            {"type": "tool_result", "tool_use_id": "b", "content": "{\"error\":\"no\"}", "is_error": true},
        ]})
    );
}

#[tokio::test]
async fn anthropic_fetches_pictures() {
    let picture = Part::Media(Media {
        media_type: "image/png".into(),
        source: MediaSource::Url("https://example.com/map.png".into()),
        origin: None,
    });
    let message = ChatMessage::new(Role::User, vec![Part::text("Where?"), picture]);
    let body = received_request("claude-sonnet-4-6", "/v1", &LlmRequest::new(vec![message]))
        .await
        .body;
    assert_eq!(
        body["messages"][0]["content"][1],
        json!({"type": "image", "source": {"type": "url", "url": "https://example.com/map.png"}})
    );
}

#[tokio::test]
async fn thoughts_are_sent_back_to_providers_that_need_them() {
    let thought = Part::Thought("Hm.".into());
    let request = conversation(
        vec![thought, call("a", "x")],
        vec![result("a", "x", json!(1))],
    );
    for (name, path, wants) in [
        ("deepseek-reasoner", "/v1", true),
        ("moonshot::kimi-k2-thinking", "/v1", true),
        ("groq::openai/gpt-oss-120b", "/openai/v1", false),
    ] {
        let body = received_request(name, path, &request).await.body;
        let message = &body["messages"][1];
        assert_eq!(
            message["reasoning_content"] == "Hm.",
            wants,
            "{name}: {message}"
        );
        assert_eq!(message.get("reasoning_content").is_some(), wants, "{name}");
        assert_eq!(message["tool_calls"][0]["id"], "a", "{name}");
    }
}

#[tokio::test]
async fn responses_get_their_encrypted_thoughts_back() {
    let thought = Part::Thought(Text {
        text: "Hm.".into(),
        signature: Some("ZW5j".into()),
        origin: None,
    });
    let request = conversation(
        vec![thought, call("a", "x")],
        vec![result("a", "x", json!({"n": 1}))],
    );
    let body = received_request("openai_resp::gpt-5-codex", "/v1", &request)
        .await
        .body;
    assert_eq!(
        body["input"].as_array().unwrap()[1..],
        [
            json!({"type": "reasoning", "encrypted_content": "ZW5j", "summary": []}),
            json!({"type": "function_call", "call_id": "a", "name": "x", "arguments": "{\"n\":1}"}),
            json!({"type": "function_call_output", "call_id": "a", "output": "{\"n\":1}"}),
        ]
    );
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
}

#[tokio::test]
async fn calls_that_have_no_id_get_one_where_it_is_needed() {
    let request = conversation(
        vec![call("", "x"), call("", "y")],
        vec![result("", "y", json!(2)), result("", "x", json!(1))],
    );
    let body = received_request("mistral::mistral-small", "/v1", &request)
        .await
        .body;
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[1]["tool_calls"][0]["id"], "call00001");
    assert_eq!(messages[1]["tool_calls"][1]["id"], "call00002");
    assert_eq!(
        (&messages[2]["tool_call_id"], &messages[2]["content"]),
        (&json!("call00002"), &json!("2"))
    );
    assert_eq!(
        (&messages[3]["tool_call_id"], &messages[3]["content"]),
        (&json!("call00001"), &json!("1"))
    );
}

#[tokio::test]
async fn ollama_is_sent_ids_schemas_and_all_results() {
    let tool = ToolSpec::new("x", "Does x", json!({"type": "object"}));
    let request = conversation(
        vec![call("a", "x"), call("b", "x")],
        vec![result("a", "x", json!(1)), result("b", "x", json!(2))],
    )
    .with_tools([Arc::new(tool)])
    .with_schema(json!({"type": "object", "properties": {}}));
    let asked = received_request("ollama::qwen3:8b", "/v1", &request).await;
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.body["model"], "qwen3:8b");
    assert_eq!(asked.body["response_format"]["type"], "json_schema");
    let results: Vec<_> = asked.body["messages"].as_array().unwrap()[2..]
        .iter()
        .map(|result| (result["tool_call_id"].clone(), result["content"].clone()))
        .collect();
    assert_eq!(
        results,
        [(json!("a"), json!("1")), (json!("b"), json!("2"))]
    );
}

#[tokio::test]
async fn properties_of_tools_are_sent_in_their_order() {
    let schema = json!({ "type": "object", "propertyOrdering": ["size", "count"], "required": ["size"],
        "properties": { "count": { "type": "integer" }, "size": { "type": "string" } } });
    let mut request = LlmRequest::new(vec![ChatMessage::user("Go.")]);
    request.tools = [Arc::new(ToolSpec::new("order", "Orders.", schema))].into();
    for (name, path) in [
        ("openai_resp::gpt-5-codex", "/v1"),
        ("claude-sonnet-4-6", "/v1"),
        ("gemini-2.5-flash", "/v1beta"),
        ("ollama::qwen3:8b", "/v1"),
    ] {
        let text = received_request(name, path, &request).await.text;
        assert!(!text.contains("propertyOrdering"), "{name}: {text}");
        let at = |property: &str| text.find(property).expect("it is sent");
        assert!(at("\"size\":{") < at("\"count\":{"), "{name}: {text}");
    }
}

#[tokio::test]
async fn blank_text_is_not_sent_to_anthropic() {
    let request = LlmRequest {
        system: Some(" \n".into()),
        ..LlmRequest::new(vec![
            ChatMessage::user("\n\n"),
            ChatMessage::user("hello"),
            ChatMessage::new(
                Role::Assistant,
                vec![Part::text("\n\n"), call("c1", "look")],
            ),
            ChatMessage::results([result("c1", "look", json!(" "))]),
            ChatMessage::assistant(" "),
        ])
    };
    let body = received_request("claude-sonnet-4-6", "/v1", &request)
        .await
        .body;
    assert!(body["system"].is_null(), "{body}");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]},
        ])
    );
}

/// A conversation whose instructions change, also between a call and its result.
fn with_later_instructions() -> LlmRequest {
    LlmRequest {
        system: Some("You are brief.".into()),
        ..LlmRequest::new(vec![
            ChatMessage::system("Ask for the name."),
            ChatMessage::user("I am Ann."),
            ChatMessage::new(Role::Assistant, vec![call("c1", "go")]),
            ChatMessage::system("Ask for the city."),
            ChatMessage::results([result("c1", "go", json!("gone"))]),
            ChatMessage::assistant("Where?"),
            ChatMessage::system("Say goodbye."),
        ])
    }
}

#[tokio::test]
async fn later_system_messages_keep_their_place_at_anthropic() {
    let body = received_request("claude-sonnet-4-6", "/v1", &with_later_instructions())
        .await
        .body;
    assert_eq!(body["system"], "You are brief.\n\nAsk for the name.");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "I am Ann."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "go", "input": {"n": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "gone"}]},
            {"role": "user", "content": "<system>\nAsk for the city.\n</system>"},
            {"role": "assistant", "content": "Where?"},
            {"role": "user", "content": "<system>\nSay goodbye.\n</system>"},
        ])
    );
}

#[tokio::test]
async fn later_system_messages_keep_their_place_at_gemini() {
    let body = received_request("gemini-2.5-flash", "/v1beta", &with_later_instructions())
        .await
        .body;
    assert_eq!(
        body["systemInstruction"]["parts"][0]["text"],
        "You are brief.\nAsk for the name."
    );
    let texts = body["contents"].as_array().unwrap().iter();
    let texts: Vec<_> = texts
        .map(|turn| turn["parts"][0]["text"].as_str().unwrap_or("-"))
        .collect();
    assert_eq!(
        texts,
        [
            "I am Ann.",
            "-",
            "-",
            "<system>\nAsk for the city.\n</system>",
            "Where?",
            "<system>\nSay goodbye.\n</system>"
        ]
    );
}

#[tokio::test]
async fn a_conversation_of_instructions_only_begins_with_a_message() {
    let request = LlmRequest::new(vec![
        ChatMessage::system("Be brief."),
        ChatMessage::system("Say hello."),
    ]);
    let body = received_request("claude-sonnet-4-6", "/v1", &request)
        .await
        .body;
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(
        body["messages"][0]["content"],
        "<system>\nSay hello.\n</system>"
    );
}

#[tokio::test]
async fn ids_that_a_server_repeats_are_sent_once_in_a_request() {
    let turn = |content: &str| {
        let results = ChatMessage::results([result("call_0", "look", json!(content))]);
        [
            ChatMessage::new(Role::Assistant, vec![call("call_0", "look")]),
            results,
        ]
    };
    let mut messages = vec![ChatMessage::user("look")];
    messages.extend(turn("a").into_iter().chain(turn("b")));
    let body = received_request("openai::gpt-4o", "/v1", &LlmRequest::new(messages))
        .await
        .body;
    let messages = body["messages"].as_array().unwrap();
    let ids = messages[1..].iter();
    let ids: Vec<_> = ids
        .map(|message| {
            message["tool_call_id"]
                .as_str()
                .or_else(|| message["tool_calls"][0]["id"].as_str())
                .unwrap()
        })
        .collect();
    assert_eq!(ids, ["call_0", "call_0", "call00001", "call00001"]);
}

#[tokio::test]
async fn tools_of_a_provider_stand_beside_own_tools() {
    let tool = || Arc::new(ToolSpec::new("look", "Looks.", json!({"type": "object"})));
    for (name, path, own) in [
        ("openai_resp::gpt-5", "/v1", json!({"type": "web_search"})),
        (
            "claude-sonnet-4-6",
            "/v1",
            json!({"type": "web_search_20250305", "name": "web_search"}),
        ),
        ("gemini-2.5-flash", "/v1beta", json!({"googleSearch": {}})),
    ] {
        let mut request = LlmRequest::prompt("hi").with_tools([tool()]);
        request.extra.insert("tools".into(), json!([own]));
        let body = received_request(name, path, &request).await.body;
        let tools = body["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 2, "{name}");
        assert_eq!(tools[1], own, "{name}");
    }
}
