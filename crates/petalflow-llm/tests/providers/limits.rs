//! Servers whose answers have no end, and answers to a request for a stream that are not a stream.

use std::time::Duration;

use petalflow::policy::Retry;
use petalflow_llm::{
    LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel, Retrying,
};
use serde_json::json;

use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use petalflow_test_support::assert_contains;

const LIMIT: usize = 100_000;

fn openai(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny")
        .without_retry()
        .with_max_response_size(LIMIT)
}

fn anthropic(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("claude-sonnet-4-6")
        .unwrap()
        .without_retry();
    model
        .with_base_url(server.url("/v1"))
        .with_key("k")
        .with_max_response_size(LIMIT)
}

fn gemini(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("gemini-2.5-flash")
        .unwrap()
        .without_retry();
    model
        .with_base_url(server.url("/v1beta"))
        .with_key("k")
        .with_max_response_size(LIMIT)
}

async fn complete_streaming(model: &impl LlmClient) -> Result<LlmResponse, LlmError> {
    model
        .stream(&LlmRequest::prompt("hi"))
        .await?
        .into_response()
        .await
}

/// A start, and then many pieces of which none ends anything.
fn endless_steps(head: &str, start: &str) -> Vec<Step> {
    let piece = chunk(&"x".repeat(10_000));
    [Step::Send(head.into()), chunk(start)]
        .into_iter()
        .chain(std::iter::repeat_n(piece, 50))
        .chain([Step::Stall])
        .collect()
}

#[tokio::test]
async fn an_answer_without_end_is_an_error() {
    let head = |kind: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
    };
    for steps in [
        endless_steps(&head("text/event-stream"), "data: {\"choices\": \""),
        endless_steps(&head("text/event-stream"), ": a comment "),
        endless_steps(&head("text/event-stream"), "event: "),
        endless_steps(&head("application/json"), "{\"choices\": \""),
        endless_steps(&head("text/html"), "<p>"),
    ] {
        let server = Server::always(steps).await;
        for model in [openai(&server), anthropic(&server), gemini(&server)] {
            let whole = model.complete(&LlmRequest::prompt("hi")).await;
            for error in [
                whole.unwrap_err(),
                complete_streaming(&model).await.unwrap_err(),
            ] {
                assert_eq!(error.kind, LlmErrorKind::Malformed);
                assert_contains(
                    &error,
                    "its answer has more than 100000 bytes; `with_max_response_size` sets the limit",
                );
            }
        }
        // The connections are closed, although the server would go on.
        server.wait_for_disconnects(6).await;
    }
}

#[tokio::test]
async fn an_error_without_end_is_reported_by_its_start() {
    let head = "HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n";
    let piece = chunk(&"y".repeat(100_000));
    let steps = [Step::Send(head.into()), chunk("the reason ")].into_iter();
    let steps = steps
        .chain(std::iter::repeat_n(piece, 20))
        .chain([Step::Stall])
        .collect();
    let server = Server::always(steps).await;
    for error in [
        openai(&server)
            .complete(&LlmRequest::prompt("hi"))
            .await
            .unwrap_err(),
        complete_streaming(&openai(&server)).await.unwrap_err(),
    ] {
        assert_contains(&error, "500 Internal Server Error: the reason yyy");
        assert!(error.to_string().len() < 600);
    }
    server.wait_for_disconnects(2).await;
}

#[tokio::test]
async fn a_complete_answer_to_a_request_for_a_stream_is_read() {
    let body = json!({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]});
    for content_type in ["application/json", "text/event-stream", "text/plain"] {
        let server = Server::always(answer("200 OK", content_type, &format!("\n {body}"))).await;
        assert_eq!(
            complete_streaming(&openai(&server)).await.unwrap().text(),
            "hello"
        );
    }
}

#[tokio::test]
async fn an_error_with_a_good_status_is_an_error_of_the_stream_and_retried() {
    let busy = json!({"error": {"type": "rate_limit_error", "message": "Slow down"}});
    let good = "data: {\"choices\": [{\"delta\": {\"content\": \"hello\"}, \"finish_reason\": \"stop\"}]}\n\n";
    let server = Server::start(move |number, _| match number {
        0 => answer("200 OK", "application/json", &busy.to_string()),
        1 => vec![events(), chunk(&format!("data: {busy}\n\n")), end()],
        _ => vec![events(), chunk(good), end()],
    })
    .await;
    let first = openai(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    assert_eq!(first.kind, LlmErrorKind::RateLimited { retry_after: None });
    assert_eq!(
        first.to_string(),
        "provider `openai-compatible` failed: Slow down"
    );
    let retry = Retry::attempts(2).first(Duration::from_millis(1));
    let patient = Retrying::new(openai(&server)).with_retry(retry);
    assert_eq!(complete_streaming(&patient).await.unwrap().text(), "hello");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn text_that_is_not_utf8_is_an_error_in_both_ways() {
    let mut body = b"{\"choices\": [{\"message\": {\"content\": \"".to_vec();
    body.extend([0xff, 0xfe]);
    body.extend(b"\"}}]}");
    let mut event = b"data: ".to_vec();
    event.extend(&body);
    event.extend(b"\n\n");
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let server = Server::start(move |_, asked| {
        let body = if asked.body["stream"] == true {
            event.clone()
        } else {
            body.clone()
        };
        vec![Step::Send(head.into()), Step::Send(body)]
    })
    .await;
    let whole = openai(&server).complete(&LlmRequest::prompt("hi")).await;
    for error in [
        whole.unwrap_err(),
        complete_streaming(&openai(&server)).await.unwrap_err(),
    ] {
        assert_eq!(error.kind, LlmErrorKind::Malformed, "{error}");
    }
}

#[tokio::test]
async fn the_query_of_an_address_is_sent_with_each_request() {
    let body = json!({"choices": [{"message": {"content": "ok"}}]}).to_string();
    let server = Server::always(answer("200 OK", "application/json", &body)).await;
    let address = server.url("/openai/?api-version=2026-01-01");
    let model = ProviderModel::openai_compatible(address, "tiny").without_retry();
    model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    let head = server.requests().remove(0).head;
    assert_contains(
        &head,
        "post /openai/chat/completions?api-version=2026-01-01 http/1.1",
    );
}
