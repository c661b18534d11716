//! Threads that an engine runs, beside those in the store of the server.

#[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
mod agents;
pub(crate) mod engine;
mod told;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadEngine;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Notice, RemoteThreads as _, ServedFlow, Server};
use serde_json::{Value, json};

use self::engine::Engine;
use crate::kit::{call, get};

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayPay {}

#[state]
struct Refund {
    #[key(input)]
    cents: u64,
    paid: bool,
}

#[node(Refund)]
async fn check(cents: &u64) -> petalflow::Result<()> {
    if *cents == 0 {
        return Err("there is nothing to pay".into());
    }
    if *cents == 99 {
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
    Ok(())
}

#[node(Refund)]
async fn pay(cx: Context) -> petalflow::Result<RefundPaid> {
    Ok(RefundPaid(cx.ask(MayPay {}).await?))
}

flow!(PayRefund(Refund) { check -> pay });

fn engine() -> Engine<PayRefund> {
    Engine::new(ThreadEngine::new(PayRefund::new()))
}

fn server(engine: &Engine<PayRefund>) -> Server {
    listened(engine, |_| ())
}

fn listened(
    engine: &Engine<PayRefund>,
    listener: impl Fn(Notice<'_>) + Send + Sync + 'static,
) -> Server {
    let remote = ServedFlow::new(PayRefund::new())
        .named("refunds")
        .question::<MayPay>();
    let local = ServedFlow::new(PayRefund::new()).named("others");
    Server::builder(&InMemoryStore::new())
        .serve_flow(local)
        .serve_remote(remote, engine.clone())
        .threads(TriggerAuth::None)
        .on_notice(listener)
        .build()
        .expect("its settings are right")
}

async fn begin(server: &Server, flow: &str, id: &str, cents: u64) -> StatusCode {
    let body = json!({ "id": id, "input": { "cents": cents } });
    let path = format!("/flows/{flow}/threads");
    call(&server.router(), "POST", &path, body).await.status
}

async fn until(server: &Server, thread: &str, status: &str) -> Value {
    loop {
        let view = get(&server.router(), &format!("/threads/{thread}")).await;
        let view = if view.status == StatusCode::OK {
            view.json()
        } else {
            Value::Null
        };
        if view["status"] == status {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn threads_of_the_store_and_of_an_engine_are_one_list() {
    let engine = engine();
    let server = server(&engine);
    for (flow, id) in [("refunds", "a"), ("others", "b"), ("refunds", "c")] {
        assert_eq!(begin(&server, flow, id, 1).await, StatusCode::ACCEPTED);
        until(&server, &format!("{flow}:{id}"), "waiting").await;
    }
    let ids = async |query: &str| {
        let listed = get(&server.router(), &format!("/threads{query}"))
            .await
            .json();
        let threads = listed["threads"].as_array().expect("a list").clone();
        let ids = threads.iter().filter_map(|thread| thread["id"].as_str());
        ids.map(String::from).collect::<Vec<String>>()
    };
    assert_eq!(ids("").await, ["others:b", "refunds:a", "refunds:c"]);
    assert_eq!(ids("?limit=2").await, ["others:b", "refunds:a"]);
    assert_eq!(ids("?limit=2&after=refunds:a").await, ["refunds:c"]);
    assert_eq!(ids("?flow=refunds").await, ["refunds:a", "refunds:c"]);
    assert_eq!(ids("?flow=others").await, ["others:b"]);
    assert_eq!(ids("?prefix=refunds:c").await, ["refunds:c"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_of_an_engines_thread_is_answered_once() {
    let engine = engine();
    let server = server(&engine);
    begin(&server, "refunds", "a", 1).await;
    assert_eq!(
        begin(&server, "refunds", "a", 1).await,
        StatusCode::CONFLICT
    );
    let view = until(&server, "refunds:a", "waiting").await;
    let question = view["questions"][0]["id"].as_str().expect("it asks");
    let path = format!("/threads/refunds:a/answers/{question}");
    let answer = json!({ "answer": true });
    let status = call(&server.router(), "POST", &path, answer.clone())
        .await
        .status;
    assert_eq!(status, StatusCode::ACCEPTED);
    let view = until(&server, "refunds:a", "finished").await;
    assert_eq!(view["state"]["paid"], true);
    let status = call(&server.router(), "POST", &path, answer.clone())
        .await
        .status;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_leaves_the_runs_of_an_engine_alone() {
    let engine = engine();
    let server = server(&engine);
    begin(&server, "refunds", "slow", 99).await;
    let begun = tokio::time::Instant::now();
    server.drain(Duration::from_secs(5)).await;
    assert!(begun.elapsed() <= Duration::from_millis(100));
    assert!(engine.runs("refunds:slow").await);
    assert!(engine.cancelled.lock().await.is_empty());
    assert_eq!(server.recover().await.unwrap(), 0);
    engine.wait("refunds:slow").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_person_cancels_the_run_of_an_engine() {
    let engine = engine();
    let server = server(&engine);
    begin(&server, "refunds", "slow", 99).await;
    let path = "/threads/refunds:slow/cancel";
    let status = call(&server.router(), "POST", path, json!({})).await.status;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(*engine.cancelled.lock().await, ["refunds:slow"]);
    engine.wait("refunds:slow").await.unwrap();
    let again = call(&server.router(), "POST", path, json!({})).await;
    assert_eq!(again.status, StatusCode::ACCEPTED);
    assert_eq!(again.json()["status"], "held");
    let status = call(
        &server.router(),
        "POST",
        "/threads/refunds:none/cancel",
        json!({}),
    )
    .await
    .status;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn the_program_is_told_why_a_thread_of_an_engine_has_failed() {
    let engine = engine();
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let listened_lines = Arc::clone(&lines);
    let server = listened(&engine, move |notice| {
        listened_lines.lock().unwrap().push(notice.to_string());
    });
    begin(&server, "refunds", "a", 0).await;
    until(&server, "refunds:a", "failed").await;
    server.drain(Duration::from_secs(5)).await;
    let lines = lines.lock().unwrap();
    let failed = lines.iter().find(|line| line.contains("failed"));
    let failed = failed.unwrap_or_else(|| panic!("{lines:?}"));
    assert!(failed.ends_with("there is nothing to pay"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn a_thread_of_an_engine_is_copied_and_forked_into_another_one() {
    let engine = engine();
    let server = server(&engine);
    begin(&server, "refunds", "a", 7).await;
    let view = until(&server, "refunds:a", "waiting").await;
    let router = server.router();
    let fork = json!({ "id": "c", "checkpoint": view["checkpoint"] });
    for (path, body) in [("copy", json!({ "id": "b" })), ("fork", fork)] {
        let path = format!("/threads/refunds:a/{path}");
        let made = call(&router, "POST", &path, body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
    }
    for other in ["refunds:b", "refunds:c"] {
        assert_eq!(until(&server, other, "held").await["state"]["cents"], 7);
        let path = format!("/threads/{other}/resume");
        let resumed = call(&router, "POST", &path, json!({})).await;
        assert_eq!(resumed.status, StatusCode::ACCEPTED);
        until(&server, other, "waiting").await;
    }
}
