//! Tools that a model finds with the tool search of its provider.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::request::PromptCache;
use petalflow_llm::{ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, ProviderModel};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

fn tool(name: &str) -> Arc<ToolSpec> {
    let schema = json!({ "type": "object", "properties": { "order": { "type": "integer" } } });
    Arc::new(ToolSpec::new(name, "Does it.", schema))
}

fn request() -> LlmRequest {
    LlmRequest::new(vec![ChatMessage::user("Order 7 was late.")])
        .with_tools([tool("look")])
        .with_searchable_tools([tool("refund_order"), tool("stop_delivery")])
}

/// Sends the request. Returns what was sent, and the request that follows the answer.
async fn sent(name: &str, request: &LlmRequest, answered: &Value) -> (Value, LlmRequest) {
    let server = Server::always(answer("200 OK", "application/json", &answered.to_string())).await;
    let model = ProviderModel::new(name)
        .unwrap()
        .with_base_url(server.url("/v1"))
        .with_key("k");
    let response = model.complete(request).await.unwrap();
    let next = LlmRequest {
        messages: Arc::new(request.messages_with(&response)),
        ..request.clone()
    };
    (server.requests().remove(0).body, next)
}

#[tokio::test]
async fn f44_anthropic_gets_tools_that_it_loads_when_they_are_found() {
    let blocks = json!([
        { "type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": { "query": "pay back" } },
        { "type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{ "type": "tool_reference", "tool_name": "refund_order" }]
        } },
        { "type": "tool_use", "id": "toolu_1", "name": "refund_order", "input": { "order": 7 } }
    ]);
    let answered = json!({ "content": blocks, "stop_reason": "tool_use" });
    let first = LlmRequest {
        prompt_cache: PromptCache::Short,
        ..request()
    };
    let (body, next) = sent("claude-sonnet-4-6", &first, &answered).await;
    let tools = body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "look",
            "refund_order",
            "stop_delivery",
            "tool_search_tool_bm25"
        ]
    );
    let loading: Vec<bool> = tools
        .iter()
        .map(|tool| tool["defer_loading"] == true)
        .collect();
    assert_eq!(loading, [false, true, true, false]);
    assert_eq!(
        tools[1]["input_schema"]["properties"]["order"]["type"],
        "integer"
    );
    assert_eq!(tools[3]["type"], "tool_search_tool_bm25_20251119");
    // Anthropic takes no mark on a tool that it loads later.
    let marked: Vec<bool> = tools
        .iter()
        .map(|tool| tool["cache_control"].is_object())
        .collect();
    assert_eq!(marked, [false, false, false, true]);

    // The search goes back as it came, before the call.
    let calls: Vec<&str> = next.messages[1].calls().map(|call| &*call.name).collect();
    assert_eq!(calls, ["refund_order"]);
    let result = petalflow::tool::ToolResult {
        call_id: "toolu_1".into(),
        name: "refund_order".into(),
        content: json!("done"),
        is_error: false,
    };
    let mut messages = next.messages.to_vec();
    messages.push(ChatMessage::results([result]));
    let next = LlmRequest {
        messages: Arc::new(messages),
        ..next
    };
    let (body, _) = sent("claude-sonnet-4-6", &next, &answered).await;
    assert_eq!(body["messages"][1]["content"], blocks);
}

#[tokio::test]
async fn f44_openai_gets_tools_that_it_loads_when_they_are_found() {
    let items = json!([
        { "type": "tool_search_call", "id": "tsc_1", "execution": "server", "call_id": null, "status": "completed",
          "arguments": { "paths": ["refund_order"] } },
        { "type": "tool_search_output", "id": "tso_1", "execution": "server", "call_id": null, "status": "completed",
          "tools": [{ "type": "function", "name": "refund_order", "defer_loading": true, "parameters": {} }] },
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "refund_order", "arguments": "{\"order\":7}",
          "status": "completed" }
    ]);
    let answered = json!({ "status": "completed", "output": items });
    let (body, next) = sent("openai_resp::gpt-5.4", &request(), &answered).await;
    let tools = body["tools"].as_array().unwrap();
    let kinds: Vec<&str> = tools
        .iter()
        .map(|tool| tool["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["function", "function", "function", "tool_search"]);
    let loading: Vec<bool> = tools
        .iter()
        .map(|tool| tool["defer_loading"] == true)
        .collect();
    assert_eq!(loading, [false, true, true, false]);
    assert_eq!(
        tools[1]["parameters"]["properties"]["order"]["type"],
        "integer"
    );

    let parts = &next.messages[1].parts;
    assert!(
        matches!(
            parts[..],
            [Part::Provider { .. }, Part::Provider { .. }, Part::Call(_)]
        ),
        "{parts:?}"
    );
    let (body, _) = sent("openai_resp::gpt-5.4", &next, &answered).await;
    let input = body["input"].as_array().unwrap();
    assert_eq!(input[1..3], items.as_array().unwrap()[..2]);
    assert_eq!(input[3]["name"], "refund_order");
}

#[tokio::test]
async fn f44_searchable_tools_without_a_tool_search_are_refused() {
    let able = |name: &str| ProviderModel::new(name).unwrap().capabilities().tool_search;
    for name in [
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "claude-sonnet-4-6",
        "openai_resp::gpt-5.4",
        "openai_resp::gpt-5.5",
    ] {
        assert!(able(name), "{name}");
    }
    for name in [
        "claude-haiku-4-5",
        "claude-opus-4-1",
        "claude-3-7-sonnet",
        "openai_resp::gpt-5.2",
        "openai_resp::gpt-5.4-nano",
        // The interface of chats has no such search.
        "openai::gpt-5.4",
        "gemini-3-pro",
        "vllm::qwen3",
    ] {
        assert!(!able(name), "{name}");
    }
    let server = Server::always(Vec::new()).await;
    let model = ProviderModel::new("gemini-3-pro")
        .unwrap()
        .with_base_url(server.url("/v1"))
        .with_key("k");
    let error = model.complete(&request()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Request);
    assert_eq!(
        error.to_string(),
        "model `gemini-3-pro` has no tool search: the request has searchable tools; use another model, or set \
         `Capabilities::tool_search` with `with_capabilities` if this is wrong"
    );
    assert_eq!(server.requests().len(), 0);
}
