//! What clients tell threads of an engine: commands, messages, times. `petalflow-restate` has the same with a server of Restate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadEngine;
use petalflow::prelude::*;
use petalflow::thread::Retention;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{RemoteTrouble, ServedFlow, Server};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::engine::Engine;
use crate::kit::{Response, call, get};

#[state]
struct Job {
    #[key(input)]
    text: String,
    #[key(append)]
    done: Vec<String>,
    #[key(append, inbox)]
    notes: Vec<String>,
}

/// Each permit lets a node end that has to wait.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

#[node(Job)]
async fn work(text: &str, gate: Managed<Gate>) -> JobDone {
    if text.starts_with("slow") {
        gate.0.acquire().await.expect("it stays open").forget();
    }
    JobDone(vec![text.into()])
}

#[node(Job)]
async fn end(text: &str, gate: Managed<Gate>) -> JobDone {
    if text == "late" {
        gate.0.acquire().await.expect("it stays open").forget();
    }
    JobDone(vec!["end".into()])
}

flow!(Work(Job) { work -> end });

struct Served {
    gate: Gate,
    engine: Engine<Work>,
    store: InMemoryStore,
    server: Server,
}

impl Served {
    fn new(retention: Retention) -> Self {
        let gate = Gate(Arc::new(Semaphore::new(0)));
        let engine = ThreadEngine::new(Work::new().manage(gate.clone()));
        let engine = Engine::new(engine.retention(retention));
        let store = InMemoryStore::new();
        Served {
            server: server(&engine, &store),
            gate,
            engine,
            store,
        }
    }

    fn router(&self) -> Router {
        self.server.router()
    }

    fn open(&self, ends: usize) {
        self.gate.0.add_permits(ends);
    }

    async fn begin(&self, text: &str) -> String {
        let body = json!({ "id": "a", "input": { "text": text } });
        let begun = call(&self.router(), "POST", "/flows/jobs/threads", body).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
        begun.thread()
    }

    async fn turn(&self, thread: &str, text: &str, strategy: &str) -> Response {
        let path = format!("/threads/{thread}/turns");
        let body = json!({ "input": { "text": text }, "multitask_strategy": strategy });
        call(&self.router(), "POST", &path, body).await
    }

    async fn done(&self, thread: &str, done: &[&str]) {
        until("the turns are done", async || {
            let view = get(&self.router(), &format!("/threads/{thread}"))
                .await
                .json();
            view["status"] == "finished" && view["state"]["done"] == json!(done)
        })
        .await;
    }

    async fn status(&self, thread: &str) -> Value {
        let view = get(&self.router(), &format!("/threads/{thread}"))
            .await
            .json();
        view["status"].clone()
    }
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn server(engine: &Engine<Work>, store: &InMemoryStore) -> Server {
    Server::builder(store)
        .serve_remote(ServedFlow::new(Work::new()).named("jobs"), engine.clone())
        .threads(TriggerAuth::None)
        .build()
        .expect("its settings are right")
}

#[tokio::test]
async fn f43_messages_to_a_thread_of_an_engine_wait_and_begin_their_turns_in_order() {
    let served = Served::new(Retention::max_checkpoints(1));
    let thread = served.begin("slow").await;
    for text in ["one", "two"] {
        let queued = served.turn(&thread, text, "enqueue").await;
        assert_eq!(queued.status, StatusCode::ACCEPTED, "{queued:?}");
        assert_eq!(queued.json()["message"], "enqueued");
    }
    served.open(1);
    let all = ["slow", "end", "one", "end", "two", "end"];
    served.done(&thread, &all).await;

    // Another process of the server begins the turn of a message, if the one that has stored it is gone.
    let other = server(&served.engine, &served.store);
    let turn = json!({ "input": { "text": "slow again" } });
    let path = format!("/threads/{thread}/turns");
    let begun = call(&other.router(), "POST", &path, turn).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
    let queued = served.turn(&thread, "three", "enqueue").await;
    assert_eq!(queued.json()["message"], "enqueued", "{queued:?}");
    served.open(1);
    let mut all = all.to_vec();
    all.extend(["slow again", "end"]);
    served.done(&thread, &all).await;
    other.recover().await.expect("it looks for messages");
    all.extend(["three", "end"]);
    served.done(&thread, &all).await;
}

#[tokio::test]
async fn f43_a_message_interrupts_or_undoes_the_turn_of_a_thread_of_an_engine() {
    let served = Served::new(Retention::ALL);
    let thread = served.begin("one").await;
    served.done(&thread, &["one", "end"]).await;
    let interrupted = ["one", "end", "late", "two", "end"];
    let undone = ["one", "end", "late", "two", "end", "two", "end"];
    for (strategy, done) in [("interrupt", &interrupted[..]), ("rollback", &undone)] {
        let late = served.turn(&thread, "late", "reject").await;
        assert_eq!(late.status, StatusCode::ACCEPTED, "{late:?}");
        until("its first node has ended", async || {
            let view = get(&served.router(), &format!("/threads/{thread}"))
                .await
                .json();
            let done = view["state"]["done"].as_array().expect("a list").clone();
            done.last() == Some(&json!("late"))
        })
        .await;
        let refused = served.turn(&thread, "two", "reject").await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{refused:?}");
        let begun = served.turn(&thread, "two", strategy).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
        served.done(&thread, done).await;
    }
}

#[tokio::test]
async fn f43_a_thread_of_an_engine_is_held_at_its_barrier_and_gets_its_messages() {
    let served = Served::new(Retention::max_checkpoints(1));
    let router = served.router();
    let thread = served.begin("slow").await;
    let post = async |path: &str, body: Value| {
        let path = format!("/threads/{thread}/{path}");
        call(&router, "POST", &path, body).await
    };
    for _ in 0..2 {
        let message = json!({ "key": "notes", "value": ["hello"], "id": "m1" });
        let sent = post("messages", message).await;
        assert_eq!(sent.status, StatusCode::ACCEPTED, "{sent:?}");
        assert_eq!(sent.json(), json!({ "message": null }));
    }
    let unknown = post("messages", json!({ "key": "note", "value": [] })).await;
    assert_eq!(
        unknown.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{unknown:?}"
    );
    let drained = post("drain", json!({})).await;
    assert_eq!(drained.status, StatusCode::CONFLICT);
    assert!(
        drained.error().contains("send `hold` or `cancel`"),
        "{drained:?}"
    );
    let held = post("hold", json!({})).await;
    assert_eq!(
        (held.status, held.json()["status"].clone()),
        (StatusCode::ACCEPTED, Value::Null)
    );
    served.open(1);
    until("it is held", async || {
        served.status(&thread).await == "held"
    })
    .await;
    let view = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(view["state"]["done"], json!(["slow"]));
    assert_eq!(post("resume", json!({})).await.status, StatusCode::ACCEPTED);
    served.done(&thread, &["slow", "end"]).await;
    let view = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(view["state"]["notes"], json!(["hello"]));
    let over = post("cancel", json!({})).await;
    assert_eq!(over.status, StatusCode::CONFLICT);
    assert_eq!(over.error(), "no run has the thread: it is finished");
}

#[tokio::test]
async fn f43_a_thread_of_an_engine_begins_later_and_can_be_cancelled_before() {
    let served = Served::new(Retention::max_checkpoints(1));
    let router = served.router();
    let body = json!({ "id": "a", "input": { "text": "one" }, "delay": "1h", "labels": { "user": "ann" } });
    let begun = call(&router, "POST", "/flows/jobs/threads", body).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
    let thread = begun.thread();
    let view = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(view["status"], "sleeping");
    assert_eq!(view["labels"], json!({ "user": "ann" }));
    let path = format!("/threads/{thread}/cancel");
    let cancelled = call(&router, "POST", &path, json!({})).await;
    assert_eq!(cancelled.json()["status"], "held", "{cancelled:?}");
}

#[tokio::test]
async fn f43_a_list_says_why_threads_of_an_engine_do_not_go_on() {
    let served = Served::new(Retention::max_checkpoints(1));
    let thread = served.begin("slow").await;
    let trouble = RemoteTrouble {
        service: "crawlers".into(),
        attempts: 3,
        is_paused: false,
        error: "connection refused".into(),
        next_ms: Some(1_700_000_000_000),
    };
    let mut troubles = served.engine.troubles.lock().await;
    troubles.insert(thread.clone(), trouble);
    drop(troubles);
    let listed = async || {
        let listed = get(&served.router(), "/threads").await.json();
        listed["threads"][0]["trouble"].clone()
    };
    let expected = json!({
        "state": "retrying",
        "service": "crawlers",
        "attempts": 3,
        "error": "connection refused",
        "next_ms": 1_700_000_000_000_u64,
    });
    assert_eq!(listed().await, expected);
    served.open(1);
    served.done(&thread, &["slow", "end"]).await;
    assert_eq!(listed().await, Value::Null, "it does not run");
}
