//! Long-term memory over HTTP.

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_memory::{InMemory, Memory, VectorIndex};
use petalflow_server::{Access, Server, ServerBuilder};
use serde_json::{Value, json};

use crate::kit::{call, get, wait_until_settled};

#[state]
struct Visit {
    #[key(input)]
    user: String,
}

/// A flow of the server that uses the memory.
#[node(Visit)]
async fn note(user: &str, memory: Managed<Memory>) -> petalflow::Result<()> {
    let of_user = memory.within(["users", user]);
    of_user.put("visits", 1).await?;
    Ok(())
}

flow!(Visits(Visit) { note });

fn builder(memory: &Memory) -> ServerBuilder {
    Server::builder(&InMemoryStore::new())
        .flow(Visits::new().manage(memory.clone()))
        .threads(TriggerAuth::None)
        .memory(memory.clone())
}

fn router(builder: ServerBuilder) -> Router {
    builder.build().expect("the settings are right").router()
}

const ANN: &str = "/memory/entry?namespace=users&namespace=ann&key=";

/// The namespaces and keys of a list.
fn keys(listed: &Value) -> Vec<String> {
    let entries = listed["entries"].as_array().expect("entries").iter();
    let shown = entries.map(|entry| {
        let names = entry["namespace"].as_array().expect("names").iter();
        let names = names.map(|name| name.as_str().expect("a name").to_string());
        let key = entry["key"].as_str().expect("a key").to_string();
        names.chain([key]).collect::<Vec<_>>().join("/")
    });
    shown.collect()
}

#[tokio::test]
async fn f43_clients_see_and_change_the_memory_that_flows_use() {
    let router = router(builder(&Memory::new(InMemory::new())));
    let begun = call(
        &router,
        "POST",
        "/flows/Visits/threads",
        json!({ "input": { "user": "ann" } }),
    );
    wait_until_settled(&router, &begun.await.thread()).await;
    let entry = get(&router, &format!("{ANN}visits")).await.json();
    assert_eq!(
        (&entry["value"], &entry["expires_ms"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(entry["namespace"], json!(["users", "ann"]));

    let body = json!({ "value": { "likes": "tea" }, "ttl_seconds": 3600 });
    let path = format!("{ANN}a%2Fb");
    let written = call(&router, "PUT", &path, body.clone()).await;
    assert_eq!(written.status, StatusCode::OK, "{written:?}");
    let written = written.json();
    assert_eq!(
        (&written["key"], &written["value"]["likes"]),
        (&json!("a/b"), &json!("tea"))
    );
    let times = ["created_ms", "expires_ms"].map(|name| written[name].as_u64().expect("a time"));
    assert!(times[1] >= times[0] + 3_600_000, "{written}");

    let all = get(&router, "/memory").await.json();
    assert_eq!(keys(&all), ["users/ann/a/b", "users/ann/visits"]);
    let filter = "/memory?filter=%7B%22field%22%3A%7B%22path%22%3A%22likes%22%2C%22is%22%3A%22there%22%7D%7D";
    assert_eq!(keys(&get(&router, filter).await.json()), ["users/ann/a/b"]);
    let page = get(&router, "/memory?namespace=users&limit=1").await.json();
    assert_eq!(keys(&page), ["users/ann/a/b"]);
    let next = page["next"].as_str().expect("there is more");
    let escaped = next.bytes().map(|byte| format!("%{byte:02X}"));
    let next = escaped.collect::<Vec<_>>().concat();
    let page = get(
        &router,
        &format!("/memory?namespace=users&limit=1&after={next}"),
    )
    .await
    .json();
    assert_eq!(
        (keys(&page), &page["next"]),
        (vec!["users/ann/visits".into()], &Value::Null)
    );

    assert_eq!(
        call(&router, "DELETE", &path, Value::Null).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        call(&router, "DELETE", &path, Value::Null).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(get(&router, &path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        keys(&get(&router, "/memory?namespace=us").await.json()),
        Vec::<String>::new()
    );

    for (path, status) in [
        ("/memory?key=a", 400),
        ("/memory?limit=some", 400),
        ("/memory?filter=some", 400),
        ("/memory?after=some", 400),
        ("/memory/entry", 400),
        ("/memory/search", 400),
        ("/memory/search?text=tea", 409),
    ] {
        let refused = get(&router, path).await;
        assert_eq!(refused.status, status, "{path}: {refused:?}");
    }
    for body in [json!({}), json!({ "value": 1, "ttl_seconds": 0 })] {
        let refused = call(&router, "PUT", &path, body).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
    }
}

#[tokio::test]
async fn f43_a_memory_with_vectors_is_searched() {
    let index = VectorIndex::new(InMemory::new(), |texts: Vec<String>| async move {
        // The vector of a text: how often it has an `a` and an `o`.
        let count = |text: &str, letter| text.matches(letter).map(|_| 1.0).sum::<f32>();
        let vectors = texts
            .iter()
            .map(|text| vec![count(text, 'a'), count(text, 'o')]);
        Ok(vectors.collect::<Vec<_>>())
    });
    let router = router(builder(&Memory::new(index)));
    for (key, value) in [("banana", "banana"), ("robot", "robot")] {
        let path = format!("/memory/entry?namespace=words&key={key}");
        let written = call(&router, "PUT", &path, json!({ "value": value })).await;
        assert_eq!(written.status, StatusCode::OK, "{written:?}");
    }
    let found = get(&router, "/memory/search?namespace=words&text=lotto&limit=1")
        .await
        .json();
    let hits = found["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 1, "{found}");
    assert_eq!(hits[0]["entry"]["key"], "robot");
    assert!(hits[0]["score"].as_f64().expect("a score") > 0.9, "{found}");
    let elsewhere = get(&router, "/memory/search?namespace=names&text=lotto")
        .await
        .json();
    assert_eq!(elsewhere["hits"], json!([]));
}

#[tokio::test]
async fn f43_a_caller_sees_the_part_of_the_memory_that_is_its_own() {
    let memory = Memory::new(InMemory::new());
    let users = memory.within("users");
    for user in ["ann", "anna"] {
        let of_user = users.within(user);
        of_user.put("name", user).await.expect("it is written");
    }
    let ann = |builder: ServerBuilder| builder.access(|_| Access::label("user", "ann"));
    let closed = router(ann(builder(&memory)));
    for path in ["/memory", "/memory/entry?key=name", "/memory/search?text=a"] {
        assert_eq!(
            get(&closed, path).await.status,
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    let open = ann(builder(&memory)).memory_of(|label, user| {
        assert_eq!(label, "user");
        ["users", user].into()
    });
    let open = router(open);
    let listed = get(&open, "/memory").await.json();
    assert_eq!(keys(&listed), ["name"], "without the names above");
    assert_eq!(listed["entries"][0]["value"], "ann");
    for namespace in ["users", "anna", ".."] {
        let path = format!("/memory/entry?namespace={namespace}&namespace=anna&key=name");
        assert_eq!(get(&open, &path).await.status, StatusCode::NOT_FOUND);
    }
    let first = call(&open, "PUT", "/memory/entry?key=a", json!({ "value": 1 })).await;
    assert_eq!(first.json()["namespace"], json!([]), "{first:?}");
    let page = get(&open, "/memory?limit=1").await.json();
    assert_eq!(page["next"], r#"{"key":"a","namespace":[]}"#, "{page}");
    // A place of another user is one in the own part.
    let place = "%7B%22namespace%22%3A%5B%22users%22%2C%22anna%22%5D%2C%22key%22%3A%22%22%7D";
    let page = get(&open, &format!("/memory?after={place}")).await.json();
    assert_eq!(keys(&page), Vec::<String>::new());
    assert_eq!(
        users
            .within("ann")
            .get_as::<u64>("a")
            .await
            .expect("it is read"),
        Some(1)
    );
    let nobody = router(
        builder(&memory)
            .access(|_| Access::None)
            .memory_of(|_, _| "users".into()),
    );
    assert_eq!(get(&nobody, "/memory").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn f43_a_server_without_a_memory_says_so() {
    let builder = Server::builder(&InMemoryStore::new());
    let router = router(
        builder
            .flow(Visits::new().manage(Memory::new(InMemory::new())))
            .threads(TriggerAuth::None),
    );
    let refused = get(&router, "/memory").await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    assert!(refused.error().contains("no memory"), "{refused:?}");
}
