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

#[tokio::test]
async fn f43_a_caller_counts_the_threads_with_its_label_only() {
    let router = router();
    for (user, text) in [("ann", "x"), ("ben", "y"), ("ben", "z")] {
        start(&router, user, json!({ "input": { "text": text } })).await;
    }
    for (user, query, expected) in [
        (
            "ann",
            "",
            json!([{ "flow": "Notes", "status": "finished", "threads": 1 }]),
        ),
        (
            "ben",
            "?status=finished",
            json!([{ "flow": "Notes", "status": "finished", "threads": 2 }]),
        ),
        ("ben", "?label=user:ann", json!([])),
        (
            "admin",
            "",
            json!([{ "flow": "Notes", "status": "finished", "threads": 3 }]),
        ),
        ("carl", "", json!([])),
    ] {
        let path = format!("/thread-counts{query}");
        let counted = as_user(&router, user, "GET", &path, json!(null)).await;
        assert_eq!(counted.json()["counts"], expected, "{user} {query}");
    }
    let flows = as_user(&router, "ann", "GET", "/flows", json!(null)).await;
    assert_eq!(
        flows.json()["flows"][0]["threads"],
        json!({ "finished": 1 })
    );
    let flow = as_user(&router, "ben", "GET", "/flows/Notes", json!(null)).await;
    assert_eq!(flow.json()["threads"], json!({ "finished": 2 }));
    let nobody = get(&router, "/thread-counts").await;
    assert_eq!(nobody.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_thread_of_another_user_does_not_exist_at_any_address() {
    let router = router();
    let thread = start(&router, "ann", json!({ "input": { "text": "x" } })).await;
    refused_at_all_addresses(&router, "ben", &thread).await;
    let path = format!("/threads/{thread}");
    let state = as_user(&router, "ann", "GET", &path, json!(null))
        .await
        .json();
    assert_eq!(state["state"]["text"], "x");
}

/// Tries each address of a thread, with a body that would be accepted.
async fn refused_at_all_addresses(router: &Router, user: &str, thread: &str) {
    let document = as_user(router, "ann", "GET", "/openapi.json", json!(null)).await;
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
                .replace("{thread}", thread)
                .replace("{checkpoint}", "1")
                .replace("{question}", &"0".repeat(32));
            let body = match path.rsplit('/').next() {
                Some("copy") => json!({ "id": "c" }),
                Some("fork") => json!({ "id": "c", "checkpoint": 1 }),
                Some("edit") => json!({ "keys": { "text": "z" } }),
                Some("messages") => json!({ "key": "text", "value": "z" }),
                Some("labels") => json!({ "topic": "tea" }),
                Some("turns") => json!({ "input": { "text": "z" } }),
                _ => json!({ "answer": 1 }),
            };
            let refused = as_user(router, user, method.as_str(), &path, body).await;
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
}

#[tokio::test]
async fn f42_a_thread_that_does_not_exist_is_404_at_every_address_for_everybody() {
    let router = router();
    for user in ["admin", "ann"] {
        refused_at_all_addresses(&router, user, "Notes:nobody").await;
    }
    let listed = as_user(&router, "admin", "GET", "/threads", json!(null)).await;
    assert!(ids(&listed).is_empty(), "{listed:?}");
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
}

/// The same id of two callers is that of two threads: nobody can take the id of another caller, or find out that it is taken.
#[tokio::test]
async fn f42_an_id_belongs_to_the_caller_who_chooses_it() {
    let router = router();
    let path = "/flows/Notes/threads";
    let order = |text: &str| json!({ "id": "order-7", "input": { "text": text } });
    let text = async |user: &str, thread: &str| {
        let path = format!("/threads/{thread}");
        let shown = as_user(&router, user, "GET", &path, json!(null)).await;
        assert_eq!(shown.status, StatusCode::OK, "{user}: {shown:?}");
        shown.json()["state"]["text"].clone()
    };
    let of_ben = start(&router, "ben", order("ben's")).await;
    let of_ann = start(&router, "ann", order("ann's")).await;
    let of_admin = start(&router, "admin", order("admin's")).await;
    assert_eq!(of_admin, "Notes:order-7");
    assert_eq!(text("ben", &of_ben).await, "ben's");
    assert_eq!(text("ann", &of_ann).await, "ann's");
    assert_eq!(text("admin", &of_admin).await, "admin's");
    for (user, thread) in [("ben", &of_ann), ("ben", &of_admin), ("ann", &of_ben)] {
        let path = format!("/threads/{thread}");
        let other = as_user(&router, user, "GET", &path, json!(null)).await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "{user} {thread}");
    }
    // An id that is taken, and an id that is free, look the same to another caller.
    for (address, checkpoint) in [("copy", None), ("fork", Some(1))] {
        let path = format!("/threads/{of_ben}/{address}");
        for id in ["order-7", "order-8", "copied"] {
            let mut body = json!({ "id": format!("{address}-{id}") });
            if let Some(checkpoint) = checkpoint {
                body["checkpoint"] = checkpoint.into();
            }
            start(
                &router,
                "ann",
                json!({ "id": body["id"], "input": { "text": "x" } }),
            )
            .await;
            let made = as_user(&router, "ben", "POST", &path, body).await;
            assert_eq!(made.status, StatusCode::CREATED, "{address} {id}: {made:?}");
        }
    }
    // Nor can a caller take the id of a delivery or of a schedule that is to come.
    let delivery = format!("incoming:{:032x}", 7);
    let id = json!({ "id": delivery, "input": { "text": "x" } });
    let thread = start(&router, "ben", id).await;
    assert_ne!(thread, format!("Notes:{delivery}"));
    // The caller's own ids are taken once.
    let again = as_user(&router, "ben", "POST", path, order("again")).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{again:?}");
    assert_eq!(text("ben", &of_ben).await, "ben's");
}

/// A thread that the program has begun for a caller keeps its id.
#[tokio::test]
async fn f42_a_thread_of_the_program_keeps_the_id_that_its_caller_chooses() {
    let store = InMemoryStore::new();
    let thread = Notes::new().store(&store).thread("Notes:order-7");
    thread
        .set_labels([("user".to_string(), "ann".to_string())])
        .await
        .expect("it is stored");
    let input = NoteInput { text: "x".into() };
    let _ = thread.run(input).await.expect("it runs");
    let server = Server::builder(&store)
        .flow(Notes::new())
        .threads(TriggerAuth::None)
        .access(user);
    let router = server.build().expect("the settings are right").router();
    let path = "/flows/Notes/threads";
    let body = json!({ "id": "order-7", "input": { "text": "y" } });
    let taken = as_user(&router, "ann", "POST", path, body.clone()).await;
    assert_eq!(taken.status, StatusCode::CONFLICT, "{taken:?}");
    let other = as_user(&router, "ben", "POST", path, body).await;
    assert_eq!(other.status, StatusCode::ACCEPTED, "{other:?}");
}

/// Row by row: a mistake, and its status at each address where it can be made.
#[tokio::test]
async fn f42_the_same_mistake_has_one_status_everywhere() {
    let router = router();
    let body = json!({ "id": "a", "input": { "text": "x" } });
    let thread = start(&router, "admin", body.clone()).await;
    let copy = format!("/threads/{thread}/copy");
    let fork = format!("/threads/{thread}/fork");
    let turn = format!("/threads/{thread}/turns");
    let long = "x".repeat(129);
    for (row, path, body, status) in [
        (1, "/flows/Notes/threads", body, StatusCode::CONFLICT),
        (2, &copy, json!({ "id": "a" }), StatusCode::CONFLICT),
        (
            3,
            &fork,
            json!({ "id": "a", "checkpoint": 1 }),
            StatusCode::CONFLICT,
        ),
        (
            4,
            "/flows/Notes/threads",
            json!({ "id": long }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            5,
            &copy,
            json!({ "id": "a/b" }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            6,
            &fork,
            json!({ "id": "", "checkpoint": 1 }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            7,
            "/flows/Notes/threads",
            json!({ "input": 1 }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            8,
            &turn,
            json!({ "input": 1 }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            9,
            "/flows/Notes/threads",
            json!({ "imput": 1 }),
            StatusCode::BAD_REQUEST,
        ),
        (10, &turn, json!({ "imput": 1 }), StatusCode::BAD_REQUEST),
        (11, &copy, json!({}), StatusCode::BAD_REQUEST),
        (
            12,
            &fork,
            json!({ "checkpoint": 99 }),
            StatusCode::NOT_FOUND,
        ),
        (
            13,
            &fork,
            json!({ "id": "b", "checkpoint": 99 }),
            StatusCode::NOT_FOUND,
        ),
    ] {
        let refused = as_user(&router, "admin", "POST", path, body).await;
        assert_eq!(refused.status, status, "row {row}: {refused:?}");
    }
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
