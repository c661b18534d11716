//! OpenAI's newer kind of answers, which some of its models only speak.

use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, ProviderModel};
use serde_json::{Value, json};

use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};

fn model(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("openai_resp::gpt-5-codex").unwrap();
    model.with_base_url(server.url("/v1")).with_key("sk-test")
}

fn whole(arguments: &str) -> Value {
    json!({
        "id": "resp_1",
        "model": "gpt-5-codex-x",
        "status": "completed",
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "One moment."}]},
            {"type": "function_call", "call_id": "c1", "name": "sum", "arguments": arguments},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    })
}

fn event(name: &str, mut data: Value) -> Step {
    data["type"] = json!(name);
    chunk(&format!("event: {name}\ndata: {data}\n\n"))
}

#[tokio::test]
async fn an_answer_and_its_calls_are_read() {
    let body = whole("{\"x\": 1}").to_string();
    let server = Server::always(answer("200 OK", "application/json", &body)).await;
    let response = model(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    assert_eq!(server.requests()[0].path, "/v1/responses");
    assert_eq!(
        (response.text(), response.id.as_str()),
        ("One moment.".into(), "resp_1")
    );
    let call = response.calls().next().unwrap();
    assert_eq!(
        (call.id.as_str(), &call.arguments),
        ("c1", &json!({"x": 1}))
    );
    assert_eq!(response.usage.total, 5);
}

#[tokio::test]
async fn i012_arguments_that_are_not_json_are_an_error_with_the_answer() {
    let body = whole("oops").to_string();
    let server = Server::always(answer("200 OK", "application/json", &body)).await;
    let error = model(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    let LlmErrorKind::Arguments { response } = error.kind else {
        panic!("{error}");
    };
    assert_eq!(
        (response.text(), response.model.as_str()),
        ("One moment.".into(), "gpt-5-codex-x")
    );
}

#[tokio::test]
async fn i021_calls_are_streamed_even_when_they_arrive_whole() {
    let item =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "sum", "arguments": ""});
    let done =
        json!({"type": "function_call", "call_id": "c2", "name": "sum", "arguments": "{\"y\": 2}"});
    let server = Server::always(vec![
        events(),
        event("response.created", json!({"response": {"id": "resp_2", "model": "gpt-5-codex-x", "status": "in_progress", "output": []}})),
        event("response.output_text.delta", json!({"output_index": 0, "content_index": 0, "item_id": "m", "delta": "One "})),
        event("response.output_text.delta", json!({"output_index": 0, "content_index": 0, "item_id": "m", "delta": "moment."})),
        event("response.output_item.added", json!({"output_index": 1, "item": item("c1")})),
        event("response.function_call_arguments.delta", json!({"output_index": 1, "item_id": "f", "delta": "{\"x\""})),
        event("response.function_call_arguments.delta", json!({"output_index": 1, "item_id": "f", "delta": ": 1}"})),
        event("response.output_item.added", json!({"output_index": 2, "item": item("c2")})),
        event("response.output_item.done", json!({"output_index": 2, "item": done})),
        event("response.completed", json!({"response": whole("{\"x\": 1}")})),
        end(),
    ])
    .await;
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let response = stream.into_response().await.unwrap();
    assert_eq!(response.text(), "One moment.");
    let calls: Vec<_> = response
        .calls()
        .map(|call| (call.id.as_str(), call.arguments.clone()))
        .collect();
    assert_eq!(calls, [("c1", json!({"x": 1})), ("c2", json!({"y": 2}))]);
}
