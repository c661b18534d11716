//! Documents that change while the threads of a server wait.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::{InMemoryStore, Store as _, ThreadQuery};
use petalflow::thread::DocumentVersion;
use petalflow_documents::Services;
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::document_version;
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_server::Server;
use serde_json::json;

use crate::kit::{Response, get, graph, post, send, wait_until_settled};

/// A document that asks at this node, and writes this text.
fn review(node: &str, text: &str) -> GraphDefinition {
    let human = json!({ "id": node, "type": "human", "config": {
        "mode": "approval", "prompt": "Pay?", "output_var": "review" } });
    let last = json!({ "id": "last", "type": "transform", "config": {
        "transform": "template", "template": text, "output_var": "text" } });
    graph(json!({}), &[human, last])
}

fn server(store: &InMemoryStore, document: &GraphDefinition) -> Server {
    let services = Services::new().human(ThreadHandler);
    let server = Server::builder(store).document(document, &services);
    server.threads(TriggerAuth::None).build().expect("right")
}

async fn approve(server: &Server, thread: &str) -> Response {
    let router = server.router();
    let waiting = get(&router, &format!("/threads/{thread}")).await.json();
    let question = waiting["questions"][0]["id"].as_str();
    let question = question.unwrap_or_else(|| panic!("{waiting}"));
    let path = format!("/threads/{thread}/answers/{question}");
    let request = Request::post(path).body(Body::from(json!({ "approved": true }).to_string()));
    send(&router, request.expect("a request")).await
}

async fn label(store: &InMemoryStore) -> String {
    let threads = store
        .threads(ThreadQuery::default())
        .await
        .expect("it lists");
    threads[0].labels[DocumentVersion::LABEL].clone()
}

fn version(document: &GraphDefinition) -> String {
    document_version(document).expect("it is JSON").to_string()
}

#[tokio::test]
async fn a_thread_goes_on_with_a_changed_document_that_fits() {
    let store = InMemoryStore::new();
    let (old, new) = (review("review", "old"), review("review", "new"));
    let first = server(&store, &old).router();
    let thread = send(&first, post(&[], "{}")).await.thread();
    let waiting = wait_until_settled(&first, &thread).await;
    assert_eq!(waiting["status"], "waiting", "{waiting}");
    assert_eq!(label(&store).await, version(&old));

    let second = server(&store, &new);
    assert_eq!(approve(&second, &thread).await.status, StatusCode::ACCEPTED);
    let found = wait_until_settled(&second.router(), &thread).await;
    assert_eq!(found["state"]["vars"]["text"], "new", "{found}");
    assert_eq!(label(&store).await, version(&new));
}

#[tokio::test]
async fn an_answer_is_refused_with_both_versions_if_the_document_does_not_fit() {
    let store = InMemoryStore::new();
    let (old, new) = (review("review", "old"), review("check", "new"));
    let first = server(&store, &old);
    let thread = send(&first.router(), post(&[], "{}")).await.thread();
    wait_until_settled(&first.router(), &thread).await;

    let refused = approve(&server(&store, &new), &thread).await;
    assert_eq!(refused.status, StatusCode::INTERNAL_SERVER_ERROR);
    let text = refused.error();
    for part in [
        "document `orders`",
        &version(&old),
        &version(&new),
        "`review`",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert_eq!(label(&store).await, version(&old));
    // The server with the old document still takes the answer.
    assert_eq!(approve(&first, &thread).await.status, StatusCode::ACCEPTED);
    let found = wait_until_settled(&first.router(), &thread).await;
    assert_eq!(found["state"]["vars"]["text"], "old", "{found}");
}
