//! Which threads a caller may see: the hook of the program decides.

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Method, Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, Server};
use serde_json::{Value, json};

use crate::kit::{Response, call, get, send, wait_until_settled};

#[state]
struct Note {
    #[key(input)]
    text: String,
    length: usize,
}

#[node(Note)]
async fn measure(text: &str) -> NoteLength {
    NoteLength(text.len())
}

flow!(Notes(Note) { measure });

/// The user is what a header says. A program has a layer that checks who it is.
fn user(request: &Parts) -> Access {
    let user = request.headers.get("x-user");
    match user.and_then(|user| user.to_str().ok()) {
        Some("admin") => Access::All,
        Some(user) => Access::label("user", user),
        None => Access::None,
    }
}

fn router() -> Router {
    let server = Server::builder(&InMemoryStore::new())
        .flow(Notes::new())
        .threads(TriggerAuth::None)
        .access(user);
    server.build().expect("the settings are right").router()
}

async fn as_user(router: &Router, user: &str, method: &str, path: &str, body: Value) -> Response {
    with_key(router, user, "", method, path, body).await
}

async fn with_key(
    router: &Router,
    user: &str,
    key: &str,
    method: &str,
    path: &str,
    body: Value,
) -> Response {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("x-user", user);
    let request = if key.is_empty() {
        request
    } else {
        request.header("idempotency-key", key)
    };
    let body = match method {
        "GET" | "DELETE" => Body::empty(),
        _ => Body::from(body.to_string()),
    };
    send(router, request.body(body).expect("a request")).await
}

async fn start(router: &Router, user: &str, body: Value) -> String {
    let started = as_user(router, user, "POST", "/flows/Notes/threads", body).await;
    let thread = started.thread();
    as_user(
        router,
        "admin",
        "GET",
        &format!("/threads/{thread}/events"),
        json!(null),
    )
    .await;
    thread
}

fn ids(list: &Response) -> Vec<String> {
    let list = list.json();
    let threads = list["threads"].as_array().expect("threads");
    let ids = threads.iter().map(|thread| thread["id"].as_str());
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn a_caller_sees_the_threads_with_its_label_only() {
    let router = router();
    let of_ann = start(
        &router,
        "ann",
        json!({ "id": "a", "input": { "text": "x" } }),
    )
    .await;
    let labels = json!({ "id": "b", "input": { "text": "y" }, "labels": { "topic": "tea" } });
    let of_ben = start(&router, "ben", labels).await;
    let list = async |user: &str, query: &str| {
        let path = format!("/threads{query}");
        ids(&as_user(&router, user, "GET", &path, json!(null)).await)
    };
    assert_eq!(list("ann", "").await, std::slice::from_ref(&of_ann));
    assert_eq!(
        list("ben", "?label=topic:tea").await,
        std::slice::from_ref(&of_ben)
    );
    assert!(list("ann", "?label=topic:tea").await.is_empty());
    assert!(list("ann", "?label=user:ben").await.is_empty());
    assert_eq!(list("admin", "").await.len(), 2);
    assert!(list("carl", "").await.is_empty());
    let nobody = get(&router, "/threads").await;
    assert_eq!(nobody.status, StatusCode::FORBIDDEN);

    let shown = as_user(
        &router,
        "ann",
        "GET",
        &format!("/threads/{of_ann}"),
        json!(null),
    )
    .await;
    assert_eq!(shown.json()["state"]["length"], 1);
}

/// Each address of a thread, with the body that would be accepted.
#[tokio::test]
async fn the_thread_of_another_user_does_not_exist_at_any_address() {
    let router = router();
    let thread = start(&router, "ann", json!({ "input": { "text": "x" } })).await;
    let document = as_user(&router, "ann", "GET", "/openapi.json", json!(null)).await;
    let document = document.json();
    let paths = document["paths"].as_object().expect("paths");
    let mut tried = 0;
    for (path, methods) in paths.iter().filter(|(path, _)| path.contains("{thread}")) {
        for method in methods.as_object().expect("methods").keys() {
            let Ok(method) = method.to_ascii_uppercase().parse::<Method>() else {
                continue;
            };
            let is_method = matches!(method.as_str(), "GET" | "PUT" | "POST" | "DELETE");
            if !is_method {
                continue;
            }
            let path = path
                .replace("{thread}", &thread)
                .replace("{checkpoint}", "1")
                .replace("{question}", "q");
            let body = json!({ "id": "c", "checkpoint": 1, "keys": {}, "input": { "text": "z" } });
            let refused = as_user(&router, "ben", method.as_str(), &path, body).await;
            assert_eq!(
                refused.status,
                StatusCode::NOT_FOUND,
                "{method} {path} {refused:?}"
            );
            assert_eq!(
                refused.error(),
                "there is no such thread",
                "{method} {path}"
            );
            tried += 1;
        }
    }
    assert!(tried >= 13, "{tried} addresses");
    let path = format!("/threads/{thread}");
    let state = as_user(&router, "ann", "GET", &path, json!(null))
        .await
        .json();
    assert_eq!(state["state"]["text"], "x");
}

#[tokio::test]
async fn the_label_of_a_caller_cannot_be_changed_and_goes_to_copies_and_forks() {
    let router = router();
    let foreign = json!({ "input": { "text": "x" }, "labels": { "user": "ann" } });
    let refused = as_user(&router, "ben", "POST", "/flows/Notes/threads", foreign).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        refused.error(),
        "the label `user` cannot be set: it says whose thread it is"
    );

    let thread = start(
        &router,
        "ben",
        json!({ "id": "n", "input": { "text": "x" } }),
    )
    .await;
    let labels = format!("/threads/{thread}/labels");
    let given = as_user(&router, "ben", "PUT", &labels, json!({ "user": "ann" })).await;
    assert_eq!(given.status, StatusCode::UNPROCESSABLE_ENTITY);
    let other = as_user(&router, "ben", "PUT", &labels, json!({ "topic": "tea" })).await;
    assert_eq!(
        other.json()["labels"],
        json!({ "topic": "tea", "user": "ben" })
    );

    for (address, body) in [
        ("copy", json!({ "id": "copied" })),
        ("fork", json!({ "id": "forked", "checkpoint": 1 })),
    ] {
        let path = format!("/threads/{thread}/{address}");
        let made = as_user(&router, "ben", "POST", &path, body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        let made = made.json()["thread"].as_str().expect("an id").to_owned();
        let path = format!("/threads/{made}");
        let of_ben = as_user(&router, "ben", "GET", &path, json!(null)).await;
        assert_eq!(of_ben.status, StatusCode::OK, "{of_ben:?}");
        let of_ann = as_user(&router, "ann", "GET", &path, json!(null)).await;
        assert_eq!(of_ann.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn two_users_with_the_same_identifier_start_two_threads() {
    let router = router();
    let path = "/flows/Notes/threads";
    let body = json!({ "input": { "text": "x" } });
    let mut started = Vec::new();
    for user in ["ann", "ben", "ann", "admin"] {
        let response = with_key(&router, user, "k1", "POST", path, body.clone()).await;
        started.push(response.thread());
    }
    assert_eq!(started[0], started[2], "a repeated request");
    assert_ne!(started[0], started[1]);
    assert_ne!(started[0], started[3]);
    let chosen = json!({ "id": "a", "input": { "text": "x" } });
    start(&router, "ann", chosen.clone()).await;
    let taken = as_user(&router, "ben", "POST", path, chosen).await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn without_a_hook_the_token_is_enough() {
    let server = Server::builder(&InMemoryStore::new())
        .flow(Notes::new())
        .threads(TriggerAuth::None);
    let router = server.build().expect("the settings are right").router();
    let body = json!({ "input": { "text": "x" } });
    let started = call(&router, "POST", "/flows/Notes/threads", body).await;
    let thread = wait_until_settled(&router, &started.thread()).await;
    assert_eq!(thread["state"]["length"], 1);
}
