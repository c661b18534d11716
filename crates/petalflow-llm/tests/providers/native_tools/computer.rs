//! Computer use: calls of the program, in the forms of the providers.

use std::sync::Arc;

use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::native::ComputerUse;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    ChatMessage, LlmClient as _, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel,
};
use petalflow_llm_test_support::server::{ReceivedRequest, Server};
use serde_json::{Value, json};

use super::{asked, streamed, whole, with};

fn request() -> LlmRequest {
    let computer = ToolSpec::new(
        ComputerUse::NAME,
        "Uses a computer.",
        json!({"type": "object"}),
    );
    let look = ToolSpec::new("look", "Looks.", json!({"type": "object"}));
    with([ComputerUse::new()]).with_tools([Arc::new(computer), Arc::new(look)])
}

fn screenshot() -> Value {
    let source = MediaSource::Base64("aGk=".into());
    let media = Media {
        media_type: "image/png".into(),
        source,
        origin: None,
    };
    media.to_block()
}

/// The request with the results of the calls of an answer.
fn with_results(
    request: &LlmRequest,
    response: &LlmResponse,
    content: &Value,
    is_error: bool,
) -> LlmRequest {
    let mut messages = request.messages_with(response);
    let results = response.calls().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: content.clone(),
        is_error,
    });
    messages.push(ChatMessage::results(results));
    LlmRequest {
        messages: Arc::new(messages),
        input_text: None,
        ..request.clone()
    }
}

#[tokio::test]
async fn f44_5_openai_gets_a_screenshot_for_its_actions() {
    let checks = json!([{"id": "cu_sc_1", "code": "malicious_instructions", "message": "The screen asks for a transfer."}]);
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
        {"type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed", "pending_safety_checks": checks,
         "actions": [{"type": "click", "button": "left", "x": 10, "y": 20}, {"type": "type", "text": "hi"}]},
    ]);
    let body = json!({"id": "r", "status": "completed", "output": items});
    let mut sse: Vec<Value> = Vec::new();
    for (index, item) in items.as_array().unwrap().iter().enumerate() {
        let start = json!({"type": item["type"], "id": item["id"], "status": "in_progress"});
        sse.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": start}),
        );
        sse.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    sse.push(json!({"type": "response.completed", "response": body}));
    let model = "openai_resp::gpt-5.4";
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&sse)
        } else {
            whole(&body)
        };
        let (sent, response) = asked(model, &request(), vec![answered], is_streamed).await;
        // The provider has a declaration of its own for the computer.
        let kinds: Vec<&Value> = sent[0]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| &tool["type"])
            .collect();
        assert_eq!(kinds, ["function", "computer"]);
        assert_eq!(response.finish, Some(FinishReason::ToolCalls));
        let calls: Vec<_> = response.calls().collect();
        assert_eq!(calls.len(), 1, "streamed: {is_streamed}");
        assert_eq!((&*calls[0].id, &*calls[0].name), ("call_1", "computer"));
        assert_eq!(calls[0].arguments["actions"], items[1]["actions"]);
        assert_eq!(calls[0].arguments["pending_safety_checks"], checks);

        let next = with_results(&request(), &response, &screenshot(), false);
        let (sent, _) = asked(model, &next, vec![whole(&body)], false).await;
        let input = sent[0]["input"].as_array().unwrap();
        assert_eq!(
            input[..2],
            items.as_array().unwrap()[..],
            "streamed: {is_streamed}"
        );
        let output = json!({"type": "computer_call_output", "call_id": "call_1", "acknowledged_safety_checks": checks,
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="}});
        assert_eq!(input[2..], [output]);

        // A call that was not made has an output too, and a text that says why.
        let next = with_results(
            &request(),
            &response,
            &json!("the person has refused the call"),
            true,
        );
        let (sent, _) = asked(model, &next, vec![whole(&body)], false).await;
        let input = sent[0]["input"].as_array().unwrap();
        assert_eq!(input.len(), 4, "{input:?}");
        assert_eq!(input[2]["type"], "computer_call_output");
        let picture = input[2]["output"]["image_url"].as_str().unwrap();
        assert!(picture.starts_with("data:image/png;base64,"), "{picture}");
        let words = input[3]["content"].as_str().unwrap();
        assert!(words.contains("the person has refused the call"), "{words}");
    }
}

#[tokio::test]
async fn f44_5_the_actions_of_anthropic_are_calls_of_the_computer() {
    let blocks = json!([
        {"type": "text", "text": "I click."},
        {"type": "tool_use", "id": "toolu_1", "toolset_name": "computer", "name": "left_click", "input": {"coordinate": [10, 20]}},
        {"type": "tool_use", "id": "toolu_2", "toolset_name": "computer", "name": "screenshot", "input": {}},
        {"type": "tool_use", "id": "toolu_3", "name": "look", "input": {}},
    ]);
    let body = json!({"id": "m", "content": blocks, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let mut sse = vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
    ];
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let mut pieces = Vec::new();
        if let Some(text) = block["text"].as_str() {
            start["text"] = "".into();
            pieces.push(json!({"type": "text_delta", "text": text}));
        }
        if block["input"].is_object() {
            start["input"] = json!({});
        }
        if block["input"] != json!({}) && block["input"].is_object() {
            let text = block["input"].to_string();
            let (first, second) = text.split_at(5);
            pieces.extend(
                [first, second]
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
            );
        }
        sse.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        sse.extend(
            pieces.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        sse.push(json!({"type": "content_block_stop", "index": index}));
    }
    sse.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}));
    sse.push(json!({"type": "message_stop"}));
    let model = "claude-opus-5-5";
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&sse)
        } else {
            whole(&body)
        };
        let (sent, response) = asked(model, &request(), vec![answered], is_streamed).await;
        let tools = sent[0]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 2);
        assert_eq!(tools[0]["type"], "computer_toolset_20260801");
        assert_eq!(tools[1]["name"], "look");
        let calls: Vec<_> = response
            .calls()
            .map(|call| (&*call.name, &call.arguments))
            .collect();
        assert_eq!(
            calls,
            [
                ("computer", &json!({"left_click": {"coordinate": [10, 20]}})),
                ("computer", &json!({"screenshot": {}})),
                ("look", &json!({})),
            ],
            "streamed: {is_streamed}"
        );

        let next = with_results(&request(), &response, &screenshot(), false);
        let (sent, _) = asked(model, &next, vec![whole(&body)], false).await;
        let messages = &sent[0]["messages"];
        assert_eq!(messages[0]["content"], blocks, "streamed: {is_streamed}");
        let results = messages[1]["content"].as_array().unwrap();
        let sets: Vec<Option<&str>> = results
            .iter()
            .map(|result| result["toolset_name"].as_str())
            .collect();
        assert_eq!(sets, [Some("computer"), Some("computer"), None]);
        let blocks = results[1]["content"].as_array().unwrap();
        assert!(blocks.iter().any(|block| block["type"] == "image"));
    }

    // The answer ends in the middle of the first action.
    let mut cut = sse[..6].to_vec();
    cut.push(json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 5}}));
    cut.push(json!({"type": "message_stop"}));
    let server = Server::always(streamed(&cut)).await;
    let model = ProviderModel::new(model).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let stream = model.stream(&request()).await.unwrap();
    let error = stream.into_response().await.unwrap_err();
    let LlmErrorKind::Arguments { response } = error.kind else {
        panic!("{error:?}")
    };
    assert!(response.calls().all(|call| call.error.is_some()));
}

fn betas(request: &ReceivedRequest) -> Option<&str> {
    let mut lines = request.head.lines();
    lines.find_map(|line| line.strip_prefix("anthropic-beta: "))
}

/// Models before the set of tools have one tool, whose calls name the action. The forms are those of the types
/// `BetaToolComputerUse20241022Param` and of its successors in Anthropic's SDK.
#[tokio::test]
async fn f44_5_older_models_of_anthropic_have_one_tool() {
    let blocks = json!([
        {"type": "text", "text": "I click."},
        {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": {"action": "left_click", "coordinate": [10, 20]}},
    ]);
    let body = json!({"id": "m", "content": blocks, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let mut request = request();
    request.native_tools = with([ComputerUse::new().display(1280, 800)]).native_tools;
    for (name, version, beta) in [
        (
            "claude-3-5-sonnet-20241022",
            "computer_20241022",
            "computer-use-2024-10-22",
        ),
        (
            "claude-3-7-sonnet-20250219",
            "computer_20250124",
            "computer-use-2025-01-24",
        ),
        (
            "claude-sonnet-4-5",
            "computer_20250124",
            "computer-use-2025-01-24",
        ),
        (
            "claude-opus-4-5",
            "computer_20251124",
            "computer-use-2025-11-24",
        ),
        (
            "claude-sonnet-4-6",
            "computer_20251124",
            "computer-use-2025-11-24",
        ),
    ] {
        let server = Server::always(whole(&body)).await;
        let model = ProviderModel::new(name).unwrap().without_retry();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let response = model.complete(&request).await.unwrap();
        let call = response.calls().next().unwrap();
        assert_eq!(call.name, "computer");
        assert_eq!(
            call.arguments,
            json!({"action": "left_click", "coordinate": [10, 20]})
        );
        let next = with_results(&request, &response, &screenshot(), false);
        // Features of the program are sent too.
        let model = model.with_header("Anthropic-Beta", "context-1m-2025-08-07");
        model.complete(&next).await.unwrap();
        let sent = server.requests();
        let tools = sent[0].body["tools"].as_array().unwrap();
        let expected = json!({"type": version, "name": "computer", "display_width_px": 1280, "display_height_px": 800});
        assert_eq!((tools.len(), &tools[0]), (2, &expected), "{name}");
        assert_eq!(tools[1]["name"], "look");
        assert_eq!(betas(&sent[0]), Some(beta));
        let both = format!("{beta},context-1m-2025-08-07");
        assert_eq!(betas(&sent[1]), Some(&*both));
        let messages = sent[1].body["messages"].as_array().unwrap();
        let [.., answered, results] = &messages[..] else {
            panic!("{messages:?}")
        };
        assert_eq!(answered["content"], blocks);
        let result = &results["content"][0];
        assert_eq!(
            (&result["type"], &result["tool_use_id"]),
            (&json!("tool_result"), &json!("toolu_1"))
        );
        assert_eq!(result.get("toolset_name"), None);
        let content = result["content"].as_array().unwrap();
        assert!(content.iter().any(|block| block["type"] == "image"));

        // Without the size nothing is sent, and without the tool there is no header.
        request.native_tools = with([ComputerUse::new()]).native_tools;
        let error = model.complete(&request).await.unwrap_err();
        assert!(
            error.to_string().contains(
                "give it with `ComputerUse::display`, or with `Computer::display` of an agent"
            ),
            "{error}"
        );
        assert_eq!(server.requests().len(), 2);
        request.native_tools = with([ComputerUse::new().display(1280, 800)]).native_tools;
    }
    let server = Server::always(whole(&body)).await;
    let model = ProviderModel::new("claude-sonnet-4-6")
        .unwrap()
        .without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(betas(&server.requests()[0]), None);
    // The size is no setting that others refuse.
    let named = ["openai_resp::gpt-5.4", "claude-opus-5-5"];
    for (name, kind) in named
        .into_iter()
        .zip(["computer", "computer_toolset_20260801"])
    {
        let sent = super::sent(name, request.clone()).await;
        let tools = sent["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["type"] == kind).unwrap();
        assert_eq!(tool.get("display_width_px"), None);
    }
}
