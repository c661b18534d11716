//! Requests with `Idempotency-Key`: a repetition gets the answer of the first one, and begins nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{ServedFlow, Server};
use serde::Serialize;
use serde_json::{Value, json};

use crate::kit::{Response, get, send, wait_until_settled};

#[derive(Serialize, Ask)]
#[ask(answer = u64)]
struct HowMany;

#[state]
struct Count {
    #[key(input)]
    by: u64,
    #[key(sum)]
    total: u64,
    #[key(append, inbox)]
    notes: Vec<String>,
}

/// How often `add` has run.
#[derive(Default)]
struct Runs(AtomicU64);

/// Nothing to count fails once, and more than ten is up to a person.
#[node(Count)]
async fn add(by: &u64, runs: Managed<Runs>, cx: Context) -> petalflow::Result<CountTotal> {
    let run = runs.0.fetch_add(1, Ordering::SeqCst);
    match *by {
        0 if run == 0 => Err("there is nothing to count".into()),
        11.. => Ok(CountTotal(cx.ask(HowMany).await?)),
        by => Ok(CountTotal(by)),
    }
}

flow!(Counts(Count) { add });

/// A replica.
fn router(store: &InMemoryStore, runs: &Arc<Runs>) -> Router {
    let launch = Counts::new().manage_with(Arc::clone(runs));
    let server = Server::builder(store)
        .serve_flow(ServedFlow::new(launch).question::<HowMany>())
        .threads(TriggerAuth::None);
    server.build().expect("the settings are right").router()
}

async fn keyed(router: &Router, path: &str, key: &str, body: &Value) -> Response {
    let request = Request::post(path).header("idempotency-key", key);
    let request = request.body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}

/// Sends a request with a key to three replicas, of which the last was started after the others, and lets its run end. The
/// responses are the same. Another body with the key is refused.
async fn repeated(
    store: &InMemoryStore,
    runs: &Arc<Runs>,
    (path, thread): (&str, &str),
    body: Value,
) -> Response {
    let [one, other] = [router(store, runs), router(store, runs)];
    let key = format!("of {path}");
    let first = keyed(&one, path, &key, &body).await;
    wait_until_settled(&one, thread).await;
    for replica in [&one, &other, &router(store, runs)] {
        let again = keyed(replica, path, &key, &body).await;
        assert_eq!(again.status, first.status, "{path}: {again:?}");
        assert_eq!(again.text, first.text, "{path}");
        wait_until_settled(replica, thread).await;
    }
    let mut another = body;
    another["by"] = json!("another body");
    let refused = keyed(&other, path, &key, &another).await;
    let is_refused = [StatusCode::UNPROCESSABLE_ENTITY, StatusCode::BAD_REQUEST];
    assert!(is_refused.contains(&refused.status), "{path}: {refused:?}");
    assert_eq!(first.status, StatusCode::ACCEPTED, "{path}: {first:?}");
    first
}

async fn shown(router: &Router, thread: &str) -> Value {
    get(router, &format!("/threads/{thread}")).await.json()
}

#[tokio::test]
async fn f43_a_repeated_request_of_any_kind_begins_nothing() {
    let (store, runs) = (InMemoryStore::new(), Arc::new(Runs::default()));
    let router = router(&store, &runs);
    let thread = "Counts:a";
    let at = |address: &str| format!("/threads/{thread}/{address}");
    let counted = || runs.0.load(Ordering::SeqCst);

    let start = json!({ "id": "a", "input": { "by": 0 } });
    let path = "/flows/Counts/threads";
    let begun = repeated(&store, &runs, (path, thread), start.clone()).await;
    assert_eq!(begun.thread(), thread);
    assert_eq!(counted(), 1);
    let other_key = keyed(&router, path, "another", &start).await;
    assert_eq!(other_key.status, StatusCode::CONFLICT, "{other_key:?}");
    let another = json!({ "id": "b", "input": { "by": 1 } });
    let refused = keyed(&router, path, &format!("of {path}"), &another).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "a key is that of one thread: {refused:?}"
    );

    let resume = at("resume");
    let resumed = keyed(&router, &resume, "resume", &json!({})).await;
    assert_eq!(resumed.thread(), thread);
    assert_eq!(
        wait_until_settled(&router, thread).await["status"],
        "finished"
    );
    let resumed = keyed(&router, &resume, "resume", &json!({})).await;
    assert_eq!(resumed.thread(), thread);
    assert_eq!(counted(), 2);

    let turn = json!({ "input": { "by": 3 } });
    repeated(&store, &runs, (&at("turns"), thread), turn).await;
    assert_eq!(counted(), 3);
    assert_eq!(shown(&router, thread).await["state"]["total"], 3);

    let note = json!({ "key": "notes", "value": ["call Ann"] });
    repeated(&store, &runs, (&at("messages"), thread), note).await;
    let asks = json!({ "input": { "by": 12 } });
    let asked = keyed(&router, &at("turns"), "asks", &asks).await;
    assert_eq!(asked.thread(), thread);
    let waits = wait_until_settled(&router, thread).await;
    assert_eq!(waits["state"]["notes"], json!(["call Ann"]), "once");

    let question = waits["questions"][0]["id"].as_str().expect("it asks");
    let answer = at(&format!("answers/{question}"));
    repeated(&store, &runs, (&answer, thread), json!({ "answer": 4 })).await;
    assert_eq!(shown(&router, thread).await["state"]["total"], 7);
    assert_eq!(counted(), 5, "it asks, and runs again with the answer");

    // The records are not threads that anybody started.
    let listed = get(&router, "/threads").await.json();
    assert_eq!(
        listed["threads"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
}

#[tokio::test]
async fn f43_the_key_of_one_request_is_not_that_of_a_request_to_another_address() {
    let (store, runs) = (InMemoryStore::new(), Arc::new(Runs::default()));
    let router = router(&store, &runs);
    let start = json!({ "id": "a", "input": { "by": 1 } });
    let begun = keyed(&router, "/flows/Counts/threads", "k", &start).await;
    let thread = begun.thread();
    wait_until_settled(&router, &thread).await;
    let turn = json!({ "input": { "by": 1 } });
    let refused = keyed(&router, &format!("/threads/{thread}/turns"), "k", &turn).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
    assert!(refused.error().contains("one of its own"), "{refused:?}");
    let empty = keyed(&router, &format!("/threads/{thread}/turns"), " ", &turn).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST, "{empty:?}");
}
