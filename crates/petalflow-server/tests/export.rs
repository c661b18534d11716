//! Threads as files: who gets them, and what is not in them.

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::thread::ThreadFile;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, ServedFlow, Server};
use serde_json::json;

use crate::kit::{Response, send};

#[state]
struct Refund {
    #[key(input)]
    euros: u32,
    #[key(input, secret)]
    card: String,
    /// Not marked by its program.
    #[key(input)]
    iban: String,
    receipt: String,
}

#[node(Refund)]
async fn pay(card: &str, iban: &str) -> RefundReceipt {
    RefundReceipt(format!("paid from {card} to {iban}"))
}

flow!(PayRefund(Refund) { pay });

fn user(request: &Parts) -> Access {
    let user = request.headers.get("x-user");
    match user.and_then(|user| user.to_str().ok()) {
        Some(user) => Access::label("user", user),
        None => Access::None,
    }
}

fn router() -> Router {
    let flow = ServedFlow::new(PayRefund::new()).secret("iban");
    let server = Server::builder(&InMemoryStore::new())
        .serve_flow(flow)
        .threads(TriggerAuth::None)
        .access(user);
    server.build().expect("the settings are right").router()
}

async fn as_user(router: &Router, user: &str, method: &str, path: &str, body: Body) -> Response {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("x-user", user).body(body);
    send(router, request.expect("a request")).await
}

#[tokio::test]
async fn f44_a_thread_is_exported_without_secrets_for_those_who_see_it() {
    let router = router();
    let input = json!({ "euros": 7, "card": "4000-1234", "iban": "DE00-5678" });
    let body = json!({ "id": "ann", "input": input });
    let started = as_user(
        &router,
        "ann",
        "POST",
        "/flows/PayRefund/threads",
        Body::from(body.to_string()),
    );
    let thread = started.await.thread();
    let events = format!("/threads/{thread}/events");
    as_user(&router, "ann", "GET", &events, Body::empty()).await;

    let path = format!("/threads/{thread}/export");
    let exported = as_user(&router, "ann", "GET", &path, Body::empty()).await;
    assert_eq!(exported.status, StatusCode::OK, "{exported:?}");
    let header = |name: &str| exported.headers[name].to_str().expect("a text").to_string();
    assert_eq!(header("content-type"), "application/json");
    // The id of the thread has the digest of its caller.
    let name = format!("{}.thread.json", thread.replace(':', "_"));
    assert_eq!(
        header("content-disposition"),
        format!("attachment; filename=\"{name}\"")
    );
    let file: ThreadFile = exported.text.parse().expect("the file of a thread");
    assert_eq!((file.thread(), file.flow()), (&*thread, "PayRefund"));
    assert_eq!(file.removed(), ["card", "iban"]);
    assert!(!exported.text.contains("4000-1234") && !exported.text.contains("DE00-5678"));
    assert!(
        exported.text.contains("paid from [removed] to [removed]"),
        "{file}"
    );

    for (user, path) in [
        ("ben", path.as_str()),
        ("ann", "/threads/PayRefund:none/export"),
    ] {
        let refused = as_user(&router, user, "GET", path, Body::empty()).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{user}: {refused:?}");
        assert!(!refused.text.contains("euros"), "{refused:?}");
    }
}
