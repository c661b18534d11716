//! The server without a socket: requests go to the router.

use std::path::Path;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use petalflow::thread::{Durability, Outcome};
use petalflow_server_example::flow::PayRefund;
use petalflow_server_example::{App, router};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn send(router: &Router, method: Method, path: &str, body: Value) -> (StatusCode, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn post(router: &Router, path: &str, body: Value) -> (StatusCode, String) {
    send(router, Method::POST, path, body).await
}

async fn get(router: &Router, path: &str) -> Value {
    let (status, body) = send(router, Method::GET, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// The refund when its run has stopped.
async fn wait_until_settled(router: &Router, id: &str) -> Value {
    // The stream of events ends with the run.
    send(
        router,
        Method::GET,
        &format!("/refunds/{id}/events"),
        Value::Null,
    )
    .await;
    get(router, &format!("/refunds/{id}")).await
}

async fn open(folder: &Path) -> (App, Router) {
    let app = App::open(&folder.join("refunds.db")).await.unwrap();
    (app.clone(), router(app))
}

#[tokio::test]
async fn one_of_two_clerks_decides() {
    let folder = tempfile::tempdir().unwrap();
    let (_app, router) = open(folder.path()).await;
    let (status, body) = post(&router, "/refunds/A-17", json!({ "cents": 129_900 })).await;
    assert_eq!((status, &*body), (StatusCode::ACCEPTED, r#"{"id":"A-17"}"#));
    let (status, _) = post(&router, "/refunds/A-17", json!({ "cents": 5 })).await;
    assert_eq!(status, StatusCode::CONFLICT);

    let waiting = wait_until_settled(&router, "A-17").await;
    assert_eq!(waiting["status"], "waiting");
    assert_eq!(
        waiting["questions"][0]["question"],
        json!({ "cents": 129_900 })
    );
    let question = waiting["questions"][0]["id"].as_str().unwrap();
    let path = format!("/refunds/A-17/answers/{question}");
    let (refused, _) = post(&router, &path, json!({ "pay": "perhaps" })).await;
    assert_eq!(refused, StatusCode::UNPROCESSABLE_ENTITY);

    let answers = ["Ann", "Bo"].map(|by| post(&router, &path, json!({ "pay": true, "by": by })));
    let [ann, bo] = answers;
    let (ann, bo) = tokio::join!(ann, bo);
    let winner = if ann.0 == StatusCode::ACCEPTED {
        "Ann"
    } else {
        "Bo"
    };
    let mut statuses = [ann.0, bo.0];
    statuses.sort();
    assert_eq!(
        statuses,
        [StatusCode::ACCEPTED, StatusCode::CONFLICT],
        "{} {}",
        ann.1,
        bo.1
    );

    let paid = wait_until_settled(&router, "A-17").await;
    assert_eq!(paid["status"], "finished");
    assert_eq!(
        paid["log"],
        json!([format!("approved by {winner}"), "paid 1299.00"])
    );
}

#[tokio::test]
async fn events_are_streamed_until_the_run_stops() {
    let folder = tempfile::tempdir().unwrap();
    let (_app, router) = open(folder.path()).await;
    post(&router, "/refunds/A-1", json!({ "cents": 1 })).await;
    // The run has not been polled yet: it is a task of this thread.
    let events = "/refunds/A-1/events";
    let (_, seen) = send(&router, Method::GET, events, Value::Null).await;
    let kinds: Vec<_> = seen
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(kinds.first(), Some(&"run_started"), "{seen}");
    assert_eq!(kinds.last(), Some(&"interrupted"), "{seen}");
    assert!(seen.contains(r#""kind":"node_started""#), "{seen}");
    // Later, and in another process: the same events.
    let (_app, other) = open(folder.path()).await;
    let (_, again) = send(&other, Method::GET, events, Value::Null).await;
    assert_eq!(again, seen);
    // A client that reconnects receives those that it has missed.
    let known = kinds.len() - 2;
    let request = Request::get(events).header("last-event-id", known);
    let request = request.body(Body::empty()).unwrap();
    let response = other.oneshot(request).await.unwrap();
    let rest = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let rest = String::from_utf8(rest.to_vec()).unwrap();
    assert_eq!(rest.matches("event: ").count(), 2, "{rest}");
    assert!(seen.ends_with(&rest), "{rest}");
}

#[tokio::test]
async fn the_runs_of_a_dead_process_are_recovered() {
    let folder = tempfile::tempdir().unwrap();
    // A process that ended after its 202.
    let store = SqliteStore::open(folder.path().join("refunds.db"))
        .await
        .unwrap();
    let threads = PayRefund::new().store(&store).durability(Durability::Exit);
    drop(threads.thread("A-2").run(700_u64).begin().await.unwrap());
    // And one that stopped as it should, with a question.
    let paused = threads.thread("A-3").run(800_u64).await.unwrap();
    assert!(matches!(paused, Outcome::Paused(_)));

    let (app, router) = open(folder.path()).await;
    assert_eq!(get(&router, "/refunds/A-2").await["status"], "running");
    assert_eq!(app.recover().await.unwrap(), 1);
    assert_eq!(
        wait_until_settled(&router, "A-2").await["status"],
        "waiting"
    );
    app.drain().await;
    assert_eq!(get(&router, "/refunds/A-3").await["status"], "waiting");
}

#[tokio::test]
async fn a_drained_server_leaves_its_runs_to_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (app, router) = open(folder.path()).await;
    post(&router, "/refunds/A-4", json!({ "cents": 150 })).await;
    let waiting = wait_until_settled(&router, "A-4").await;
    let question = waiting["questions"][0]["id"].as_str().unwrap();
    let path = format!("/refunds/A-4/answers/{question}");
    let (status, _) = post(&router, &path, json!({ "pay": true, "by": "Ann" })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    app.drain().await;
    // The answer is stored, and `decide` has not begun.
    let stopped = get(&router, "/refunds/A-4").await;
    assert_eq!(stopped["status"], "stopped");
    assert_eq!(stopped["log"], json!([]));

    let (next, router) = open(folder.path()).await;
    assert_eq!(next.recover().await.unwrap(), 1);
    assert_eq!(
        wait_until_settled(&router, "A-4").await["log"],
        json!(["approved by Ann", "paid 1.50"])
    );
}
