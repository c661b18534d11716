//! Threads over HTTP: their status, their events, answers.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow_documents::Services;
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_server::{Server, ServerBuilder};
use petalflow_testing::CountingStore;
use serde_json::{Value, json};

use crate::kit::{Response, Work, builder, get, graph, post, send, wait_until_settled};

/// A server whose graph asks a person.
fn asking() -> ServerBuilder {
    asking_with(&InMemoryStore::new())
}

fn asking_with(store: &(impl Store + Clone)) -> ServerBuilder {
    let human = json!({ "id": "review", "type": "human", "config": {
        "mode": "approval", "prompt": "Pay?", "output_var": "review" } });
    let services = Services::new().human(ThreadHandler);
    Server::builder(store).document(graph(json!({}), &[human]), &services)
}

async fn answer(router: &Router, thread: &str, question: &str, body: Value) -> Response {
    let path = format!("/threads/{thread}/answers/{question}");
    let request = Request::post(path).body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}

#[tokio::test]
async fn one_of_two_people_answers() {
    let server = asking().threads(TriggerAuth::None).build().expect("right");
    let router = server.router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let waiting = wait_until_settled(&router, &thread).await;
    assert_eq!(waiting["status"], "waiting", "{waiting}");
    assert_eq!(
        waiting["questions"][0]["question"]["prompt"], "Pay?",
        "{waiting}"
    );
    let question = waiting["questions"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();

    let wrong = answer(
        &router,
        &thread,
        &question,
        json!({ "approved": "perhaps" }),
    )
    .await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    // Neither is a rejection: the question would take no other answer.
    let misspelt = json!({ "approvd": true });
    let wrong = answer(&router, &thread, &question, misspelt).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    let silent = json!({ "responded_by": "Ann" });
    let wrong = answer(&router, &thread, &question, silent).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    let wrong = answer(&router, &thread, "7", json!({ "approved": true })).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    let other = answer(
        &router,
        &thread,
        &"0".repeat(32),
        json!({ "approved": true }),
    )
    .await;
    assert_eq!(other.status, StatusCode::CONFLICT, "{other:?}");

    let by = |name: &str| json!({ "approved": true, "responded_by": name });
    let (ann, bo) = tokio::join!(
        answer(&router, &thread, &question, by("Ann")),
        answer(&router, &thread, &question, by("Bo")),
    );
    let winner = if ann.status == StatusCode::ACCEPTED {
        "Ann"
    } else {
        "Bo"
    };
    let mut statuses = [ann.status, bo.status];
    statuses.sort();
    assert_eq!(
        statuses,
        [StatusCode::ACCEPTED, StatusCode::CONFLICT],
        "{ann:?} {bo:?}"
    );
    let paid = wait_until_settled(&router, &thread).await;
    assert_eq!(paid["status"], "finished", "{paid}");
    let vars = &paid["state"]["vars"];
    assert_eq!(vars["review_approved"], true);
    assert_eq!(vars["review"]["responded_by"], winner, "{vars}");
    let late = answer(&router, &thread, &question, by("Cy")).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{late:?}");
}

#[tokio::test]
async fn an_answer_reads_its_thread_once() {
    let store = CountingStore::default();
    let server = asking_with(&store).threads(TriggerAuth::None).build();
    let router = server.expect("right").router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let question = wait_until_settled(&router, &thread).await["questions"][0]["id"].clone();
    let question = question.as_str().expect("an id");
    store.take();
    // A refused answer changes nothing.
    let wrong = json!({ "approved": "perhaps" });
    let wrong = answer(&router, &thread, question, wrong).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    let traffic = store.take();
    assert_eq!((traffic.appends, traffic.writes), (0, 0));
    let loads = |reads: &[&str]| reads.iter().filter(|read| **read == "read").count();
    assert_eq!(loads(&traffic.reads), 1, "{traffic:?}");

    let right = answer(&router, &thread, question, json!({ "approved": true })).await;
    assert_eq!(right.status, StatusCode::ACCEPTED, "{right:?}");
    let traffic = store.take();
    assert_eq!(loads(&traffic.reads), 1, "{traffic:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let server = asking().threads(TriggerAuth::None).build().expect("right");
    let router = server.router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let question = wait_until_settled(&router, &thread).await["questions"][0]["id"].clone();
    let question = question.as_str().expect("an id");
    let large = json!({ "notes": "a".repeat(65 << 10) });
    let refused = answer(&router, &thread, question, large).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "waiting"
    );
}

#[tokio::test]
async fn threads_are_not_served_unless_the_program_says_who_may_see_them() {
    let router = asking().build().expect("right").router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    for path in ["", "/events"] {
        let response = get(&router, &format!("/threads/{thread}{path}")).await;
        assert_eq!(response.status, StatusCode::NOT_FOUND);
    }
    let refused = answer(&router, &thread, "1", json!({})).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn threads_need_their_own_token() {
    let auth = TriggerAuth::HeaderToken {
        header: "Authorization".into(),
        token: "Bearer clerk".into(),
    };
    let router = asking().threads(auth).build().expect("right").router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    for path in ["", "/events"] {
        let path = format!("/threads/{thread}{path}");
        assert_eq!(get(&router, &path).await.status, StatusCode::UNAUTHORIZED);
        for (token, status) in [("Bearer clerk", 200), ("Bearer other", 401), ("clerk", 401)] {
            let request = Request::get(&path).header("authorization", token);
            let response = send(&router, request.body(Body::empty()).expect("a request")).await;
            assert_eq!(response.status.as_u16(), status, "{token}");
        }
    }
    let refused = answer(&router, &thread, "1", json!({})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn events_are_streamed_and_can_be_read_again() {
    let work = Work::new();
    let store = InMemoryStore::new();
    let server = builder(&store, json!({}), &work.waiting())
        .build()
        .expect("right");
    let router = server.router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    work.begun.notified().await;
    let path = format!("/threads/{thread}/events");
    let (listening, ()) = tokio::join!(get(&router, &path), async { work.may_end.notify_one() });
    let seen = listening.text;
    let kinds: Vec<&str> = seen
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 1]),
        ("run_started", "finished"),
        "{seen}"
    );
    // In another process, and from an event on.
    let other = builder(&store, json!({}), &work.waiting())
        .build()
        .expect("right")
        .router();
    assert_eq!(get(&other, &path).await.text, seen);
    let request = Request::get(&path).header("last-event-id", kinds.len() - 1);
    let rest = send(&other, request.body(Body::empty()).expect("a request")).await;
    assert_eq!(rest.text.matches("event: ").count(), 1, "{rest:?}");
    let unknown = get(&router, "/threads/orders:incoming:1/events").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_status_names_the_node_that_failed() {
    let fails = json!({ "id": "fail", "type": "transform", "config": {
        "transform": "template", "template": "{{.missing}}", "output_var": "x" } });
    let server = Server::builder(&InMemoryStore::new())
        .document(graph(json!({}), &[fails]), &Services::new())
        .threads(TriggerAuth::None);
    let router = server.build().expect("right").router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let failed = wait_until_settled(&router, &thread).await;
    assert_eq!(
        (&failed["status"], &failed["next"]),
        (&json!("failed"), &json!(["fail"]))
    );
    let error = failed["errors"][0]["error"].as_str().unwrap_or_default();
    assert!(
        failed["errors"][0]["node"] == "fail" && error.contains("`missing` has no value"),
        "{failed}"
    );
}
