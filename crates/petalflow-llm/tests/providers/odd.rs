//! Servers that do it their own way, and still mean something: what they mean arrives.

use std::time::Duration;

use petalflow_llm::response::FinishReason;
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel};
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, event, events};

fn openai(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny").without_retry()
}

fn anthropic(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("claude-sonnet-4-6")
        .unwrap()
        .without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

fn responses(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("openai_resp::gpt-5-codex")
        .unwrap()
        .without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

async fn complete_streaming(model: &ProviderModel) -> Result<LlmResponse, LlmError> {
    let request = LlmRequest::prompt("hi");
    let stream = async { model.stream(&request).await?.into_response().await };
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, stream)
        .await
        .expect("it hangs")
}

async fn complete(content_type: &'static str, body: Value) -> Result<LlmResponse, LlmError> {
    let server = Server::always(answer("200 OK", content_type, &body.to_string())).await;
    openai(&server).complete(&LlmRequest::prompt("hi")).await
}

/// These bytes, so many at a time.
fn steps_in_pieces(text: &str, at_a_time: usize) -> Vec<Step> {
    let pieces = text.as_bytes().chunks(at_a_time).map(|bytes| {
        let mut wire = format!("{:x}\r\n", bytes.len()).into_bytes();
        wire.extend_from_slice(bytes);
        wire.extend_from_slice(b"\r\n");
        Step::Send(wire)
    });
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

/// Events as the standard allows them: other ends of lines, comments, data in several lines.
fn unusual_event_stream(all: &[Value]) -> String {
    let lines = |event: &Value| {
        let lines = serde_json::to_string_pretty(event).unwrap();
        let lines: Vec<_> = lines
            .lines()
            .map(|line| format!("data: {line}\r\n"))
            .collect();
        let name = event["type"].as_str().unwrap_or("message");
        format!(
            ": a comment\r\nevent: {name}\r\nid: 7\r\n{}\r\n",
            lines.concat()
        )
    };
    let all: Vec<_> = all.iter().map(lines).collect();
    format!(": hello\r\n\r\nretry: 3000\r\n\r\n{}", all.concat())
}

#[tokio::test]
async fn events_may_be_cut_anywhere_and_written_in_any_way_that_is_allowed() {
    let chat = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "say", "arguments": arguments}}]});
    let openais = unusual_event_stream(&[
        chat(json!({"content": "Grüße "})),
        chat(json!({"content": "🌸"})),
        chat(call("{\"to\": ")),
        chat(call("\"ünal\"}")),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ]) + "data: [DONE]\r\n\r\n";
    let block =
        |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let anthropics = unusual_event_stream(&[
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 1}}}),
        block(json!({"type": "text", "text": ""})),
        delta(json!({"type": "text_delta", "text": "Grüße "})),
        delta(json!({"type": "text_delta", "text": "🌸"})),
        stop.clone(),
        block(json!({"type": "tool_use", "id": "c", "name": "say", "input": {}})),
        delta(json!({"type": "input_json_delta", "partial_json": "{\"to\": "})),
        delta(json!({"type": "input_json_delta", "partial_json": "\"ünal\"}"})),
        stop,
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]);
    let items = unusual_event_stream(&[
        json!({"type": "response.created", "response": {"id": "r", "model": "g", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m", "delta": "Grüße 🌸"}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c", "name": "say", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "f", "delta": "{\"to\": \"ünal\"}"}),
        json!({"type": "response.completed", "response": {"id": "r", "model": "g", "status": "completed", "output": []}}),
    ]);
    for at_a_time in [1, 2, 3, 7, 64, 100_000] {
        for (text, model) in [
            (&openais, openai as fn(&Server) -> ProviderModel),
            (&anthropics, anthropic),
            (&items, responses),
        ] {
            let server = Server::always(steps_in_pieces(text, at_a_time)).await;
            let model = model(&server);
            let response = complete_streaming(&model).await;
            let response =
                response.unwrap_or_else(|error| panic!("{}, {at_a_time}: {error}", model.name()));
            let what = format!("{}, {at_a_time}", model.name());
            assert_eq!(response.text(), "Grüße 🌸", "{what}");
            let call = response.calls().next().expect(&what);
            assert_eq!(
                (call.id.as_str(), &call.arguments),
                ("c", &json!({"to": "ünal"})),
                "{what}"
            );
            assert_eq!(response.finish, Some(FinishReason::ToolCalls), "{what}");
        }
    }
}

#[tokio::test]
async fn usage_may_come_after_the_end_and_the_reason_may_be_unknown() {
    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})),
        event(&json!({"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "tired"}], "usage": null})),
        event(&json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4_000_000_000_u64, "total_tokens": -1}})),
        chunk("data: [DONE]\n\n"),
        end(),
    ])
    .await;
    let response = complete_streaming(&openai(&server)).await.unwrap();
    assert_eq!(response.text(), "Hello");
    assert_eq!(response.finish, Some(FinishReason::Other("tired".into())));
    assert_eq!(
        (response.usage.input, response.usage.total),
        (3, 4_000_000_003)
    );
}

#[tokio::test]
async fn a_reset_after_the_end_of_the_answer_is_none() {
    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]})),
        // The last chunk never comes.
        Step::Send(b"40\r\ndata: ".to_vec()),
    ])
    .await;
    assert_eq!(
        complete_streaming(&openai(&server)).await.unwrap().text(),
        "Hello"
    );
}

#[tokio::test]
async fn calls_without_an_id_or_a_type_and_arguments_of_any_kind_are_read() {
    let calls = json!([
        {"function": {"name": "a", "arguments": {"x": 1}}},
        {"id": null, "type": null, "function": {"name": "b", "arguments": null}},
        {"id": "c", "function": {"name": "c"}},
        {"id": "c", "type": "function", "function": {"name": "d", "arguments": "  "}},
    ]);
    let body = json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "tool_calls"}]});
    let response = complete("application/json", body).await.unwrap();
    let calls: Vec<_> = response
        .calls()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone()))
        .collect();
    let none = json!({});
    assert_eq!(
        calls,
        [
            ("", "a", json!({"x": 1})),
            ("", "b", none.clone()),
            ("c", "c", none.clone()),
            ("c", "d", none),
        ]
    );
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_an_error_that_has_the_answer() {
    for (written, shown) in [
        (json!("[1, 2]"), "[1,2]"),
        (json!("\"text\""), "text"),
        (json!("1e999"), "1e999"),
        (json!(3), "3"),
        (json!("{\"a\": 1} trailing"), "{\\\"a\\\": 1} trailing"),
        (json!("{'a': 1}"), "{\\'a\\': 1}"),
        (json!("{\"a\": NaN}"), "{\\\"a\\\": NaN}"),
    ] {
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "a", "arguments": written}});
        let body = json!({"choices": [{"message": {"tool_calls": [call]}}]});
        let error = complete("application/json", body).await.unwrap_err();
        assert!(
            matches!(error.kind, LlmErrorKind::Arguments { .. }),
            "{written}: {error}"
        );
        assert_eq!(
            error.to_string(),
            format!("arguments of call `c` of tool `a` are not a JSON object: `{shown}`")
        );
    }
    // Deeper than JSON is read: text, and no overflow of the stack.
    let deep = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    let call = json!({"id": "c", "type": "function", "function": {"name": "a", "arguments": deep}});
    let body = json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let error = complete("application/json", body).await.unwrap_err();
    assert!(
        matches!(error.kind, LlmErrorKind::Arguments { .. }),
        "{error}"
    );
    assert!(error.to_string().len() < 300);
}

#[tokio::test]
async fn json_with_another_content_type_is_read_and_its_errors_are_reported() {
    let body = json!({"choices": [{"message": {"content": " Hello \n"}, "finish_reason": "stop"}]});
    for content_type in [
        "text/plain",
        "text/event-stream",
        "application/octet-stream",
        "APPLICATION/JSON",
    ] {
        let response = complete(content_type, body.clone()).await.unwrap();
        assert_eq!(response.text(), " Hello \n");
    }
    let refused = json!({"error": {"message": "no credits left", "code": 402}});
    let error = complete("text/plain", refused).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "provider `openai-compatible` failed: no credits left"
    );
}

#[tokio::test]
async fn a_refusal_is_reported() {
    let message =
        json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    assert_eq!(
        complete("application/json", body).await.unwrap().text(),
        "I cannot help with that."
    );
}

#[tokio::test]
async fn an_unreadable_answer_is_an_error() {
    let deep = "[".repeat(200_000);
    let mut invalid = b"data: {\"choices\": [{\"delta\": {\"content\": \"".to_vec();
    invalid.extend([0xff, 0xfe, b'\n', b'\n']);
    let length = format!("{:x}\r\n", invalid.len()).into_bytes();
    for steps in [
        vec![events(), chunk(&format!("data: {deep}\n\n")), end()],
        vec![
            events(),
            Step::Send(length),
            Step::Send(invalid),
            Step::Send(b"\r\n".to_vec()),
            end(),
        ],
        answer("200 OK", "application/json", &deep),
        answer("200 OK", "text/html", "<p>Bad gateway</p>"),
        answer("204 No Content", "text/plain", ""),
    ] {
        let server = Server::always(steps).await;
        let error = complete_streaming(&openai(&server)).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Malformed, "{error}");
        assert!(error.to_string().len() < 600, "{error}");
    }
}

#[tokio::test]
async fn errors_in_the_middle_of_an_answer_have_their_kind() {
    for (status, name) in [
        (Some(503), "overloaded_error"),
        (Some(400), "invalid_request_error"),
        (None, "something_new"),
    ] {
        let broken = json!({"type": "error", "error": {"type": name, "message": "Sorry"}});
        let server = Server::always(vec![
            events(),
            chunk("event: message_start\ndata: {\"type\": \"message_start\", \"message\": {\"id\": \"m\"}}\n\n"),
            chunk(&format!("event: error\ndata: {broken}\n\n")),
            end(),
        ])
        .await;
        let error = complete_streaming(&anthropic(&server)).await.unwrap_err();
        assert_eq!(
            error.kind,
            LlmErrorKind::Provider {
                status,
                retry_after: None
            }
        );
        assert_eq!(error.to_string(), "provider `anthropic` failed: Sorry");
    }
    let failed = json!({"type": "response.failed", "response": {
        "id": "r", "status": "failed", "output": [], "model": "g",
        "error": {"code": "rate_limit_exceeded", "message": "Too many"},
    }});
    let server = Server::always(vec![events(), event(&failed), end()]).await;
    let error = complete_streaming(&responses(&server)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::RateLimited { retry_after: None });
    assert_eq!(error.to_string(), "provider `openai_resp` failed: Too many");
}

#[tokio::test]
async fn blocks_that_only_the_provider_uses_are_kept() {
    let start = |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: usize| json!({"type": "content_block_stop", "index": index});
    let all = [
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 1}}}),
        start(
            0,
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        ),
        delta(
            0,
            json!({"type": "input_json_delta", "partial_json": "{\"query\": \"petals\"}"}),
        ),
        stop(0),
        start(
            1,
            json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        ),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(
            2,
            json!({"type": "citations_delta", "citation": {"type": "x"}}),
        ),
        delta(2, json!({"type": "text_delta", "text": "Leaves."})),
        stop(2),
        // A thought of which only the signature is shown, in two pieces.
        start(
            3,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(3, json!({"type": "signature_delta", "signature": "ab"})),
        delta(3, json!({"type": "signature_delta", "signature": "cd"})),
        stop(3),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let server = Server::always(steps_in_pieces(&unusual_event_stream(&all), 1000)).await;
    let response = complete_streaming(&anthropic(&server)).await.unwrap();
    assert_eq!(
        serde_json::to_value(response.message.unwrap().parts).unwrap(),
        json!([
            {"provider": {"provider": "anthropic", "value":
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "petals"}}}},
            {"provider": {"provider": "anthropic", "value":
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}}},
            {"text": {"text": "Leaves.", "origin": {"provider": "anthropic", "fields": {"citations": [{"type": "x"}]}}}},
            {"thought": {"text": "", "signature": "abcd", "origin": {"provider": "anthropic"}}},
        ])
    );
    assert_eq!((response.usage.input, response.usage.output), (1, 5));
}

#[tokio::test]
async fn a_stream_without_a_length_that_ends_in_the_middle_of_a_word_was_cut() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let wire = format!(
        "{head}data: {{\"choices\": [{{\"delta\": {{\"content\": \"Hel\"}}}}]}}\n\ndata: {{\"choices\": [{{\"delta\": {{\"conte"
    );
    let server = Server::always(vec![Step::Send(wire.into_bytes())]).await;
    let error = complete_streaming(&openai(&server)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Connection, "{error}");
}

/// The pieces that are handed on are only what is new.
#[tokio::test]
async fn large_streamed_arguments_arrive_from_anthropic() {
    let delta = |piece: &str| {
        let delta = json!({"type": "input_json_delta", "partial_json": piece});
        let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
        chunk(&format!("event: content_block_delta\ndata: {event}\n\n"))
    };
    let call = json!({"type": "tool_use", "id": "t", "name": "save", "input": {}});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": call});
    let mut steps = vec![
        events(),
        chunk(&format!("event: content_block_start\ndata: {start}\n\n")),
        delta("{\"text\": \""),
    ];
    steps.extend((0..100).map(|_| delta(&"x".repeat(100_000))));
    steps.extend([
        delta("\"}"),
        chunk("event: message_stop\ndata: {\"type\": \"message_stop\"}\n\n"),
        end(),
    ]);
    let server = Server::always(steps).await;
    let model = anthropic(&server);
    let stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
    let pieces: Vec<_> = futures_util::StreamExt::collect(stream).await;
    let longest = pieces.iter().map(|piece| match &piece.delta {
        Delta::Call { arguments, .. } => arguments.len(),
        _ => 0,
    });
    assert_eq!(longest.max(), Some(100_000));
    let response = pieces.last().unwrap().response.as_ref().unwrap();
    let call = response.calls().next().unwrap();
    assert_eq!(call.arguments["text"].as_str().unwrap().len(), 10_000_000);
}

/// One event of ten megabytes.
#[tokio::test]
async fn a_large_event_arrives() {
    let text = "x".repeat(10_000_000);
    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})),
        chunk("data: [DONE]\n\n"),
        end(),
    ])
    .await;
    assert_eq!(
        complete_streaming(&openai(&server))
            .await
            .unwrap()
            .text()
            .len(),
        10_000_000
    );
}
