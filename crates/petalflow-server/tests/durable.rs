//! Recovery after a shutdown or a crash.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::{
    Address, InMemoryStore, Store as _, StoredCheckpoint, ThreadChange, ThreadStatus,
};
use petalflow_documents::Services;
use petalflow_server::{Limits, Server};
use petalflow_sqlite::SqliteStore;
use serde_json::json;

use crate::kit::{Work, builder, graph, post, send, wait_until_settled};

/// Two nodes, of which the first waits.
fn two_node_server(store: &SqliteStore, work: &Work) -> Server {
    let nodes = [
        json!({ "id": "work", "type": "func" }),
        json!({ "id": "last", "type": "transform", "config": {
            "transform": "template", "template": "done", "output_var": "text" } }),
    ];
    let server = Server::builder(store).document(graph(json!({}), &nodes), &work.waiting());
    let server = server.threads(petalflow_documents::kinds::TriggerAuth::None);
    server.build().expect("right")
}

#[test]
fn a_run_that_died_after_its_202_is_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.db");
    let work = Work::new();
    let run = || tokio::runtime::Runtime::new().expect("a runtime");
    let first = run();
    let thread = first.block_on(async {
        let store = SqliteStore::open(&file).await.expect("it opens");
        let thread = send(&two_node_server(&store, &work).router(), post(&[], "{}"))
            .await
            .thread();
        work.begun.notified().await;
        thread
    });
    // All tasks are dropped, in the middle of the node.
    drop(first);
    assert_eq!(work.runs(), 0);
    run().block_on(async {
        let store = SqliteStore::open(&file).await.expect("it opens");
        let server = two_node_server(&store, &work);
        assert_eq!(server.recover().await.expect("it lists"), 1);
        assert_eq!(
            server.recover().await.expect("it lists"),
            0,
            "it runs already"
        );
        work.may_end.notify_one();
        let found = wait_until_settled(&server.router(), &thread).await;
        assert_eq!(found["status"], "finished", "{found}");
        assert_eq!(
            (work.runs(), &found["state"]["vars"]["text"]),
            (1, &json!("done"))
        );
        assert_eq!(server.recover().await.expect("it lists"), 0);
    });
}

/// A fork, an edit and a cancellation by a person leave this status.
#[tokio::test]
async fn a_thread_that_a_person_holds_is_not_recovered() {
    let (store, work) = (InMemoryStore::new(), Work::new());
    let server = builder(&store, json!({}), &work.waiting());
    let server = server.build().expect("right");
    let thread = send(&server.router(), post(&[], "{}")).await.thread();
    work.begun.notified().await;
    server.drain(Duration::ZERO).await;
    let next = builder(&store, json!({}), &work.waiting());
    let next = next.build().expect("right");
    for (status, recovered) in [(ThreadStatus::Held, 0), (ThreadStatus::Stopped, 1)] {
        let status = ThreadChange::Status {
            flow: "orders",
            status,
            due_ms: None,
        };
        store
            .describe(&thread, status, None)
            .await
            .expect("it is stored");
        assert_eq!(next.recover().await.expect("it lists"), recovered);
    }
}

#[tokio::test]
async fn a_client_that_disconnects_does_not_stop_the_run() {
    let work = Work::new();
    let server = crate::kit::server(json!({}), &work.waiting());
    let router = server.router();
    let key = [("idempotency-key", "1")];
    // At any point of the request.
    for polls in 0..20 {
        let request = send(&router, post(&key, "{}"));
        let mut request = std::pin::pin!(request);
        for _ in 0..polls {
            if futures_util::poll!(&mut request).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let thread = send(&router, post(&key, "{}")).await.thread();
    work.may_end.notify_one();
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "finished"
    );
    assert_eq!(work.runs(), 1);
}

#[tokio::test]
async fn a_drained_server_leaves_its_runs_to_the_next_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("a.db"))
        .await
        .expect("it opens");
    let work = Work::new();
    let server = two_node_server(&store, &work);
    let router = server.router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    work.begun.notified().await;
    let drained = tokio::spawn({
        let server = server.clone();
        async move { server.drain(Duration::from_mins(1)).await }
    });
    tokio::task::yield_now().await;
    let refused = send(&router, post(&[], "{}")).await;
    assert_eq!(
        refused.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{refused:?}"
    );
    // The node ends, and the run stops at the barrier.
    work.may_end.notify_one();
    drained.await.expect("it drains");
    let stopped = wait_until_settled(&router, &thread).await;
    assert_eq!(
        (&stopped["status"], &stopped["next"]),
        (&json!("stopped"), &json!(["last"]))
    );

    let next = two_node_server(&store, &work);
    assert_eq!(next.recover().await.expect("it lists"), 1);
    let found = wait_until_settled(&next.router(), &thread).await;
    assert_eq!(
        (&found["status"], work.runs()),
        (&json!("finished"), 1),
        "{found}"
    );
}

#[tokio::test]
async fn nodes_that_run_too_long_after_a_shutdown_are_dropped() {
    let work = Work::new();
    let server = crate::kit::server(json!({}), &work.waiting());
    let router = server.router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    work.begun.notified().await;
    server.drain(Duration::from_millis(10)).await;
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "stopped"
    );
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn a_recovery_waits_for_places() {
    let store = InMemoryStore::new();
    let work = Work::new();
    let first = builder(&store, json!({}), &work.waiting())
        .build()
        .expect("right");
    let mut threads = Vec::new();
    for _ in 0..5 {
        threads.push(send(&first.router(), post(&[], "{}")).await.thread());
    }
    first.drain(Duration::ZERO).await;
    let limits = Limits {
        max_runs: 1,
        ..Limits::default()
    };
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let next = builder(&store, json!({}), &work.counting())
        .limits(limits)
        .on_notice(move |notice| log.lock().expect("no panic").push(notice.to_string()))
        .build()
        .expect("right");
    assert_eq!(next.recover().await.expect("it lists"), 5);
    for thread in threads {
        assert_eq!(
            wait_until_settled(&next.router(), &thread).await["status"],
            "finished"
        );
    }
    assert_eq!(work.runs(), 5);
    let lines = lines.lock().expect("no panic");
    let count = |end: &str| lines.iter().filter(|line| line.ends_with(end)).count();
    assert_eq!(
        (count(": continues"), count(": ended")),
        (5, 5),
        "{lines:?}"
    );
}

#[tokio::test]
async fn threads_of_other_programs_in_the_store_are_not_changed() {
    let store = InMemoryStore::new();
    let work = Work::new();
    let first = builder(&store, json!({}), &work.waiting())
        .build()
        .expect("right");
    send(&first.router(), post(&[], "{}")).await.thread();
    first.drain(Duration::ZERO).await;
    let mut other = graph(json!({}), &[]);
    other.id = "order".into();
    let other = Server::builder(&store).document(&other, &Services::new());
    let other = other.build().expect("right");
    assert_eq!(other.recover().await.expect("it lists"), 0);
}

#[tokio::test]
async fn threads_beside_a_damaged_one_are_recovered() {
    let (store, work) = (InMemoryStore::new(), Work::new());
    let first = builder(&store, json!({}), &work.waiting());
    let first = first.build().expect("right");
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(send(&first.router(), post(&[], "{}")).await.thread());
    }
    first.drain(Duration::ZERO).await;
    let damaged = &threads[1];
    let address = Address::root(damaged);
    let stored = store.read(address, None).await.expect("it is read");
    let newest = stored.expect("it was run").chain.last().expect("one").seq;
    let garbage = StoredCheckpoint {
        seq: newest + 1,
        base: newest + 1,
        created_ms: 1,
        bytes: b"garbage".to_vec(),
    };
    let appended = store.append(address, &garbage, Some(newest), 0..0, None);
    appended.await.expect("it is written");

    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let next = builder(&store, json!({}), &work.counting())
        .on_notice(move |notice| log.lock().expect("no panic").push(notice.to_string()))
        .build()
        .expect("right");
    assert_eq!(next.recover().await.expect("it lists"), 2);
    for thread in [&threads[0], &threads[2]] {
        let found = wait_until_settled(&next.router(), thread).await;
        assert_eq!(found["status"], "finished", "{found}");
    }
    assert_eq!(work.runs(), 2);
    let lines = lines.lock().expect("no panic").clone();
    let problem = format!("{damaged}: cannot be continued");
    assert!(
        lines.iter().any(|line| line.starts_with(&problem)),
        "{lines:?}"
    );
}
