//! Clients that wait for the end of the run that they begin: `Prefer: wait=SECONDS`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, ServedFlow, Server};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::kit::{Response, send};

#[derive(Serialize, Ask)]
#[ask(answer = u64)]
struct HowMany;

#[state]
struct Count {
    #[key(input)]
    by: u64,
    #[key(sum)]
    total: u64,
}

/// Nothing to count is a failure, and more than ten is up to a person.
#[node(Count)]
async fn add(by: &u64, cx: Context) -> petalflow::Result<CountTotal> {
    match *by {
        0 => Err("there is nothing to count".into()),
        11.. => Ok(CountTotal(cx.ask(HowMany).await?)),
        by => Ok(CountTotal(by)),
    }
}

flow!(Counts(Count) { add });

fn router(limits: Limits) -> Router {
    let counts = ServedFlow::new(Counts::new()).question::<HowMany>();
    let server = Server::builder(&InMemoryStore::new())
        .serve_flow(counts)
        .threads(TriggerAuth::None)
        .limits(limits);
    server.build().expect("the settings are right").router()
}

async fn waiting(router: &Router, path: &str, body: Value) -> Response {
    let request = Request::post(path).header("prefer", "wait=30");
    let request = request.body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}

/// Row by row: each address that begins a run.
#[tokio::test]
async fn f42_a_client_may_wait_wherever_it_begins_a_run() {
    let router = router(Limits {
        max_wait: Duration::from_mins(1),
        ..Limits::default()
    });
    let start = "/flows/Counts/threads";
    let input = |by: u64| json!({ "input": { "by": by } });
    let at = |response: &Response, address: &str| {
        let thread = response.json()["thread"].as_str().map(String::from);
        format!("/threads/{}{address}", thread.expect("an id"))
    };
    let shows = |row: usize, response: &Response, code: StatusCode, status: &str, total: Value| {
        let body = response.json();
        assert_eq!(response.status, code, "row {row}: {response:?}");
        assert_eq!(body["status"], status, "row {row}: {response:?}");
        assert_eq!(body["state"]["total"], total, "row {row}: {response:?}");
    };
    let begun = waiting(&router, start, input(2)).await;
    shows(1, &begun, StatusCode::OK, "finished", json!(2));
    let turn = waiting(&router, &at(&begun, "/turns"), input(3)).await;
    shows(2, &turn, StatusCode::OK, "finished", json!(5));
    let asked = waiting(&router, start, input(11)).await;
    shows(3, &asked, StatusCode::ACCEPTED, "waiting", Value::Null);
    let request = Request::get(at(&asked, "")).body(Body::empty());
    let shown = send(&router, request.expect("a request")).await.json();
    let question = shown["questions"][0]["id"].as_str().expect("it asks");
    let answer = at(&asked, &format!("/answers/{question}"));
    let answered = waiting(&router, &answer, json!({ "answer": 7 })).await;
    shows(4, &answered, StatusCode::OK, "finished", json!(7));
    let failed = waiting(&router, start, input(0)).await;
    shows(
        5,
        &failed,
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed",
        Value::Null,
    );
    assert!(!failed.text.contains("nothing to count"), "{failed:?}");
    let resumed = waiting(&router, &at(&failed, "/resume"), json!({})).await;
    shows(
        6,
        &resumed,
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed",
        Value::Null,
    );
}

#[tokio::test]
async fn f42_without_a_limit_no_client_waits() {
    let router = router(Limits::default());
    let input = json!({ "input": { "by": 2 } });
    let begun = waiting(&router, "/flows/Counts/threads", input).await;
    let thread = begun.thread();
    assert_eq!(begun.json(), json!({ "thread": thread }));
}

/// A node that waits for a permission.
#[state]
struct Gate {
    #[key(input)]
    number: u64,
    opened: bool,
}

#[node(Gate)]
async fn open(gate: Managed<Notify>, number: &u64) -> GateOpened {
    gate.notified().await;
    GateOpened(*number > 0)
}

flow!(OpenGate(Gate) { open });

fn gates(store: &InMemoryStore, gate: &Arc<Notify>) -> Server {
    let launch = OpenGate::new().manage_with(Arc::clone(gate));
    let server = Server::builder(store)
        .serve_flow(ServedFlow::new(launch))
        .threads(TriggerAuth::None)
        .limits(Limits {
            max_wait: Duration::from_mins(5),
            max_thread_wait: Duration::from_mins(5),
            max_streams: 1,
            ..Limits::default()
        });
    server.build().expect("the settings are right")
}

async fn get(router: &Router, path: &str) -> Response {
    let request = Request::get(path).body(Body::empty());
    send(router, request.expect("a request")).await
}

#[tokio::test]
async fn f43_any_replica_waits_for_the_end_of_a_thread() {
    let (store, gate) = (InMemoryStore::new(), Arc::new(Notify::new()));
    let (one, other) = (gates(&store, &gate), gates(&store, &gate).router());
    let request = Request::post("/flows/OpenGate/threads");
    let request = request.body(Body::from(json!({ "input": { "number": 1 } }).to_string()));
    let thread = send(&one.router(), request.expect("a request"))
        .await
        .thread();
    let at = format!("/threads/{thread}/wait");

    let running = get(&other, &format!("{at}?seconds=0")).await;
    assert_eq!(running.status, StatusCode::ACCEPTED, "{running:?}");
    assert_eq!(
        running.json(),
        json!({ "thread": thread, "status": "running" })
    );

    // It waits when the second client is refused, and the gate is closed until then.
    let waits = tokio::spawn({
        let (other, at) = (other.clone(), at.clone());
        async move { get(&other, &at).await }
    });
    loop {
        let refused = get(&other, &format!("{at}?seconds=0")).await;
        if refused.status == StatusCode::SERVICE_UNAVAILABLE {
            break;
        }
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    let ended = waits.await.expect("it does not panic");
    assert_eq!(ended.status, StatusCode::OK, "{ended:?}");
    assert_eq!(ended.json()["status"], "finished");
    assert_eq!(ended.json()["state"]["opened"], true);
    let again = get(&one.router(), &format!("{at}?until=end")).await;
    assert_eq!(again.json()["status"], "finished", "{again:?}");

    for (path, status) in [
        (format!("{at}?until=later"), StatusCode::BAD_REQUEST),
        (format!("{at}?second=1"), StatusCode::BAD_REQUEST),
        ("/threads/OpenGate:none/wait".into(), StatusCode::NOT_FOUND),
    ] {
        assert_eq!(get(&other, &path).await.status, status, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn f43_a_thread_that_waits_for_a_person_rests_and_has_not_ended() {
    let router = router(Limits::default());
    let input = json!({ "input": { "by": 11 } });
    let thread = waiting(&router, "/flows/Counts/threads", input)
        .await
        .thread();
    let rests = get(&router, &format!("/threads/{thread}/wait")).await;
    assert_eq!(rests.status, StatusCode::OK, "{rests:?}");
    assert_eq!(rests.json()["waits"][0]["name"], "HowMany");
    let end = get(&router, &format!("/threads/{thread}/wait?until=end")).await;
    assert_eq!(end.status, StatusCode::ACCEPTED, "{end:?}");
    assert_eq!(end.json()["status"], "waiting");
}

#[tokio::test]
async fn f43_a_server_that_stops_sends_its_waiting_clients_to_another_one() {
    let (store, gate) = (InMemoryStore::new(), Arc::new(Notify::new()));
    let (one, other) = (gates(&store, &gate), gates(&store, &gate));
    let request = Request::post("/flows/OpenGate/threads");
    let request = request.body(Body::from(json!({ "input": { "number": 1 } }).to_string()));
    let thread = send(&one.router(), request.expect("a request"))
        .await
        .thread();
    other.drain(Duration::ZERO).await;
    let refused = get(&other.router(), &format!("/threads/{thread}/wait")).await;
    assert_eq!(
        refused.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{refused:?}"
    );
    assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
    gate.notify_one();
}

/// A repetition of a start, at another replica, waits for the run of the first one.
#[tokio::test]
async fn f43_a_client_waits_for_a_run_of_another_replica() {
    let (store, gate) = (InMemoryStore::new(), Arc::new(Notify::new()));
    let (one, other) = (gates(&store, &gate).router(), gates(&store, &gate).router());
    let start = |wait: &str| {
        let request = Request::post("/flows/OpenGate/threads").header("prefer", wait);
        let request = request.header("idempotency-key", "k");
        let body = json!({ "input": { "number": 1 } }).to_string();
        request.body(Body::from(body)).expect("a request")
    };
    let thread = send(&one, start("wait=0")).await.thread();
    gate.notify_one();
    let ended = send(&other, start("wait=60")).await;
    assert_eq!(ended.status, StatusCode::OK, "{ended:?}");
    assert_eq!(ended.json()["thread"], json!(thread));
    assert_eq!(ended.json()["state"]["opened"], true);
}
