//! Requests that are sent again.

use std::time::{Duration, Instant};

use petalflow::policy::Retry;
use petalflow_llm::{LlmClient, LlmRequest, ProviderModel, Retrying};
use serde_json::json;

use petalflow_llm_test_support::server::{Server, answer, with_headers};

fn openai(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny").without_retry()
}

#[tokio::test]
async fn a_requested_wait_is_respected_and_the_next_attempt_succeeds() {
    let server = Server::start(|number, _| match number {
        0 => with_headers("429 Too Many Requests", "retry-after-ms: 300\r\n", ""),
        1 => answer("503 Service Unavailable", "text/plain", "busy"),
        2 => vec![],
        _ => answer(
            "200 OK",
            "application/json",
            "{\"choices\": [{\"message\": {\"content\": \"hello\"}}]}",
        ),
    })
    .await;
    let retry = Retry::attempts(5).first(Duration::from_millis(1));
    let model = Retrying::new(openai(&server)).with_retry(retry);
    let start = Instant::now();
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(
        (response.text().as_str(), server.requests().len()),
        ("hello", 4)
    );
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_model_retries_a_rate_limit_without_being_told() {
    let good = json!({"choices": [{"message": {"content": "hello"}}]}).to_string();
    let server = Server::start(move |number, _| match number {
        0 => with_headers("429 Too Many Requests", "retry-after-ms: 1\r\n", ""),
        _ => answer("200 OK", "application/json", &good),
    })
    .await;
    let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny");
    let model = model.with_retry(Retry::attempts(3).first(Duration::from_millis(1)));
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(
        (response.text(), server.requests().len()),
        ("hello".into(), 2)
    );
    // The default policy has longer delays, and the same number of attempts.
    let server = Server::always(answer("503 Busy", "text/plain", "")).await;
    let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny");
    model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_provider_says_whether_a_retry_may_succeed() {
    for (status, header, transient) in [
        ("409 Conflict", "", true),
        ("409 Conflict", "x-should-retry: false\r\n", false),
        ("400 Bad Request", "x-should-retry: true\r\n", true),
        (
            "503 Service Unavailable",
            "x-should-retry: false\r\n",
            false,
        ),
        ("400 Bad Request", "", false),
    ] {
        let server = Server::always(with_headers(status, header, "{}")).await;
        let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny").without_retry();
        let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
        assert_eq!(error.is_transient(), transient, "{status} {header}");
    }
}
