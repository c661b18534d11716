//! Clients that wait for the end of the run that they begin: `Prefer: wait=SECONDS`.

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
