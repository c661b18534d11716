//! Spans of models and tools.

use std::sync::Arc;

use opentelemetry::trace::{SpanKind, Status};
use opentelemetry::{Array, StringValue, Value};
use petalflow::tool::{FuncTool, Tool, ToolContext, ToolSpec};
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part, Role, TokenUsage,
};
use petalflow_llm_test_support::spans::RecordedSpans;
use petalflow_tracing::{Traced, agent_span, merged_span};
use serde_json::json;
use tracing::Instrument;

use super::{Double, Model, attribute, description, text};

/// The status of a failure whose message may quote content.
const NOT_RECORDED: &str =
    "the message of the error may quote content; record it with `with_content`";

fn answer() -> LlmResponse {
    LlmResponse {
        id: "answer-1".into(),
        model: "gemini-9-pro-001".into(),
        finish: Some(FinishReason::Stop),
        usage: TokenUsage {
            input: 12,
            output: 34,
            total: 46,
            cached: 5,
            reasoning: 6,
            cost: 0.25,
            ..TokenUsage::default()
        },
        ..LlmResponse::text_only("the secret is 7")
    }
}

fn request() -> LlmRequest {
    LlmRequest {
        model: Some("gemini-9-pro".into()),
        system: Some("be brief".into()),
        temperature: Some(0.5),
        max_tokens: Some(100),
        seed: Some(9),
        stop: vec!["END".into()],
        json_schema: Some(Arc::new(json!({}))),
        tools: [Arc::new(ToolSpec::new("t", "A tool.", json!({})))].into(),
        ..LlmRequest::prompt("what is the secret?")
    }
}

fn strings(values: &[&str]) -> Value {
    let values = values
        .iter()
        .map(|value| StringValue::from(value.to_string()));
    Value::Array(Array::String(values.collect()))
}

#[tokio::test]
async fn a065_the_span_of_a_model_call_has_the_conventions_names_and_no_content() {
    let seen = RecordedSpans::start();
    let model = Traced::new(Model::new([Ok(answer())]));
    model.complete(&request()).await.unwrap();
    // Ended before the answer is there, and what the client does is inside.
    let span = seen.span("chat gemini-9-pro");
    assert_eq!(seen.parent("on the wire").unwrap(), "chat gemini-9-pro");
    assert_eq!(span.span_kind, SpanKind::Client);
    assert_eq!(span.status, Status::Unset);
    for (name, value) in [
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.provider.name", "gcp.gemini".into()),
        ("gen_ai.output.type", "json".into()),
        ("gen_ai.request.model", "gemini-9-pro".into()),
        ("gen_ai.request.temperature", Value::F64(0.5)),
        ("gen_ai.request.max_tokens", Value::I64(100)),
        ("gen_ai.request.seed", Value::I64(9)),
        ("gen_ai.request.stop_sequences", strings(&["END"])),
        ("gen_ai.response.id", "answer-1".into()),
        ("gen_ai.response.model", "gemini-9-pro-001".into()),
        ("gen_ai.response.finish_reasons", strings(&["stop"])),
        ("gen_ai.usage.input_tokens", Value::I64(12)),
        ("gen_ai.usage.output_tokens", Value::I64(34)),
        ("gen_ai.usage.cache_read.input_tokens", Value::I64(5)),
        ("gen_ai.usage.reasoning.output_tokens", Value::I64(6)),
        ("petalflow.usage.cost", Value::F64(0.25)),
    ] {
        assert_eq!(attribute(&span, name), Some(value), "{name}");
    }
    for name in [
        "gen_ai.request.stream",
        "gen_ai.request.top_p",
        "error.type",
    ] {
        assert_eq!(attribute(&span, name), None, "{name}");
    }
    let all = format!("{span:?}");
    for private in ["the secret is 7", "what is the secret?", "be brief"] {
        assert!(!all.contains(private), "{all}");
    }
}

#[tokio::test]
async fn content_is_recorded_on_request() {
    let seen = RecordedSpans::start();
    let model = Traced::new(Model::new([Ok(answer())])).with_content();
    let call = ToolCall {
        id: "c".into(),
        name: "t".into(),
        arguments: json!({ "n": 1 }),
        ..ToolCall::default()
    };
    let result = ToolResult {
        call_id: "c".into(),
        name: "t".into(),
        content: json!({ "doubled": 2 }),
        is_error: false,
    };
    let picture = Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("AAAA".into()),
        origin: None,
    };
    let request = LlmRequest {
        messages: Arc::new(vec![
            ChatMessage::new(
                Role::Assistant,
                vec![Part::Thought("hm".into()), Part::Call(call)],
            ),
            ChatMessage::results([result]),
            ChatMessage::new(Role::User, vec![Part::Media(picture)]),
        ]),
        ..request()
    };
    model.complete(&request).await.unwrap();
    let span = seen.span("chat gemini-9-pro");
    let json = |name| serde_json::from_str::<serde_json::Value>(&text(&span, name).unwrap());
    assert_eq!(
        json("gen_ai.system_instructions").unwrap(),
        json!([{ "type": "text", "content": "be brief" }])
    );
    assert_eq!(
        json("gen_ai.input.messages").unwrap(),
        json!([
            { "role": "assistant", "parts": [
                { "type": "reasoning", "content": "hm" },
                { "type": "tool_call", "id": "c", "name": "t", "arguments": { "n": 1 } },
            ] },
            { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "c", "response": { "doubled": 2 } }] },
            { "role": "user", "parts": [{ "type": "blob", "mime_type": "image/png", "modality": "image" }] },
            { "role": "user", "parts": [{ "type": "text", "content": "what is the secret?" }] },
        ])
    );
    assert_eq!(
        json("gen_ai.output.messages").unwrap(),
        json!([{
            "role": "assistant",
            "parts": [{ "type": "text", "content": "the secret is 7" }],
            "finish_reason": "stop",
        }])
    );
    assert_eq!(json("gen_ai.tool.definitions").unwrap()[0]["name"], "t");
}

#[tokio::test]
async fn a065_the_span_of_a_stream_ends_before_its_last_item_is_returned() {
    let seen = RecordedSpans::start();
    let model = Traced::new(Model::new([Ok(answer())]));
    let request = request();
    let mut stream = model.stream(&request).await.unwrap();
    assert!(!stream.next().await.unwrap().done);
    assert_eq!(seen.names(), ["a piece"]);
    assert!(stream.next().await.unwrap().done);
    let span = seen.span("chat gemini-9-pro");
    assert_eq!(attribute(&span, "gen_ai.request.stream"), Some(true.into()));
    assert_eq!(text(&span, "gen_ai.usage.output_tokens").unwrap(), "34");
    assert!(attribute(&span, "gen_ai.response.time_to_first_chunk").is_some());
    for piece in seen.finished().iter().filter(|span| span.name == "a piece") {
        assert_eq!(piece.parent_span_id, span.span_context.span_id());
    }
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_stream_that_is_not_read_to_its_end_is_cancelled() {
    let seen = RecordedSpans::start();
    let model = Traced::new(Model::new([Ok(answer())]));
    let request = request();
    let mut stream = model.stream(&request).await.unwrap();
    stream.next().await.unwrap();
    drop(stream);
    let span = seen.span("chat gemini-9-pro");
    assert_eq!(text(&span, "error.type").unwrap(), "cancelled");
}

#[tokio::test]
async fn failures_have_a_description() {
    let status = LlmErrorKind::Provider {
        status: Some(503),
        retry_after: None,
    };
    let arguments = LlmErrorKind::Arguments {
        response: Box::new(answer()),
    };
    for (kind, name) in [
        (status, "503"),
        (LlmErrorKind::Auth, "auth"),
        (LlmErrorKind::Timeout, "timeout"),
        (LlmErrorKind::RateLimited { retry_after: None }, "429"),
        (arguments, "arguments"),
    ] {
        let error = || LlmError::new(kind.clone(), "no luck");
        for streams in [false, true] {
            let seen = RecordedSpans::start();
            let model = Traced::new(Model::new([Err(error())]));
            if streams {
                match model.stream(&LlmRequest::default()).await {
                    Ok(mut stream) => assert!(stream.next().await.unwrap().error.is_some()),
                    Err(error) => assert_eq!(error.kind, LlmErrorKind::Auth),
                }
            } else {
                model.complete(&LlmRequest::default()).await.unwrap_err();
            }
            let span = seen.span("chat");
            assert_eq!(text(&span, "error.type").unwrap(), name);
            // The message of wrong arguments quotes them.
            let shown = (name != "arguments").then_some("no luck");
            assert_eq!(description(&span), shown.or(Some(NOT_RECORDED)));
            let paid = attribute(&span, "gen_ai.usage.input_tokens").is_some();
            assert_eq!(paid, name == "arguments");
        }
    }
}

#[tokio::test]
async fn a065_one_span_per_tool_call() {
    let seen = RecordedSpans::start();
    let tool = Traced::new(Double::new());
    let cx = ToolContext::new("call-1");
    tool.call(json!({ "n": 4 }), &cx).await.unwrap();
    let span = seen.span("execute_tool double");
    assert_eq!(span.span_kind, SpanKind::Internal);
    for (name, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "double"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.description", "Doubles a number."),
        ("gen_ai.tool.call.id", "call-1"),
    ] {
        assert_eq!(text(&span, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), None);
    assert_eq!(attribute(&span, "gen_ai.tool.call.result"), None);

    let seen = RecordedSpans::start();
    let tool = tool.with_content();
    tool.call(json!({ "n": 4 }), &cx).await.unwrap();
    let span = seen.span("execute_tool double");
    assert_eq!(
        text(&span, "gen_ai.tool.call.arguments").unwrap(),
        r#"{"n":4}"#
    );
    assert_eq!(
        text(&span, "gen_ai.tool.call.result").unwrap(),
        r#"{"doubled":8}"#
    );
}

#[tokio::test]
async fn the_span_of_a_tool_records_failure_and_cancellation() {
    let seen = RecordedSpans::start();
    let tool = Traced::new(Double::new());
    let cx = ToolContext::new("call-1");
    tool.call(json!({ "n": "x" }), &cx).await.unwrap_err();
    let span = seen.span("execute_tool double");
    assert_eq!(text(&span, "error.type").unwrap(), "arguments");
    assert_eq!(description(&span), Some(NOT_RECORDED));

    let seen = RecordedSpans::start();
    let mut call = tool.call(json!({}), &cx);
    assert!(futures_util::poll!(&mut call).is_pending());
    drop(call);
    let span = seen.span("execute_tool double");
    assert_eq!(text(&span, "error.type").unwrap(), "cancelled");
}

#[tokio::test]
async fn statuses_quote_content_only_on_request() {
    let secret = r#""4,5""#;
    let broken = |_: serde_json::Value| async { Err::<(), _>("no account `4,5`".into()) };
    let broken = FuncTool::new("double", "Fails.", broken);
    let tools: [Arc<dyn Tool>; 2] = [Arc::new(Double::new()), Arc::new(broken)];
    let cx = ToolContext::new("call-1");
    for tool in tools {
        for content in [false, true] {
            let seen = RecordedSpans::start();
            let tool = Traced::new(Arc::clone(&tool));
            let tool = if content { tool.with_content() } else { tool };
            tool.call(json!({ "n": "4,5" }), &cx).await.unwrap_err();
            let span = seen.span("execute_tool double");
            assert_eq!(format!("{span:?}").contains("4,5"), content, "{span:?}");
        }
    }
    for content in [false, true] {
        let answer = LlmResponse {
            message: Some(ChatMessage::new(
                Role::Assistant,
                vec![Part::Call(ToolCall {
                    name: "double".into(),
                    arguments: secret.into(),
                    ..ToolCall::default()
                })],
            )),
            ..answer()
        };
        let error = answer.checked(&LlmRequest::default()).unwrap_err();
        assert!(error.to_string().contains("4,5"), "{error}");
        let seen = RecordedSpans::start();
        let model = Traced::new(Model::new([Err(error)]));
        let model = if content { model.with_content() } else { model };
        model.complete(&LlmRequest::default()).await.unwrap_err();
        let span = seen.span("chat");
        assert_eq!(format!("{span:?}").contains("4,5"), content, "{span:?}");
    }
}

#[tokio::test]
async fn a065_merged_results_have_a_span_only_where_there_are_several() {
    let seen = RecordedSpans::start();
    let result = |n: i64| ToolResult {
        content: json!({ "n": n }),
        ..ToolResult::default()
    };
    merged_span(&[result(1)], "event-1", false);
    assert!(seen.names().is_empty());
    merged_span(&[result(1), result(2)], "event-1", true);
    let span = seen.span("execute_tool (merged)");
    assert_eq!(text(&span, "gen_ai.tool.name").unwrap(), "(merged tools)");
    assert_eq!(text(&span, "gen_ai.tool.call.id").unwrap(), "event-1");
    assert_eq!(
        text(&span, "gen_ai.tool.call.result").unwrap(),
        r#"[{"n":1},{"n":2}]"#
    );
}

#[tokio::test]
async fn the_calls_of_an_agent_are_in_its_span() {
    let seen = RecordedSpans::start();
    let model = Traced::new(Model::new([Ok(answer())]));
    let agent = agent_span("helper", Some("Helps."), Some("ann"));
    let request = LlmRequest::default();
    model.complete(&request).instrument(agent).await.unwrap();
    assert_eq!(seen.parent("chat").unwrap(), "invoke_agent helper");
    let span = seen.span("invoke_agent helper");
    for (name, value) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "helper"),
        ("gen_ai.agent.description", "Helps."),
        ("gen_ai.conversation.id", "ann"),
    ] {
        assert_eq!(text(&span, name).as_deref(), Some(value), "{name}");
    }
}
