//! Answers to a thread whose other nodes still run.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
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
    let served = ServedFlow::new(Early::new().manage(gate.clone())).question::<Which>();
    let limits = Limits {
        max_runs: 1,
        ..Limits::default()
    };
    let builder = Server::builder(&InMemoryStore::new())
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
