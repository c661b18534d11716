//! Nothing is sent to a provider in halves, and no call is made that did not arrive whole.

use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part, ProviderModel,
    Role,
};
use petalflow_llm_test_support::server::{Server, Step, answer, end, event, events};
use serde_json::{Value, json};

use super::bedrock_events::{self, delta, start, stop};

const CLAUDE: &str = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";

fn sse(sent: &[Value]) -> Vec<Step> {
    let pieces = sent.iter().map(event);
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

fn whole(body: &Value) -> Vec<Step> {
    answer("200 OK", "application/json", &body.to_string())
}

fn model(name: &str, server: &Server) -> ProviderModel {
    let (model, path) = match name {
        "bedrock" => (ProviderModel::bedrock("eu-central-1", CLAUDE), ""),
        name => (ProviderModel::new(name).unwrap(), "/v1"),
    };
    let model = model.with_base_url(server.url(path)).with_key("k");
    model.without_retry()
}

/// The response, also if its calls must not be made.
fn response(outcome: Result<LlmResponse, LlmError>) -> LlmResponse {
    match outcome {
        Ok(response) => response,
        Err(error) => {
            let text = error.to_string();
            let LlmErrorKind::Arguments { response } = error.kind else {
                panic!("{text}");
            };
            *response
        }
    }
}

async fn streamed(name: &str, steps: Vec<Step>) -> LlmResponse {
    let server = Server::always(steps).await;
    let stream = model(name, &server).stream(&LlmRequest::prompt("hi")).await;
    response(stream.unwrap().into_response().await)
}

/// The calls with a name: the name, the arguments, and whether the call may be made.
fn calls(response: &LlmResponse) -> Vec<(&str, &Value, bool)> {
    let named = response.calls().filter(|call| !call.name.is_empty());
    named
        .map(|call| (&*call.name, &call.arguments, call.error.is_none()))
        .collect()
}

fn chat_pieces(pieces: &[(u64, Option<&str>, &str)]) -> Vec<Step> {
    let mut sent: Vec<_> = pieces
        .iter()
        .map(|(index, name, arguments)| {
            let mut call = json!({"index": index, "function": {"arguments": arguments}});
            if let Some(name) = name {
                call["id"] = format!("call_{name}").into();
                call["function"]["name"] = (*name).into();
            }
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        })
        .collect();
    sent.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
    sse(&sent)
}

fn messages_pieces(pieces: &[(u64, Option<&str>, &str)]) -> Vec<Step> {
    let mut sent = vec![json!({"type": "message_start", "message": {"id": "m"}})];
    for (index, name, input) in pieces {
        sent.push(match name {
            Some(name) => json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": name, "name": name, "input": {}}}),
            None => json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": input}}),
        });
    }
    sent.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    sent.push(json!({"type": "message_stop"}));
    sse(&sent)
}

fn converse_pieces(pieces: &[(u64, Option<&str>, &str)]) -> Vec<Step> {
    let mut frames: Vec<_> = pieces
        .iter()
        .map(|(index, name, input)| match name {
            Some(name) => start(
                *index,
                &json!({"toolUse": {"toolUseId": name, "name": name}}),
            ),
            None => delta(*index, &json!({"toolUse": {"input": input}})),
        })
        .collect();
    frames.extend([stop(0), stop(1), bedrock_events::message_stop("tool_use")]);
    bedrock_events::steps(&frames)
}

fn responses_pieces(pieces: &[(u64, Option<&str>, &str)]) -> Vec<Step> {
    let mut sent: Vec<_> = pieces
        .iter()
        .map(|(index, name, arguments)| match name {
            Some(name) => json!({"type": "response.output_item.added", "output_index": index, "item": {"type": "function_call", "id": format!("fc_{name}"), "call_id": name, "name": name, "arguments": ""}}),
            None => json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}),
        })
        .collect();
    sent.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}));
    sse(&sent)
}

#[tokio::test]
async fn f42_pieces_of_arguments_under_another_index_belong_to_the_only_call() {
    let pieces = [
        (1, Some("weather"), ""),
        (0, None, "{\"city\":"),
        (0, None, "\"Madrid\"}"),
    ];
    let madrid = json!({"city": "Madrid"});
    for (name, steps) in [
        ("compatible::m", chat_pieces(&pieces)),
        ("claude-sonnet-4-6", messages_pieces(&pieces)),
        ("gpt-5", responses_pieces(&pieces)),
        ("bedrock", converse_pieces(&pieces)),
    ] {
        let name = if name == "compatible::m" {
            "openai::gpt-4o"
        } else {
            name
        };
        let response = streamed(name, steps).await;
        assert_eq!(calls(&response), [("weather", &madrid, true)], "{name}");
        assert_eq!(response.finish, Some(FinishReason::ToolCalls), "{name}");
    }
}

#[tokio::test]
async fn f42_pieces_that_may_belong_to_several_calls_let_none_run_without_its_own() {
    let pieces = [
        (1, Some("wipe"), ""),
        (2, Some("list"), ""),
        (0, None, "{\"path\": \"/tmp\"}"),
    ];
    for (name, steps) in [
        ("claude-sonnet-4-6", messages_pieces(&pieces)),
        ("bedrock", converse_pieces(&pieces)),
    ] {
        let response = streamed(name, steps).await;
        for (call, _, may_run) in calls(&response) {
            assert!(!may_run, "{name}: {call}");
        }
        let errors: Vec<_> = response
            .calls()
            .filter_map(|call| call.error.as_deref())
            .collect();
        assert_eq!(errors.len(), 3, "{name}: {errors:?}");
        assert!(
            errors[0].contains("arguments arrived that belong to no call"),
            "{}",
            errors[0]
        );
        assert!(errors[2].contains("the call has no name"), "{}", errors[2]);
    }
}

#[tokio::test]
async fn f42_shifted_indexes_of_two_calls_find_their_calls() {
    let in_order = [
        (1, Some("a"), ""),
        (0, None, "{\"n\": 1}"),
        (2, Some("b"), ""),
        (1, None, "{\"n\": 2}"),
    ];
    let names_first = [
        (1, Some("a"), ""),
        (2, Some("b"), ""),
        (0, None, "{\"n\": "),
        (0, None, "1}"),
        (1, None, "{\"n\": 2}"),
    ];
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    for pieces in [&in_order[..], &names_first] {
        let response = streamed("openai::gpt-4o", chat_pieces(pieces)).await;
        assert_eq!(
            calls(&response),
            [("a", &one, true), ("b", &two, true)],
            "{pieces:?}"
        );
    }
}

/// An answer of each format with a whole call, that ended for this reason.
fn ended(name: &str, reason: &str) -> Value {
    match name {
        "openai::gpt-4o" => {
            json!({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": "I",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "pay", "arguments": "{\"sum\": 1}"}}]}}]})
        }
        "claude-sonnet-4-6" => json!({"id": "m", "stop_reason": reason, "usage": {}, "content": [
            {"type": "text", "text": "I"}, {"type": "tool_use", "id": "c", "name": "pay", "input": {"sum": 1}}]}),
        "gemini-2.5-flash" => {
            json!({"candidates": [{"finishReason": reason, "content": {"parts": [{"functionCall": {"name": "pay", "args": {"sum": 1}}}]}}]})
        }
        "gpt-5" => {
            json!({"id": "r", "status": "incomplete", "incomplete_details": {"reason": reason}, "output": [
            {"type": "function_call", "id": "fc", "call_id": "c", "name": "pay", "arguments": "{\"sum\": 1}"}]})
        }
        _ => {
            json!({"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "pay", "input": {"sum": 1}}}]}},
            "stopReason": reason})
        }
    }
}

#[tokio::test]
async fn f42_a_call_may_be_made_only_if_the_answer_ended_as_a_call() {
    for (name, reason, may_run) in [
        ("openai::gpt-4o", "tool_calls", true),
        ("openai::gpt-4o", "stop", true),
        ("openai::gpt-4o", "length", false),
        ("openai::gpt-4o", "content_filter", false),
        ("openai::gpt-4o", "insufficient_system_resource", false),
        ("claude-sonnet-4-6", "tool_use", true),
        ("claude-sonnet-4-6", "refusal", false),
        ("claude-sonnet-4-6", "max_tokens", false),
        ("claude-sonnet-4-6", "model_context_window_exceeded", false),
        ("gemini-2.5-flash", "STOP", true),
        ("gemini-2.5-flash", "SAFETY", false),
        ("gemini-2.5-flash", "MALFORMED_FUNCTION_CALL", false),
        ("gpt-5", "max_output_tokens", false),
        ("gpt-5", "content_filter", false),
        ("bedrock", "tool_use", true),
        ("bedrock", "guardrail_intervened", false),
        ("bedrock", "malformed_tool_use", false),
    ] {
        let server = Server::always(whole(&ended(name, reason))).await;
        let outcome = model(name, &server)
            .complete(&LlmRequest::prompt("hi"))
            .await;
        let response = response(outcome);
        let call = response.calls().next().expect(name);
        assert_eq!(
            call.error.is_none(),
            may_run,
            "{name} {reason}: {:?}",
            call.error
        );
        assert_eq!(call.arguments.is_object(), may_run, "{name} {reason}");
    }
}

#[tokio::test]
async fn f42_a_refusal_beside_a_call_is_a_refusal() {
    let mut body = ended("openai::gpt-4o", "stop");
    body["choices"][0]["message"]["refusal"] = "I cannot pay.".into();
    let server = Server::always(whole(&body)).await;
    let outcome = model("openai::gpt-4o", &server)
        .complete(&LlmRequest::prompt("hi"))
        .await;
    let response = response(outcome);
    assert_eq!(response.finish, Some(FinishReason::Refusal));
    let error = response.calls().next().unwrap().error.as_deref().unwrap();
    assert!(error.contains("the answer ended with a refusal"), "{error}");
}

fn opaque(provider: &str, value: Value) -> Part {
    Part::Provider {
        provider: provider.into(),
        value,
    }
}

/// The body of a request with these messages.
async fn sent(name: &str, messages: Vec<ChatMessage>) -> (Value, String, LlmResponse) {
    let body = match name {
        "bedrock" => {
            json!({"output": {"message": {"content": [{"text": "ok"}]}}, "stopReason": "end_turn"})
        }
        "gpt-5" => {
            json!({"id": "r", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]})
        }
        "gemini-2.5-flash" => {
            json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "ok"}]}}]})
        }
        "claude-sonnet-4-6" => {
            json!({"id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "ok"}]})
        }
        _ => json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}),
    };
    let server = Server::always(whole(&body)).await;
    let response = model(name, &server)
        .complete(&LlmRequest::new(messages))
        .await
        .unwrap();
    let sent = server.requests().remove(0);
    (sent.body, sent.text, response)
}

/// For each format, the two halves of what the provider does itself.
fn halves() -> [(&'static str, &'static str, Value, Value); 5] {
    [
        (
            "claude-sonnet-4-6",
            "anthropic",
            json!({"type": "server_tool_use", "id": "PAIR", "name": "code_execution", "input": {}}),
            json!({"type": "code_execution_tool_result", "tool_use_id": "PAIR", "content": []}),
        ),
        (
            "gpt-5",
            "openai_resp",
            json!({"type": "computer_call", "id": "cu_1", "call_id": "PAIR", "action": {}}),
            json!({"type": "computer_call_output", "call_id": "PAIR", "output": {}}),
        ),
        (
            "gpt-5",
            "openai_resp",
            json!({"type": "mcp_approval_request", "id": "PAIR", "name": "x"}),
            json!({"type": "mcp_approval_response", "approval_request_id": "PAIR", "approve": true}),
        ),
        (
            "gemini-2.5-flash",
            "gemini",
            json!({"toolCall": {"id": "PAIR", "toolType": "GOOGLE_SEARCH"}}),
            json!({"toolResponse": {"id": "PAIR", "toolType": "GOOGLE_SEARCH"}}),
        ),
        (
            "bedrock",
            "bedrock",
            json!({"toolUse": {"toolUseId": "PAIR", "type": "server_tool_use", "name": "x", "input": {}}}),
            json!({"toolResult": {"toolUseId": "PAIR", "type": "x_result", "content": []}}),
        ),
    ]
}

#[tokio::test]
async fn f42_half_of_a_pair_of_the_provider_is_not_sent() {
    for (name, provider, call, result) in halves() {
        let conversation = |parts: Vec<Value>| {
            let own = parts.into_iter().map(|value| opaque(provider, value));
            let parts = [Part::text("I try")].into_iter().chain(own).collect();
            vec![
                ChatMessage::user("fetch it"),
                ChatMessage::new(Role::Assistant, parts),
                ChatMessage::user("and now?"),
            ]
        };
        for (parts, times) in [
            (vec![call.clone(), result.clone()], 2),
            (vec![call.clone()], 0),
            (vec![result.clone()], 0),
            (vec![result.clone(), call.clone()], 0),
            (vec![call.clone(), call.clone(), result.clone()], 2),
        ] {
            let (_, text, response) = sent(name, conversation(parts.clone())).await;
            assert_eq!(
                text.matches("PAIR").count(),
                times,
                "{name}: {parts:?}: {text}"
            );
            assert!(text.contains("I try"), "{name}: {text}");
            let note = response
                .meta
                .get("not_sent")
                .and_then(|note| note.get("messages"));
            let is_whole = parts.len() == 2 && times == 2;
            assert_eq!(
                note.is_none(),
                is_whole,
                "{name}: {parts:?}: {:?}",
                response.meta
            );
        }
    }
}

#[tokio::test]
async fn f42_what_the_provider_has_begun_is_sent_back_until_the_turn_is_over() {
    for (name, provider, call, _) in halves() {
        if name == "gpt-5" {
            continue;
        }
        let tool_call = ToolCall {
            id: "toolu_1".into(),
            name: "look".into(),
            arguments: json!({}),
            ..ToolCall::default()
        };
        let result = ToolResult {
            call_id: "toolu_1".into(),
            name: "look".into(),
            content: json!("a leaf"),
            ..ToolResult::default()
        };
        let begun = vec![opaque(provider, call), Part::Call(tool_call)];
        let mut messages = vec![
            ChatMessage::user("fetch it"),
            ChatMessage::new(Role::Assistant, begun),
            ChatMessage::results([result]),
        ];
        let (_, text, _) = sent(name, messages.clone()).await;
        assert!(text.contains("PAIR"), "{name}: {text}");
        messages.push(ChatMessage::user("and now?"));
        let (_, text, _) = sent(name, messages).await;
        assert!(!text.contains("PAIR"), "{name}: {text}");
    }
}

#[tokio::test]
async fn f42_calls_and_results_of_tools_are_sent_in_pairs() {
    let call = |id: &str| {
        Part::Call(ToolCall {
            id: id.into(),
            name: "look".into(),
            arguments: json!({}),
            ..ToolCall::default()
        })
    };
    let result = |id: &str| ToolResult {
        call_id: id.into(),
        name: "look".into(),
        content: json!("a leaf"),
        ..ToolResult::default()
    };
    for name in [
        "openai::gpt-4o",
        "gpt-5",
        "claude-sonnet-4-6",
        "gemini-2.5-flash",
        "bedrock",
    ] {
        let messages = vec![
            ChatMessage::user("what?"),
            ChatMessage::new(Role::Assistant, vec![call("CALL1"), call("CALL2")]),
            ChatMessage::results([result("CALL2"), result("OTHER")]),
            ChatMessage::user("and?"),
            ChatMessage::new(Role::Assistant, vec![call("CALL3")]),
        ];
        let (_, text, _) = sent(name, messages).await;
        for id in ["CALL1", "CALL2", "CALL3"] {
            assert_eq!(text.matches(id).count(), 2, "{name}: {id}: {text}");
        }
        assert!(!text.contains("OTHER"), "{name}: {text}");
        assert!(text.contains("result of `look`"), "{name}: {text}");
        assert_eq!(text.matches("pending").count(), 2, "{name}: {text}");
    }
}

#[tokio::test]
async fn f42_reasoning_without_the_item_that_followed_it_is_not_sent() {
    let body = json!({"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [
        {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "So"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "LONE"},
    ]});
    let server = Server::always(whole(&body)).await;
    let model = model("gpt-5", &server);
    let request = LlmRequest::new(vec![ChatMessage::user("hi")]);
    let response = model.complete(&request).await.unwrap();
    let mut messages = request.messages_with(&response);
    messages.push(ChatMessage::user("go on"));
    model.complete(&LlmRequest::new(messages)).await.unwrap();
    let sent = server.requests().remove(1).text;
    assert!(!sent.contains("LONE") && sent.contains("msg_1"), "{sent}");
}

fn call_of_openai(name: &str) -> Value {
    match name {
        "gpt-5" => json!({"id": "r", "status": "completed", "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "RESPONSES"},
            {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "call_1", "name": "look", "arguments": "{}"}]}),
        _ => {
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "annotations": [{"CHAT": 1}],
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}, "extra_content": {"CHAT": 1}}]}}]})
        }
    }
}

#[tokio::test]
async fn f42_the_two_formats_of_openai_keep_their_parts_apart() {
    for (from, to, own, left_out) in [
        ("gpt-5", "openai::gpt-4o", "RESPONSES", "openai_resp"),
        ("openai::gpt-4o", "gpt-5", "CHAT", "openai"),
    ] {
        let server = Server::always(whole(&call_of_openai(from))).await;
        let request = LlmRequest::new(vec![ChatMessage::user("hi")]);
        let answered = model(from, &server).complete(&request).await.unwrap();
        let result = ToolResult {
            call_id: "call_1".into(),
            name: "look".into(),
            content: json!("a leaf"),
            ..ToolResult::default()
        };
        let mut messages = request.messages_with(&answered);
        messages.push(ChatMessage::results([result]));
        let (_, text, response) = sent(to, messages.clone()).await;
        assert!(
            !text.contains(own) && !text.contains("fc_1"),
            "{to}: {text}"
        );
        assert_eq!(text.matches("\"call_1\"").count(), 2, "{to}: {text}");
        assert_eq!(response.meta["left_out"], json!({left_out: 2}), "{to}");
        let (_, text, response) = sent(from, messages).await;
        assert!(text.contains(own), "{from}: {text}");
        assert!(!response.meta.contains_key("left_out"), "{from}");
    }
}

#[tokio::test]
async fn f42_an_error_in_a_choice_is_a_failure_of_the_provider() {
    let error = json!({"code": 502, "message": "Provider returned error", "metadata": {"raw": "the upstream is down"}});
    let failed = |error: Option<&Value>| {
        let mut choice = json!({"index": 0, "finish_reason": "error", "message": {"role": "assistant", "content": ""}});
        choice["delta"] = json!({"content": ""});
        if let Some(error) = error {
            choice["error"] = error.clone();
        }
        json!({"id": "gen", "choices": [choice]})
    };
    let begun = json!({"choices": [{"index": 0, "delta": {"content": "So"}}]});
    let cases = [
        (
            failed(Some(&error)),
            Some(502),
            "Provider returned error: the upstream is down",
        ),
        (
            failed(None),
            None,
            "the answer ended with the reason `error`",
        ),
    ];
    for (body, expected, words) in cases {
        let streams = [
            sse(std::slice::from_ref(&body)),
            sse(&[begun.clone(), body.clone()]),
        ];
        for (number, steps) in [whole(&body)].into_iter().chain(streams).enumerate() {
            let server = Server::always(steps).await;
            let model = model("open_router::x/y", &server);
            let request = LlmRequest::prompt("hi");
            let outcome = match number {
                0 => model.complete(&request).await,
                _ => match model.stream(&request).await {
                    Ok(stream) => stream.into_response().await,
                    Err(error) => Err(error),
                },
            };
            let error = outcome.unwrap_err();
            let LlmErrorKind::Provider { status, .. } = error.kind else {
                panic!("{number}: {error}");
            };
            assert_eq!(status, expected, "{number}: {error}");
            assert!(error.to_string().contains(words), "{number}: {error}");
            assert!(error.is_transient(), "{number}: {error}");
        }
    }
}
