//! Answers that Anthropic pauses.

use petalflow_llm::request::OnPause;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmClient, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer};
use serde_json::{Value, json};

fn whole(body: &Value) -> Vec<Step> {
    answer("200 OK", "application/json", &body.to_string())
}

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = ProviderModel::new(name).unwrap().without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

fn paused(id: &str) -> Value {
    json!({"id": "m", "stop_reason": "pause_turn", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
        {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": id, "content": []}]})
}

#[tokio::test]
async fn f42_each_part_of_a_paused_answer_is_sent_once() {
    let done = json!({"id": "m", "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [{"type": "text", "text": "done"}]});
    let parts = [paused("srv_1"), paused("srv_2"), done];
    for is_streamed in [false, true] {
        let parts = parts.clone();
        let server = Server::start(move |number, _| whole(&parts[number.min(2)])).await;
        let model = model("claude-sonnet-4-6", &server);
        let request = LlmRequest::prompt("hi");
        let response = if is_streamed {
            model.stream(&request).await.unwrap().into_response().await
        } else {
            model.complete(&request).await
        };
        let response = response.unwrap();
        assert_eq!((response.text(), response.usage.output), ("done".into(), 3));
        assert_eq!(response.message.unwrap().parts.len(), 5);
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "streamed: {is_streamed}");
        let sent = &requests[2].body["messages"];
        assert_eq!(sent.as_array().unwrap().len(), 2, "{sent}");
        let kinds: Vec<_> = sent[1]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| &block["type"])
            .collect();
        assert_eq!(
            kinds,
            [
                "server_tool_use",
                "web_search_tool_result",
                "server_tool_use",
                "web_search_tool_result"
            ]
        );
        assert_eq!(sent.to_string().matches("srv_1").count(), 2, "{sent}");
    }
}

#[tokio::test]
async fn f42_pauses_are_limited_and_may_be_left_to_the_caller() {
    for (on_pause, expected) in [(OnPause::Continue, 11), (OnPause::Return, 1)] {
        for is_streamed in [false, true] {
            let server = Server::start(|number, _| whole(&paused(&format!("srv_{number}")))).await;
            let model = model("claude-sonnet-4-6", &server);
            let request = LlmRequest {
                on_pause,
                ..LlmRequest::prompt("hi")
            };
            let response = if is_streamed {
                model.stream(&request).await.unwrap().into_response().await
            } else {
                model.complete(&request).await
            };
            let response = response.unwrap();
            let place = format!("{on_pause:?}, streamed: {is_streamed}");
            assert_eq!(response.finish, Some(FinishReason::Paused), "{place}");
            assert_eq!(server.requests().len(), expected, "{place}");
            assert_eq!(response.usage.output, expected as u64, "{place}");
        }
    }
}

#[tokio::test]
async fn f42_a_failed_continuation_is_repeated_alone() {
    let done = json!({"id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "done"}]});
    let server = Server::start(move |number, _| match number {
        0 => whole(&paused("srv_1")),
        1 => answer("503 Unavailable", "application/json", "{}"),
        _ => whole(&done),
    })
    .await;
    let model = ProviderModel::new("claude-sonnet-4-6").unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(response.text(), "done");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[1].text.contains("srv_1") && requests[2].text.contains("srv_1"));
}
