//! Answers to a thread whose other nodes still run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::{InMemoryStore, Store as _, ThreadChange};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, ServedFlow, Server};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::kit::{call, get, wait_until_settled};

#[derive(serde::Serialize, Ask)]
#[ask(answer = String)]
struct Which;

#[state]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

/// Lets the long node end.
#[derive(Clone, Default)]
struct Gate(Arc<Notify>);

#[node(Log)]
async fn heavy(gate: Managed<Gate>) -> LogLines {
    gate.0.notified().await;
    LogLines(vec!["heavy".into()])
}

#[node(Log)]
async fn asks(cx: Context) -> petalflow::Result<LogLines> {
    Ok(LogLines(vec![cx.ask(Which).await?]))
}

#[node(Log)]
async fn publish() -> LogLines {
    LogLines(vec!["published".into()])
}

flow!(Early(Log) { START -> heavy & asks & publish; interrupt before publish; });

/// A server that runs one thread at a time.
fn router(gate: &Gate) -> Router {
    router_of(&InMemoryStore::new(), gate)
}

fn router_of(store: &InMemoryStore, gate: &Gate) -> Router {
    let served = ServedFlow::new(Early::new().manage(gate.clone())).question::<Which>();
    let limits = Limits {
        max_runs: 1,
        ..Limits::default()
    };
    let builder = Server::builder(store)
        .serve_flow(served)
        .limits(limits)
        .threads(TriggerAuth::None);
    builder.build().expect("the settings are right").router()
}

async fn post(router: &Router, path: &str, body: Value) -> StatusCode {
    let path = format!("/threads/Early:a{path}");
    call(router, "POST", &path, body).await.status
}

/// Begins the thread, and returns what it waits for while its long node runs: the approval and the question.
async fn begun(router: &Router) -> [String; 2] {
    let body = json!({ "id": "a", "input": {} });
    let begun = call(router, "POST", "/flows/Early/threads", body).await;
    assert_eq!(begun.thread(), "Early:a");
    loop {
        let view = get(router, "/threads/Early:a").await.json();
        let questions = view["questions"].as_array().cloned().unwrap_or_default();
        if questions.len() == 2 {
            assert_eq!(view["status"], "running", "{view}");
            let of = |node: &str| {
                let mut all = questions.iter();
                let open = all.find(|open| open["node"] == node);
                let id = open.expect("it is open")["id"].as_str();
                id.expect("an id").to_string()
            };
            return [of("publish"), of("asks")];
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn f42_answers_and_approvals_are_taken_over_http_while_other_nodes_run() {
    let gate = Gate::default();
    let router = router(&gate);
    let [approval, question] = begun(&router).await;
    let answer = |id: &str| format!("/answers/{id}");
    let approve = json!({ "decision": "approve", "by": "Ann" });
    let status = post(&router, &answer(&approval), approve.clone()).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let status = post(&router, &answer(&question), json!({ "answer": "blue" })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    // The others are late.
    let status = post(&router, &answer(&approval), approve).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let status = post(&router, &answer(&question), json!({ "answer": "red" })).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let view = get(&router, "/threads/Early:a").await.json();
    assert_eq!(view["status"], "running", "{view}");
    assert_eq!(view["questions"], json!([]), "{view}");
    gate.0.notify_one();
    let end = wait_until_settled(&router, "Early:a").await;
    assert_eq!(end["status"], "finished", "{end}");
    let lines = json!(["heavy", "blue", "published"]);
    assert_eq!(end["state"]["lines"], lines, "{end}");
}

#[tokio::test]
async fn f42_a_thread_is_cancelled_after_an_early_answer() {
    let gate = Gate::default();
    let router = router(&gate);
    let [_, question] = begun(&router).await;
    let status = post(
        &router,
        &format!("/answers/{question}"),
        json!({ "answer": "blue" }),
    )
    .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert!(post(&router, "/cancel", json!({})).await.is_success());
    let held = wait_until_settled(&router, "Early:a").await;
    assert_eq!(held["status"], "held", "{held}");
    // The run of the answer does not continue it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let held = get(&router, "/threads/Early:a").await.json();
    assert_eq!(held["status"], "held", "{held}");
    assert_eq!(
        held["questions"].as_array().map(Vec::len),
        Some(1),
        "{held}"
    );
}

/// The inbox when it has so many items.
async fn inbox_of(router: &Router, items: usize) -> Value {
    let mut inbox = Value::Null;
    for _ in 0..3_000 {
        inbox = get(router, "/inbox").await.json();
        if inbox["items"].as_array().map(Vec::len) == Some(items)
            && inbox["threads"] == items.min(1)
        {
            return inbox;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never has {items} items: {inbox}");
}

/// The labels of the thread, when it has so many.
async fn labels_are(router: &Router, count: usize) {
    let mut labels = Value::Null;
    for _ in 0..3_000 {
        labels = get(router, "/threads/Early:a").await.json()["labels"].clone();
        if labels.as_object().map(serde_json::Map::len) == Some(count) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("there are never {count} labels: {labels}");
}

#[tokio::test]
async fn f43_the_inbox_has_what_a_thread_waits_for_while_other_nodes_run() {
    let (gate, store) = (Gate::default(), InMemoryStore::new());
    let router = router_of(&store, &gate);
    // Another process of the server, which has not begun the run.
    let other = router_of(&store, &gate);
    let ids = begun(&router).await;
    for router in [&router, &other] {
        let inbox = inbox_of(router, 2).await;
        let items = inbox["items"].as_array().expect("a list");
        for id in &ids {
            let item = items.iter().find(|item| item["id"] == *id);
            let item = item.unwrap_or_else(|| panic!("{id}: {inbox}"));
            assert_eq!(item["thread"], "Early:a");
            assert_eq!(item["answerable"], true);
        }
        let filtered = get(router, "/inbox?flow=Early").await.json();
        assert_eq!(filtered["items"], inbox["items"]);
    }
    let [approval, question] = ids;
    let answers = |id: &str| format!("/answers/{id}");
    let status = post(&router, &answers(&question), json!({ "answer": "blue" })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let left = inbox_of(&other, 1).await;
    assert_eq!(left["items"][0]["id"], approval);
    let status = post(
        &router,
        &answers(&approval),
        json!({ "decision": "approve" }),
    )
    .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    for router in [&router, &other] {
        inbox_of(router, 0).await;
    }
    let view = get(&router, "/threads/Early:a").await.json();
    assert_eq!(view["status"], "running", "{view}");
    gate.0.notify_one();
    let end = wait_until_settled(&router, "Early:a").await;
    assert_eq!(end["status"], "finished", "{end}");
    labels_are(&router, 0).await;
}

#[tokio::test]
async fn f43_what_is_not_answered_stays_in_the_inbox_once_when_the_run_has_ended() {
    let gate = Gate::default();
    let router = router(&gate);
    begun(&router).await;
    inbox_of(&router, 2).await;
    gate.0.notify_one();
    let end = wait_until_settled(&router, "Early:a").await;
    assert_eq!(end["status"], "waiting", "{end}");
    inbox_of(&router, 2).await;
    labels_are(&router, 0).await;
    let events = get(&router, "/threads/Early:a/events").await;
    assert!(events.text.contains("event: asked"), "{events:?}");
}

#[tokio::test]
async fn f43_a_thread_that_asks_no_more_leaves_the_inbox_although_its_process_was_killed() {
    let (gate, store) = (Gate::default(), InMemoryStore::new());
    let router = router_of(&store, &gate);
    let [approval, question] = begun(&router).await;
    inbox_of(&router, 2).await;
    gate.0.notify_one();
    let answers = |id: &str| format!("/answers/{id}");
    post(&router, &answers(&question), json!({ "answer": "blue" })).await;
    post(
        &router,
        &answers(&approval),
        json!({ "decision": "approve" }),
    )
    .await;
    wait_until_settled(&router, "Early:a").await;
    labels_are(&router, 0).await;
    // What a process leaves that is killed.
    let left = BTreeMap::from([("petalflow.asks".to_string(), "1".to_string())]);
    let left = ThreadChange::Labels(&left);
    store
        .describe("Early:a", left, None)
        .await
        .expect("it is stored");
    labels_are(&router, 1).await;
    inbox_of(&router, 0).await;
    labels_are(&router, 0).await;
}
