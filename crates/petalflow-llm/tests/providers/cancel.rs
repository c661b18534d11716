//! To drop a call closes its connection: the server sees it.

use petalflow::run::CancelToken;
use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, ProviderModel};
use serde_json::json;

use petalflow_llm_test_support::server::{Server, Step, event, events};

fn model(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny")
}

#[tokio::test]
async fn i020_dropping_a_call_closes_its_connection() {
    let server = Server::always(vec![Step::Stall]).await;
    let model = model(&server);
    let request = LlmRequest::prompt("hi");
    tokio::select! {
        answer = model.complete(&request) => panic!("{answer:?}"),
        () = server.wait_for_requests(1) => {}
    }
    server.wait_for_disconnects(1).await;
    tokio::select! {
        answer = model.stream(&request) => panic!("{answer:?}"),
        () = server.wait_for_requests(2) => {}
    }
    server.wait_for_disconnects(2).await;
}

#[tokio::test]
async fn i020_dropping_a_stream_in_the_middle_closes_its_connection() {
    let word = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
    let server = Server::always(vec![events(), event(&word), Step::Stall]).await;
    let mut stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    assert!(!stream.next().await.unwrap().done);
    drop(stream);
    server.wait_for_disconnects(1).await;
}

#[tokio::test]
async fn i020_a_cancelled_stream_ends_with_an_error_and_closes_its_connection() {
    let word = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
    let server = Server::always(vec![events(), event(&word), Step::Stall]).await;
    let token = CancelToken::new();
    let stream = model(&server)
        .stream(&LlmRequest::prompt("hi"))
        .await
        .unwrap();
    let mut stream = stream.cancel_with(&token);
    assert!(!stream.next().await.unwrap().done);
    token.cancel();
    let last = stream.next().await.unwrap();
    assert_eq!(last.error.unwrap().kind, LlmErrorKind::Cancelled);
    assert_eq!(last.response.unwrap().text(), "Hel");
    // The stream is still there, its connection is not.
    server.wait_for_disconnects(1).await;
    assert!(stream.next().await.is_none());
}
