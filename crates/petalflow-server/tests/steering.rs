//! What a person does with threads: history, edits, forks, copies, cancellation, deletion.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::Server;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::kit::{call, get, wait_until_settled};

#[state]
struct Count {
    #[key(input)]
    until: u64,
    #[key(sum)]
    n: u64,
    #[key(append, inbox)]
    steps: Vec<String>,
}

#[node(Count)]
async fn add(n: &u64, until: &u64, gate: Managed<Gate>) -> (CountN, CountSteps, bool) {
    if *n + 1 == *until && gate.closed {
        gate.waits.notify_one();
        std::future::pending::<()>().await;
    }
    (
        CountN(1),
        CountSteps(vec![format!("step {n}")]),
        *n + 1 < *until,
    )
}

/// Lets the last step of a run wait for ever.
#[derive(Clone, Default)]
struct Gate {
    closed: bool,
    waits: Arc<Notify>,
}

flow!(Add(Count) { add -> match { true => add, false => END } });

fn router(gate: &Gate) -> Router {
    let launch = Add::new().manage(gate.clone());
    let builder = Server::builder(&InMemoryStore::new())
        .flow(launch)
        .threads(TriggerAuth::None);
    builder.build().expect("the settings are right").router()
}

async fn counted(router: &Router, until: u64) -> Value {
    let body = json!({"id": "a", "input": {"until": until}});
    let thread = call(router, "POST", "/flows/Add/threads", body)
        .await
        .thread();
    wait_until_settled(router, &thread).await
}

async fn post(router: &Router, path: &str, body: Value) -> crate::kit::Response {
    call(router, "POST", &format!("/threads/Add:a{path}"), body).await
}

#[tokio::test]
async fn history_has_pages_and_each_checkpoint_its_state() {
    let router = router(&Gate::default());
    assert_eq!(counted(&router, 5).await["state"]["n"], 5);
    let page = get(&router, "/threads/Add:a/history?limit=4").await.json();
    let numbers = |page: &Value| -> Vec<u64> {
        let all = page["checkpoints"].as_array().expect("a list").iter();
        all.map(|it| it["checkpoint"].as_u64().expect("a number"))
            .collect()
    };
    assert_eq!(numbers(&page), [5, 4, 3, 2]);
    assert_eq!(page["next"], 2);
    let rest = get(&router, "/threads/Add:a/history?limit=4&before=2")
        .await
        .json();
    assert_eq!((numbers(&rest), &rest["next"]), (vec![1, 0], &Value::Null));
    let early = get(&router, "/threads/Add:a/checkpoints/2").await.json();
    assert_eq!(
        (&early["state"]["n"], &early["superstep"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(early["next"], json!(["add"]));
    for path in ["/checkpoints/99", "/checkpoints/x"] {
        let wrong = get(&router, &format!("/threads/Add:a{path}")).await;
        assert!(
            wrong.status.is_client_error() && !wrong.error().is_empty(),
            "{wrong:?}"
        );
    }
    let unknown = get(&router, "/threads/Add:b/history").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn f43_messages_are_sent_whether_or_not_a_run_has_the_thread() {
    let gate = Gate {
        closed: true,
        ..Gate::default()
    };
    let router = router(&gate);
    let body = json!({"id": "a", "input": {"until": 1}});
    call(&router, "POST", "/flows/Add/threads", body).await;
    gate.waits.notified().await;
    // The run has the thread, and waits.
    let message = json!({"key": "steps", "value": ["by mail"], "id": "mail-7"});
    for _ in 0..2 {
        let sent = post(&router, "/messages", message.clone()).await;
        assert_eq!(
            (sent.status, sent.json()),
            (StatusCode::ACCEPTED, json!({"message": 1}))
        );
    }
    assert_eq!(post(&router, "/cancel", json!({})).await.status, 202);
    wait_until_settled(&router, "Add:a").await;
    let more = json!({"key": "steps", "value": ["later"]});
    assert_eq!(post(&router, "/messages", more).await.json()["message"], 2);
    let turn = post(&router, "/turns", json!({"input": {"until": 2}})).await;
    assert_eq!(turn.status, 202, "{turn:?}");
    gate.waits.notified().await;
    let running = get(&router, "/threads/Add:a").await.json();
    let steps = json!(["by mail", "later", "step 0"]);
    assert_eq!(running["state"]["steps"], steps, "{running}");

    for (body, status, word) in [
        (json!({"key": "n", "value": 1}), 422, "`n`"),
        (json!({"key": "steps", "value": 7}), 422, "`steps`"),
        (json!({"key": "steps"}), 400, "value"),
    ] {
        let refused = post(&router, "/messages", body).await;
        assert_eq!(refused.status.as_u16(), status, "{refused:?}");
        assert!(refused.error().contains(word), "{refused:?}");
    }
    let unknown = json!({"key": "steps", "value": ["x"]});
    let unknown = call(&router, "POST", "/threads/Add:none/messages", unknown).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{unknown:?}");
}

#[tokio::test]
async fn a_thread_is_edited_forked_and_copied() {
    let router = router(&Gate::default());
    counted(&router, 3).await;
    let forked = post(&router, "/fork", json!({"checkpoint": 1, "id": "b"})).await;
    assert_eq!(
        (forked.status, forked.json()),
        (StatusCode::CREATED, json!({"thread": "Add:b"}))
    );
    let held = get(&router, "/threads/Add:b").await.json();
    assert_eq!(
        (&held["status"], &held["state"]["n"]),
        (&json!("held"), &json!(1))
    );
    let edit = json!({"keys": {"until": 6, "steps": ["by hand"]}});
    let edited = call(&router, "POST", "/threads/Add:b/edit", edit).await;
    assert_eq!(edited.status, StatusCode::OK, "{edited:?}");
    assert_eq!(
        call(&router, "POST", "/threads/Add:b/resume", json!({}))
            .await
            .status,
        202
    );
    let done = wait_until_settled(&router, "Add:b").await;
    assert_eq!(
        (&done["status"], &done["state"]["n"]),
        (&json!("finished"), &json!(6))
    );
    let steps = json!(["by hand", "step 1", "step 2", "step 3", "step 4", "step 5"]);
    assert_eq!(done["state"]["steps"], steps, "an edit replaces the value");

    let again = post(&router, "/fork", json!({"checkpoint": 1})).await;
    assert_eq!(again.json()["thread"], "Add:a");
    assert_eq!(post(&router, "/resume", json!({})).await.status, 202);
    let done = wait_until_settled(&router, "Add:a").await;
    assert_eq!(
        done["state"]["steps"],
        json!(["step 0", "step 1", "step 2"])
    );

    assert_eq!(
        post(&router, "/copy", json!({"id": "c"})).await.status,
        StatusCode::CREATED
    );
    assert_eq!(get(&router, "/threads/Add:c").await.json()["state"]["n"], 3);
    for (path, body, problem) in [
        ("/fork", json!({"checkpoint": 99}), "99"),
        (
            "/fork",
            json!({"checkpoint": 1, "id": "b"}),
            "there is a thread `Add:b` already",
        ),
        ("/fork", json!({}), "missing field `checkpoint`"),
        (
            "/copy",
            json!({"id": "c"}),
            "there is a thread `Add:c` already",
        ),
        (
            "/edit",
            json!({"keys": {"m": 1}}),
            "its keys are `until`, `n`, `steps`",
        ),
        (
            "/edit",
            json!({"keys": {"n": "one"}}),
            "the value of key `n` does not fit",
        ),
        ("/edit", json!({"keys": {"n": 1}, "node": "sub"}), "sub"),
    ] {
        let wrong = post(&router, path, body.clone()).await;
        assert!(wrong.status.is_client_error(), "{path} {body}: {wrong:?}");
        assert!(wrong.error().contains(problem), "{path} {body}: {wrong:?}");
    }
}

#[tokio::test]
async fn a_cancelled_run_is_held_until_it_is_resumed_and_others_run_on() {
    let gate = Gate {
        closed: true,
        ..Gate::default()
    };
    let router = router(&gate);
    let body = |id: &str| json!({"id": id, "input": {"until": 2}});
    for id in ["a", "b"] {
        call(&router, "POST", "/flows/Add/threads", body(id))
            .await
            .thread();
        gate.waits.notified().await;
    }
    assert_eq!(
        post(&router, "/cancel", json!({})).await.status,
        StatusCode::ACCEPTED
    );
    let held = wait_until_settled(&router, "Add:a").await;
    assert_eq!(
        (&held["status"], &held["state"]["n"]),
        (&json!("held"), &json!(1))
    );
    let other = get(&router, "/threads/Add:b").await.json();
    assert_eq!(other["status"], "running");
    // A client that does not know whether its request arrived repeats it.
    let again = post(&router, "/cancel", json!({})).await;
    assert_eq!(
        (again.status, again.json()),
        (
            StatusCode::ACCEPTED,
            json!({"thread": "Add:a", "status": "held"})
        )
    );
    assert_eq!(
        post(&router, "/resume", json!({})).await.status,
        StatusCode::ACCEPTED
    );
    gate.waits.notified().await;
}

#[tokio::test]
async fn labels_are_replaced_and_a_deleted_thread_is_gone() {
    let router = router(&Gate::default());
    counted(&router, 1).await;
    let labels = call(
        &router,
        "PUT",
        "/threads/Add:a/labels",
        json!({"team": "red"}),
    )
    .await;
    assert_eq!(labels.status, StatusCode::OK, "{labels:?}");
    assert_eq!(
        get(&router, "/threads/Add:a").await.json()["labels"],
        json!({"team": "red"})
    );
    let deleted = call(&router, "DELETE", "/threads/Add:a", json!({})).await;
    assert_eq!(
        (deleted.status, &*deleted.text),
        (StatusCode::NO_CONTENT, "")
    );
    assert_eq!(
        get(&router, "/threads/Add:a").await.status,
        StatusCode::NOT_FOUND
    );
    let wrong = call(&router, "PATCH", "/threads/Add:a", json!({})).await;
    assert_eq!(
        (wrong.status, wrong.error().as_str()),
        (
            StatusCode::METHOD_NOT_ALLOWED,
            "the address has no such method"
        )
    );
}
