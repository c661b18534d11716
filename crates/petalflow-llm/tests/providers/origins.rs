//! Threads that change their model: what is sent back to the provider that wrote it, and left out for others.

use petalflow::tool::ToolResult;
use petalflow_llm::{
    ChatMessage, FallbackModel, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel,
};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use serde_json::{Value, json};

/// An answer of a provider, with a thought, a call, and something that only the provider understands.
struct Answer {
    model: &'static str,
    provider: &'static str,
    whole: Value,
    streamed: Vec<Value>,
    /// What only this provider is sent back.
    own: &'static [&'static str],
}

fn anthropic() -> Answer {
    let blocks = json!([
        {"type": "thinking", "thinking": "I look.", "signature": "SIG-anthropic"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "PETALS"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "encrypted_content": "ENC-anthropic"}]},
        {"type": "text", "text": "Let me see.", "citations": [{"type": "web_search_result_location", "encrypted_index": "CITE-anthropic"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "petals"}},
    ]);
    let container = json!({"id": "container_1", "expires_at": "2026-01-01"});
    let mut streamed = vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
    ];
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let (mut start, deltas) = (block.clone(), pieces(block));
        for field in ["thinking", "signature", "text"] {
            if start.get(field).is_some() {
                start[field] = "".into();
            }
        }
        if start.get("input").is_some() {
            start["input"] = json!({});
        }
        start.as_object_mut().unwrap().remove("citations");
        streamed
            .push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        streamed.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        streamed.push(json!({"type": "content_block_stop", "index": index}));
    }
    streamed.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "container": container}, "usage": {"output_tokens": 5}}));
    streamed.push(json!({"type": "message_stop"}));
    Answer {
        model: "claude-sonnet-4-6",
        provider: "anthropic",
        whole: json!({"id": "m", "content": blocks, "container": container, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 5}}),
        streamed,
        own: &[
            "SIG-anthropic",
            "ENC-anthropic",
            "CITE-anthropic",
            "PETALS",
            "container_1",
        ],
    }
}

/// The pieces of a block of Anthropic.
fn pieces(block: &Value) -> Vec<Value> {
    let mut pieces = Vec::new();
    if let Some(text) = block["thinking"].as_str() {
        pieces.push(json!({"type": "thinking_delta", "thinking": text}));
        pieces.push(json!({"type": "signature_delta", "signature": block["signature"]}));
    }
    for citation in block["citations"].as_array().into_iter().flatten() {
        pieces.push(json!({"type": "citations_delta", "citation": citation}));
    }
    if let Some(text) = block["text"].as_str() {
        pieces.push(json!({"type": "text_delta", "text": text}));
    }
    if let Some(input) = block.get("input") {
        let text = input.to_string();
        let (first, second) = text.split_at(5);
        pieces.push(json!({"type": "input_json_delta", "partial_json": first}));
        pieces.push(json!({"type": "input_json_delta", "partial_json": second}));
    }
    pieces
}

fn openai() -> Answer {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look."}], "encrypted_content": "SIG-openai"},
        {"type": "web_search_call", "id": "ws_openai", "status": "completed", "action": {"type": "search", "query": "petals"}},
        {"type": "message", "id": "msg_openai", "status": "completed", "phase": "commentary", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]},
        {"type": "function_call", "id": "fc_openai", "status": "completed", "call_id": "call_1", "name": "look", "arguments": "{\"at\":\"petals\"}"},
    ]);
    let whole = json!({"id": "r", "status": "completed", "output": items});
    let done = items.as_array().unwrap().iter().enumerate();
    let mut streamed: Vec<_> = done
        .map(|(index, item)| json!({"type": "response.output_item.done", "output_index": index, "item": item}))
        .collect();
    let summary = json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "I look."});
    streamed.insert(0, summary);
    streamed.push(json!({"type": "response.completed", "response": whole}));
    Answer {
        model: "gpt-5",
        provider: "openai",
        whole,
        streamed,
        own: &[
            "SIG-openai",
            "rs_1",
            "ws_openai",
            "msg_openai",
            "fc_openai",
            "commentary",
        ],
    }
}

fn gemini() -> Answer {
    let parts = json!([
        {"text": "I look.", "thought": true},
        {"executableCode": {"id": "code_gemini", "language": "PYTHON", "code": "1 + 1"}, "thoughtSignature": "CODE-gemini"},
        {"codeExecutionResult": {"id": "code_gemini", "outcome": "OUTCOME_OK", "output": "2"}, "thoughtSignature": "RESULT-gemini"},
        {"toolCall": {"id": "tool_gemini", "toolType": "GOOGLE_SEARCH"}, "thoughtSignature": "TOOL-gemini"},
        {"toolResponse": {"id": "tool_gemini", "toolType": "GOOGLE_SEARCH"}},
        {"text": "Let me see."},
        {"functionCall": {"name": "look", "args": {"at": "petals"}}, "thoughtSignature": "SIG-gemini"},
    ]);
    let whole = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let chunks = parts.as_array().unwrap().iter();
    let mut streamed: Vec<_> = chunks
        .map(|part| json!({"candidates": [{"content": {"parts": [part]}}]}))
        .collect();
    streamed.push(json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}));
    Answer {
        model: "gemini-3-pro",
        provider: "gemini",
        whole,
        streamed,
        own: &[
            "CODE-gemini",
            "RESULT-gemini",
            "TOOL-gemini",
            "SIG-gemini",
            "code_gemini",
            "tool_gemini",
        ],
    }
}

fn open_router() -> Answer {
    let details = json!([{"type": "reasoning.encrypted", "data": "SIG-openrouter", "id": "rd_1", "index": 0}]);
    let extra = json!({"google": {"thought_signature": "EXTRA-openrouter"}});
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"petals\"}"}, "extra_content": extra});
    let image = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,IMAGEopenrouter"}}]);
    let message = json!({"role": "assistant", "content": "Let me see.", "reasoning": "I look.", "reasoning_details": details, "images": image, "tool_calls": [call]});
    let piece = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    Answer {
        model: "open_router::google/gemini-3",
        provider: "open_router",
        whole: json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}),
        streamed: vec![
            piece(
                json!({"reasoning": "I look.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "SIG-", "id": "rd_1", "index": 0}]}),
            ),
            piece(
                json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "openrouter", "index": 0}]}),
            ),
            piece(json!({"content": "Let me see."})),
            piece(json!({"images": image})),
            piece(json!({"tool_calls": [call]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ],
        own: &["SIG-openrouter", "EXTRA-openrouter"],
    }
}

fn steps(answered: &Answer, streamed: bool) -> Vec<Step> {
    if !streamed {
        return answer("200 OK", "application/json", &answered.whole.to_string());
    }
    let pieces = answered
        .streamed
        .iter()
        .map(|event| chunk(&format!("data: {event}\n\n")));
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = ProviderModel::new(name).unwrap().without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

async fn ask(model: &impl LlmClient, request: &LlmRequest, streamed: bool) -> LlmResponse {
    if streamed {
        model
            .stream(request)
            .await
            .unwrap()
            .into_response()
            .await
            .unwrap()
    } else {
        model.complete(request).await.unwrap()
    }
}

/// The next request after this answer, as it is loaded from a store.
async fn next_request(answered: &Answer, streamed: bool) -> LlmRequest {
    let server = Server::always(steps(answered, streamed)).await;
    let request = LlmRequest::new(vec![ChatMessage::user("What is it?")]);
    let response = ask(&model(answered.model, &server), &request, streamed).await;
    assert_eq!(response.text(), "Let me see.", "{}", answered.model);
    let call = response.calls().next().unwrap().clone();
    let result = ToolResult {
        call_id: call.id,
        name: call.name,
        content: json!("a leaf"),
        ..ToolResult::default()
    };
    let mut messages = request.messages_with(&response);
    messages.push(ChatMessage::results([result]));
    let stored = serde_json::to_string(&messages).unwrap();
    LlmRequest::new(serde_json::from_str::<Vec<ChatMessage>>(&stored).unwrap())
}

#[tokio::test]
async fn what_belongs_to_a_provider_goes_back_to_it_and_to_no_other() {
    let all = [anthropic(), openai(), gemini(), open_router()];
    for from in &all {
        for streamed in [false, true] {
            let request = next_request(from, streamed).await;
            for to in &all {
                let server = Server::always(steps(to, streamed)).await;
                let response = ask(&model(to.model, &server), &request, streamed).await;
                let sent = server.requests().remove(0).text;
                let place = format!(
                    "{} to {}, streamed: {streamed}: {sent}",
                    from.provider, to.provider
                );
                assert!(sent.contains("Let me see."), "{place}");
                assert!(sent.contains("a leaf"), "{place}");
                for own in from.own {
                    assert_eq!(
                        sent.contains(own),
                        from.provider == to.provider,
                        "{own}: {place}"
                    );
                }
                let left_out = &response.meta.get("left_out");
                assert_eq!(
                    left_out.is_some(),
                    from.provider != to.provider,
                    "{left_out:?}: {place}"
                );
            }
        }
    }
}

#[tokio::test]
async fn signed_parts_come_back_as_they_were() {
    for streamed in [false, true] {
        let from = gemini();
        let request = next_request(&from, streamed).await;
        let server = Server::always(steps(&from, streamed)).await;
        ask(&model(from.model, &server), &request, streamed).await;
        let sent = server.requests().remove(0).body;
        let mut expected = from.whole["candidates"][0]["content"]["parts"].clone();
        expected.as_array_mut().unwrap().remove(0);
        assert_eq!(
            sent["contents"][1]["parts"], expected,
            "without the thought that is not signed"
        );

        let from = anthropic();
        let request = next_request(&from, streamed).await;
        let server = Server::always(steps(&from, streamed)).await;
        ask(&model(from.model, &server), &request, streamed).await;
        let sent = server.requests().remove(0).body;
        assert_eq!(sent["messages"][1]["content"], from.whole["content"]);
        assert_eq!(sent["container"], "container_1");

        let from = openai();
        let request = next_request(&from, streamed).await;
        let server = Server::always(steps(&from, streamed)).await;
        ask(&model(from.model, &server), &request, streamed).await;
        let sent = server.requests().remove(0).body;
        let items = sent["input"].as_array().unwrap();
        assert_eq!(items[1..5], from.whole["output"].as_array().unwrap()[..]);

        let from = open_router();
        let request = next_request(&from, streamed).await;
        let server = Server::always(steps(&from, streamed)).await;
        ask(&model(from.model, &server), &request, streamed).await;
        let sent = server.requests().remove(0).body;
        let message = &sent["messages"][1];
        assert_eq!(
            message["reasoning_details"],
            from.whole["choices"][0]["message"]["reasoning_details"]
        );
        assert!(message.get("reasoning_content").is_none(), "{message}");
        let image = &message["images"][0]["image_url"]["url"];
        assert_eq!(image, "data:image/png;base64,IMAGEopenrouter");
    }
}

#[tokio::test]
async fn reasoning_is_answered_in_the_field_in_which_it_came() {
    for field in ["reasoning", "reasoning_content"] {
        let body = json!({"choices": [{"message": {"content": "2", field: "1 + 1"}, "finish_reason": "stop"}]});
        let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
        let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny");
        let request = LlmRequest::new(vec![ChatMessage::user("1 + 1?")]);
        let response = model.complete(&request).await.unwrap();
        let next = LlmRequest::new(request.messages_with(&response));
        model.complete(&next).await.unwrap();
        let sent = server.requests().remove(1).body;
        assert_eq!(
            sent["messages"][1],
            json!({"role": "assistant", "content": "2", field: "1 + 1"})
        );
    }
}

#[tokio::test]
async fn messages_that_were_stored_before_parts_had_origins_are_read() {
    let stored = json!([
        {"role": "assistant", "parts": [
            {"thought": {"text": "Hm.", "signature": "c2ln"}},
            {"text": {"text": "So:"}},
            {"code": {"language": "PYTHON", "code": "1"}},
            {"code_result": {"outcome": "OUTCOME_OK", "output": "1"}},
            {"media": {"media_type": "image/png", "source": {"base64": "AA=="}}},
            {"call": {"id": "1", "name": "look", "arguments": {}, "signature": "s"}},
        ]},
    ]);
    let messages: Vec<ChatMessage> = serde_json::from_value(stored.clone()).unwrap();
    assert!(messages[0].parts.iter().all(|part| part.origin().is_none()));
    assert_eq!(
        serde_json::to_value(&messages).unwrap(),
        stored,
        "and written as before"
    );
}

#[tokio::test]
async fn a_paused_turn_of_anthropic_goes_on_by_itself() {
    let part = |block: Value, reason: &str| json!({"id": "m", "content": [block], "stop_reason": reason, "usage": {"input_tokens": 10, "output_tokens": 5}});
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "petals"}});
    let parts = [
        part(search.clone(), "pause_turn"),
        part(json!({"type": "text", "text": "Leaves."}), "end_turn"),
    ];
    for streamed in [false, true] {
        let parts = parts.clone();
        let server = Server::start(move |number, _| {
            answer(
                "200 OK",
                "application/json",
                &parts[number.min(1)].to_string(),
            )
        })
        .await;
        let response = ask(
            &model("claude-sonnet-4-6", &server),
            &LlmRequest::prompt("petals?"),
            streamed,
        )
        .await;
        assert_eq!(response.text(), "Leaves.");
        assert_eq!((response.usage.input, response.usage.output), (20, 10));
        let parts = &response.message.as_ref().unwrap().parts;
        assert!(
            matches!(&parts[0], Part::Provider { provider, value } if provider == "anthropic" && *value == search)
        );
        let sent = server.requests().remove(1).body;
        assert_eq!(
            sent["messages"],
            json!([{"role": "user", "content": "petals?"}, {"role": "assistant", "content": [search]}])
        );
    }
}

#[tokio::test]
async fn a_fallback_answers_a_thread_without_the_signatures_of_the_first_model() {
    let from = anthropic();
    let request = next_request(&from, false).await;
    let body = json!({"error": {"type": "overloaded_error", "message": "busy"}});
    let busy = Server::always(answer(
        "529 Overloaded",
        "application/json",
        &body.to_string(),
    ))
    .await;
    let to = openai();
    let well = Server::always(steps(&to, false)).await;
    let model = FallbackModel::new([model(from.model, &busy), model(to.model, &well)]);
    let response = model.complete(&request).await.unwrap();
    assert_eq!(response.provider, "openai_resp");
    assert!(
        response.meta["fallback"][0]
            .as_str()
            .unwrap()
            .contains("busy")
    );
    assert!(!well.requests().remove(0).text.contains("SIG-anthropic"));
}
