//! The three ways to an answer that follows a schema: the provider's field, a tool, and a prompt.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::request::{Effort, ToolChoice, TypedOutput};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmClient, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, end, event, events};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

fn typed() -> LlmRequest {
    LlmRequest::prompt("Where?").with_schema(schema())
}

fn by(way: TypedOutput) -> LlmRequest {
    LlmRequest {
        typed_output: Some(way),
        ..typed()
    }
}

fn with_find(request: LlmRequest) -> LlmRequest {
    let tool = ToolSpec::new("find", "Finds", json!({"type": "object", "properties": {}}));
    request.with_tools([Arc::new(tool)])
}

fn json_answer(body: &Value) -> Vec<Step> {
    answer("200 OK", "application/json", &body.to_string())
}

async fn asked(name: &str, body: &Value, request: &LlmRequest) -> (Value, LlmResponse) {
    let server = Server::always(json_answer(body)).await;
    let model = ProviderModel::new(name).unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("the-key");
    let response = model.complete(request).await.unwrap();
    (server.requests().remove(0).body, response)
}

fn chat_text(text: &str) -> Value {
    json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
}

fn chat_calls(calls: &[(&str, &str)]) -> Value {
    let calls = calls.iter().map(|(name, arguments)| {
        json!({"id": format!("of-{name}"), "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let message = json!({"content": null, "tool_calls": calls.collect::<Value>()});
    json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
}

#[tokio::test]
async fn each_model_has_its_way() {
    let text = chat_text(r#"{"city": "Bern"}"#);
    let call = chat_calls(&[("answer", r#"{"city": "Bern"}"#)]);
    let claude_call = json!({
        "content": [{"type": "tool_use", "id": "t1", "name": "answer", "input": {"city": "Bern"}}],
        "stop_reason": "tool_use",
    });
    let claude_text = json!({"content": [{"type": "text", "text": r#"{"city": "Bern"}"#}], "stop_reason": "end_turn"});
    for (model, body, way) in [
        ("gpt-4o", &text, TypedOutput::Schema),
        ("gpt-4o-2024-05-13", &call, TypedOutput::Tool),
        ("gpt-3.5-turbo", &call, TypedOutput::Tool),
        ("groq::llama-3.3-70b-versatile", &call, TypedOutput::Tool),
        ("groq::openai/gpt-oss-20b", &text, TypedOutput::Schema),
        ("deepseek-chat", &text, TypedOutput::Prompt),
        ("kimi::kimi-k2", &text, TypedOutput::Prompt),
        ("vllm::qwen3", &text, TypedOutput::Schema),
        ("claude-sonnet-4-5", &claude_text, TypedOutput::Schema),
        ("claude-opus-4-1", &claude_call, TypedOutput::Tool),
        ("claude-3-5-haiku-latest", &claude_call, TypedOutput::Tool),
        ("minimax::MiniMax-M2", &claude_text, TypedOutput::Prompt),
    ] {
        let (sent, response) = asked(model, body, &typed()).await;
        assert_eq!(response.json, Some(json!({"city": "Bern"})), "{model}");
        assert_eq!(response.finish, Some(FinishReason::Stop), "{model}");
        assert_eq!(response.calls().count(), 0, "{model}");
        assert_eq!(
            response.text().replace(' ', ""),
            r#"{"city":"Bern"}"#,
            "{model}"
        );
        let format = &sent["response_format"]["type"];
        let has_field = *format == "json_schema" || sent.get("output_config").is_some();
        assert_eq!(has_field, way == TypedOutput::Schema, "{model}: {sent}");
        assert_eq!(
            sent.get("tools").is_some(),
            way == TypedOutput::Tool,
            "{model}: {sent}"
        );
        let is_told = sent.to_string().contains("conform to this JSON Schema");
        assert_eq!(is_told, way == TypedOutput::Prompt, "{model}: {sent}");
    }
    let (sent, _) = asked("gpt-3.5-turbo", &call, &typed()).await;
    assert_eq!(sent["tools"][0]["function"]["parameters"], schema());
    assert_eq!(sent["tools"][0]["function"].get("strict"), None);
    let forced = json!({"type": "function", "function": {"name": "answer"}});
    assert_eq!(sent["tool_choice"], forced);
    let (sent, _) = asked("deepseek-chat", &text, &typed()).await;
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    let (sent, _) = asked("deepseek-chat", &text, &with_find(typed())).await;
    assert_eq!(
        sent.get("response_format"),
        None,
        "calls are not such objects"
    );
}

#[tokio::test]
async fn a_request_chooses_another_way() {
    let call = chat_calls(&[("answer", r#"{"city": "Bern"}"#)]);
    let (sent, response) = asked("gpt-4o", &call, &by(TypedOutput::Tool)).await;
    assert_eq!(
        sent["tools"][0]["function"]["strict"], true,
        "the tool is enforced where tools are"
    );
    assert_eq!(response.json, Some(json!({"city": "Bern"})));

    let fenced = chat_text("```json\n{\"city\": \"Bern\"}\n```");
    let (sent, response) = asked("gpt-4o", &fenced, &by(TypedOutput::Prompt)).await;
    assert_eq!(
        (sent.get("tools"), sent.get("response_format")),
        (None, None)
    );
    assert_eq!(response.json, Some(json!({"city": "Bern"})));

    let (sent, _) = asked("deepseek-chat", &chat_text("{}"), &by(TypedOutput::Schema)).await;
    assert_eq!(sent["response_format"]["type"], "json_schema");
    // A model that cannot be forced reads the schema.
    let (sent, _) = asked("ollama::qwen3", &chat_text("{}"), &by(TypedOutput::Tool)).await;
    assert_eq!(sent.get("tools"), None);
    // Claude thinks on, and is told.
    let thinking = LlmRequest {
        effort: Some(Effort::High),
        ..typed()
    };
    let text = json!({"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"});
    let (sent, _) = asked("claude-opus-4-1", &text, &thinking).await;
    assert_eq!(
        (sent.get("tools"), &sent["thinking"]["type"]),
        (None, &json!("enabled"))
    );
    assert!(
        sent["system"]
            .as_str()
            .unwrap()
            .contains("conform to this JSON Schema")
    );
}

#[tokio::test]
async fn the_answer_is_one_of_several_tools() {
    let named_answer = ToolSpec::new("answer", "Answers the phone", json!({"type": "object"}));
    let request = typed().with_tools([Arc::new(named_answer)]);
    let calls = chat_calls(&[("answer_2", r#"{"city": "Bern"}"#), ("answer", "{}")]);
    let (sent, response) = asked("gpt-3.5-turbo", &calls, &request).await;
    assert_eq!(sent["tools"][1]["function"]["name"], "answer_2");
    assert_eq!(sent["tool_choice"], "required");
    assert_eq!(response.json, Some(json!({"city": "Bern"})));
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    let called: Vec<_> = response.calls().map(|call| &*call.id).collect();
    assert_eq!(called, ["of-answer"]);

    let only_find = chat_calls(&[("find", "{}")]);
    let (_, response) = asked("gpt-3.5-turbo", &only_find, &with_find(typed())).await;
    assert_eq!(
        (response.json.as_ref(), response.calls().count()),
        (None, 1)
    );
    let of_tool = LlmRequest {
        tool_choice: ToolChoice::Tool("find".into()),
        ..with_find(typed())
    };
    let (sent, _) = asked("gpt-3.5-turbo", &only_find, &of_tool).await;
    assert_eq!(sent["tool_choice"]["function"]["name"], "find");
}

#[tokio::test]
async fn a_call_with_the_answer_streams_as_text() {
    let piece = |value: Value| event(&json!({"choices": [{"delta": {"tool_calls": [value]}}]}));
    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [{"delta": {"content": "Well: "}}]})),
        piece(json!({"index": 0, "id": "a", "function": {"name": "answer", "arguments": "{\"ci"}})),
        piece(json!({"index": 0, "function": {"arguments": "ty\": \"Bern\"}"}})),
        piece(json!({"index": 1, "id": "b", "function": {"name": "find", "arguments": "{}"}})),
        event(&json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})),
        end(),
    ])
    .await;
    let model = ProviderModel::new("gpt-3.5-turbo").unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("the-key");
    let stream = model.stream(&with_find(typed())).await.unwrap();
    let response = stream.into_response().await.unwrap();
    assert_eq!(response.text(), r#"Well: {"city": "Bern"}"#);
    assert_eq!(response.json, Some(json!({"city": "Bern"})));
    let calls: Vec<_> = response
        .calls()
        .map(|call| (&*call.name, &*call.id))
        .collect();
    assert_eq!(calls, [("find", "b")]);
}

#[tokio::test]
async fn an_answer_that_was_cut_is_no_answer() {
    let mut cut = chat_calls(&[("answer", r#"{"city": "Be"#)]);
    cut["choices"][0]["finish_reason"] = "length".into();
    let (_, response) = asked("gpt-3.5-turbo", &cut, &typed()).await;
    assert_eq!(
        (response.json, response.finish),
        (None, Some(FinishReason::Length))
    );
}
