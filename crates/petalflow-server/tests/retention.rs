//! Finished threads that are not kept.

use std::time::Duration;

use axum::Router;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, Server, ServerBuilder, ThreadRetention};
use serde_json::{Value, json};

use crate::kit::{call, get, wait_until_settled};

#[state]
struct Count {
    #[key(input)]
    by: u64,
}

/// Zero fails.
#[node(Count)]
async fn check(by: &u64) -> petalflow::Result<()> {
    match *by {
        0 => Err("there is nothing to count".into()),
        _ => Ok(()),
    }
}

flow!(Counts(Count) { check });
flow!(Others(Count) { check });

fn builder(store: &InMemoryStore) -> ServerBuilder {
    Server::builder(store)
        .flow(Counts::new())
        .flow(Others::new())
        .threads(TriggerAuth::None)
}

async fn start(router: &Router, flow: &str, id: &str, by: u64) {
    let body = json!({ "id": id, "input": { "by": by } });
    let begun = call(router, "POST", &format!("/flows/{flow}/threads"), body).await;
    wait_until_settled(router, &begun.thread()).await;
    // The times of two threads differ.
    tokio::time::sleep(Duration::from_millis(3)).await;
}

/// The ids of the threads, without the names of their flows.
async fn ids(router: &Router, flow: &str) -> Vec<String> {
    let listed = get(router, &format!("/threads?flow={flow}")).await.json();
    let listed = listed["threads"].as_array().expect("threads").iter();
    let ids = listed.map(|thread| thread["id"].as_str().expect("an id"));
    ids.map(|id| id.rsplit(':').next().expect("a part").to_string())
        .collect()
}

async fn rule(router: &Router, flow: &str) -> Value {
    let rules = get(router, "/retention").await.json();
    let mut rules = rules["retention"]
        .as_array()
        .expect("rules")
        .clone()
        .into_iter();
    rules.find(|rule| rule["flow"] == flow).expect("its rule")
}

#[tokio::test]
async fn f43_the_newest_finished_threads_of_a_flow_are_kept() {
    let store = InMemoryStore::new();
    let server = builder(&store)
        .thread_retention("Counts", ThreadRetention::new().max_threads(2))
        .build()
        .expect("the settings are right");
    let router = server.router();
    for id in ["d", "c", "b", "a"] {
        start(&router, "Counts", id, 1).await;
        start(&router, "Others", id, 1).await;
    }
    start(&router, "Counts", "failed", 0).await;
    server.recover().await.expect("it sweeps");
    assert_eq!(ids(&router, "Counts").await, ["a", "b", "failed"]);
    assert_eq!(
        ids(&router, "Others").await,
        ["a", "b", "c", "d"],
        "another flow"
    );
    let gone = get(&router, "/threads/Counts:c").await;
    assert_eq!(gone.status, 404, "its history too");
}

#[tokio::test]
async fn f43_a_client_says_which_threads_are_kept() {
    let store = InMemoryStore::new();
    let of_program = ThreadRetention::new().max_age(Duration::from_hours(1));
    let server = builder(&store)
        .thread_retention("Counts", of_program)
        .build()
        .expect("the settings are right");
    let router = server.router();
    assert_eq!(
        rule(&router, "Counts").await,
        json!({ "flow": "Counts", "max_age_seconds": 3600, "max_threads": null, "source": "program" })
    );
    assert_eq!(rule(&router, "Others").await["source"], "default");
    start(&router, "Counts", "a", 1).await;
    start(&router, "Others", "a", 1).await;
    server.recover().await.expect("it sweeps");
    assert_eq!(ids(&router, "Counts").await, ["a"], "it is not an hour old");

    let set = json!({ "max_age_seconds": 0 });
    let path = "/retention/Counts";
    let shown = call(&router, "PUT", path, set.clone()).await;
    assert_eq!(shown.json()["source"], "client", "{shown:?}");
    assert_eq!(call(&router, "PUT", path, set).await.json(), shown.json());
    // Another process has the rule too, and does it now.
    let other = builder(&store).build().expect("the settings are right");
    other.recover().await.expect("it sweeps");
    assert_eq!(ids(&router, "Counts").await, Vec::<String>::new());
    assert_eq!(ids(&router, "Others").await, ["a"]);

    let reset = call(&router, "DELETE", path, Value::Null).await;
    assert_eq!(reset.json()["source"], "program", "{reset:?}");
    assert_eq!(reset.json()["max_age_seconds"], 3600);
    assert_eq!(call(&router, "DELETE", path, Value::Null).await.status, 200);
    // The rules are no threads for clients.
    let all = get(&router, "/threads").await.json();
    assert_eq!(all["threads"].as_array().map(Vec::len), Some(1), "{all}");

    let refused = [
        ("/retention/Unknown", json!({}), 404),
        (path, json!({ "max_age": 1 }), 400),
        (path, json!({ "max_threads": -1 }), 400),
    ];
    for (path, body, status) in refused {
        let response = call(&router, "PUT", path, body).await;
        assert_eq!(response.status, status, "{response:?}");
    }
}

#[tokio::test]
async fn f43_a_caller_with_threads_of_its_own_does_not_set_the_retention() {
    let server = builder(&InMemoryStore::new()).access(|_| Access::label("user", "ann"));
    let router = server.build().expect("the settings are right").router();
    assert_eq!(get(&router, "/retention").await.status, 403);
    for method in ["PUT", "DELETE"] {
        let refused = call(&router, method, "/retention/Counts", json!({})).await;
        assert_eq!(refused.status, 403, "{refused:?}");
    }
}

#[test]
fn f43_the_retention_of_a_flow_that_is_not_served_is_a_mistake() {
    let built = builder(&InMemoryStore::new())
        .thread_retention("Cuonts", ThreadRetention::new().max_threads(1))
        .build();
    let errors = built.expect_err("there is no such flow").to_string();
    assert!(errors.contains("`Cuonts`"), "{errors}");
}
