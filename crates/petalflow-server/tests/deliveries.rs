//! Requests that start runs. Rows P179 to P181.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow_documents::Services;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, Server};
use petalflow_sqlite::SqliteStore;
use serde_json::json;

use crate::kit::{
    HOOK, Work, builder, checked_graph, get, graph, post, send, server, wait_until_settled,
    with_token,
};

#[tokio::test]
async fn p180_a_request_starts_a_run_with_its_parts() {
    let document = graph(with_token(), &[]);
    let server = Server::builder(&InMemoryStore::new())
        .document(&document, &Services::new())
        .threads(TriggerAuth::None);
    let server = server.build().expect("the settings are right");
    // Below a path of another router: the trigger sees the path of the client.
    let router = Router::new().nest("/flows", server.router());
    let request = Request::post(format!("/flows{HOOK}?tag=a&tag=b&empty="))
        .header("Content-Type", "application/json")
        .header("X-Token", "secret")
        .header("X-Event", "opened")
        .body(Body::from(r#"{ "order": 17 }"#));
    let response = send(&router, request.expect("a request")).await;
    let thread = response.thread();
    assert!(thread.starts_with("orders:incoming:"), "{thread}");
    assert_eq!(response.json(), json!({ "thread": thread }));

    let (bare, thread) = (server.router(), format!("/threads/{thread}"));
    get(&bare, &format!("{thread}/events")).await;
    let found = get(&bare, &thread).await.json();
    assert_eq!(found["status"], "finished", "{found}");
    assert_eq!(
        (&found["flow"], &found["trigger"]),
        (&json!("orders"), &json!("incoming"))
    );
    let vars = &found["state"]["vars"];
    assert_eq!(vars["webhook_body"], json!({ "order": 17 }));
    assert_eq!(vars["webhook_query"], json!({ "tag": "a, b", "empty": "" }));
    assert_eq!(
        vars["webhook_headers"],
        json!({ "content-type": "application/json", "x-event": "opened" }),
        "the token is not there"
    );
    let meta = &vars["webhook_meta"];
    assert_eq!(meta["path"], format!("/flows{HOOK}"));
    assert_eq!(
        [&meta["method"], &meta["workflow_id"], &meta["trigger_id"]],
        ["POST", "orders", "incoming"]
    );
}

#[tokio::test]
async fn p179_methods() {
    let work = Work::new();
    let router = server(json!({ "methods": ["put", "POST"] }), &work.counting()).router();
    let with = |method: &str| {
        let request = Request::builder().method(method).uri(HOOK);
        request.body(Body::empty()).expect("a request")
    };
    for method in ["GET", "DELETE", "OPTIONS", "HEAD", "TRACE", "PURGE"] {
        let response = send(&router, with(method)).await;
        assert_eq!(response.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(response.headers["allow"], "PUT, POST", "{method}");
    }
    for method in ["PUT", "POST"] {
        let thread = send(&router, with(method)).await.thread();
        assert_eq!(
            wait_until_settled(&router, &thread).await["status"],
            "finished"
        );
    }
    assert_eq!(work.runs(), 2);
}

#[tokio::test]
async fn p181_a_request_needs_the_token() {
    let work = Work::new();
    let router = server(with_token(), &work.counting()).router();
    for headers in [
        &[][..],
        &[("x-token", "")],
        &[("x-token", "wrong!")],
        &[("x-token", "secre")],
        &[("x-token", "secrets")],
        &[("x-token", "Secret")],
        &[("x-token", "secret"), ("x-token", "secret")],
        &[("authorization", "Bearer secret")],
        &[("x-petalflow-webhook-token", "secret")],
    ] {
        let response = send(&router, post(headers, "{}")).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{headers:?}");
        assert_eq!(response.error(), "the token is missing or wrong");
    }
    let long = "s".repeat(10_000);
    let response = send(&router, post(&[("x-token", &long)], "{}")).await;
    assert_eq!(response.status, StatusCode::UNAUTHORIZED);
    assert_eq!(work.runs(), 0);
    let thread = send(&router, post(&[("X-TOKEN", "secret")], "{}"))
        .await
        .thread();
    assert_eq!(
        wait_until_settled(&router, &thread).await["state"]["vars"]["runs"],
        1
    );
}

#[tokio::test]
async fn each_trigger_of_a_document_runs_what_is_after_it() {
    let document = checked_graph(json!({
        "id": "orders", "version": "1", "entry": "first",
        "nodes": [
            { "id": "first", "type": "webhook_trigger", "config": {} },
            { "id": "second", "type": "webhook_trigger", "config": { "methods": ["GET"] } },
            { "id": "a", "type": "transform", "config": { "transform": "template", "template": "a", "output_var": "a" } },
            { "id": "b", "type": "transform", "config": { "transform": "template", "template": "b", "output_var": "b" } },
        ],
        "edges": [{ "source": "first", "target": "a" }, { "source": "second", "target": "b" }],
    }));
    let server = Server::builder(&InMemoryStore::new()).document(&document, &Services::new());
    let server = server.threads(TriggerAuth::None).build().expect("right");
    let paths = [
        "/workflows/orders/webhooks/first",
        "/workflows/orders/webhooks/second",
    ];
    assert_eq!(server.paths(), paths);
    let router = server.router();
    for (path, method, has, has_not) in [(paths[0], "POST", "a", "b"), (paths[1], "GET", "b", "a")]
    {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty());
        let thread = send(&router, request.expect("a request")).await.thread();
        let vars = wait_until_settled(&router, &thread).await["state"]["vars"].clone();
        assert_eq!((&vars[has], &vars[has_not]), (&json!(has), &json!(null)));
    }
    for path in [
        "/workflows/orders/webhooks/a",
        "/workflows/other/webhooks/first",
        "/",
    ] {
        assert_eq!(get(&router, path).await.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_repeated_delivery_gets_the_same_thread() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let key = [("Idempotency-Key", "delivery 1")];
    let sent = (0..20).map(|_| send(&router, post(&key, r#"{"n":1}"#)));
    let mut threads: Vec<String> = Vec::new();
    for response in futures_util::future::join_all(sent).await {
        threads.push(response.thread());
    }
    threads.dedup();
    assert_eq!(threads.len(), 1, "{threads:?}");
    wait_until_settled(&router, &threads[0]).await;
    // Also after the run.
    let again = send(&router, post(&key, r#"{ "n": 1 }"#)).await;
    assert_eq!(again.thread(), threads[0]);
    assert_eq!(work.runs(), 1);

    let response = send(&router, post(&key, r#"{"n":2}"#)).await;
    assert_eq!(response.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        response.error().contains("had another body"),
        "{response:?}"
    );
    let other = send(&router, post(&[("idempotency-key", "delivery 2")], "{}"))
        .await
        .thread();
    let none = send(&router, post(&[], "{}")).await.thread();
    assert!(other != threads[0] && none != threads[0] && other != none);
}

#[tokio::test]
async fn another_header_can_identify_deliveries() {
    let work = Work::new();
    let server = builder(&InMemoryStore::new(), json!({}), &work.counting());
    let server = server
        .idempotency_header("X-GitHub-Delivery")
        .build()
        .expect("right");
    let router = server.router();
    let with = |name| post(&[(name, "1")], "{}");
    let first = send(&router, with("x-github-delivery")).await.thread();
    assert_eq!(
        send(&router, with("X-GitHub-Delivery")).await.thread(),
        first
    );
    assert_ne!(send(&router, with("Idempotency-Key")).await.thread(), first);
}

#[tokio::test]
async fn two_servers_with_one_store_run_a_delivery_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let work = Work::new();
    let mut routers = Vec::new();
    for _ in 0..2 {
        let store = SqliteStore::open(folder.path().join("a.db"))
            .await
            .expect("it opens");
        let server = builder(&store, json!({}), &work.counting())
            .build()
            .expect("right");
        routers.push(server.router());
    }
    for delivery in 0..10 {
        let key = delivery.to_string();
        let requests = routers.iter().cycle().take(6);
        let requests =
            requests.map(|router| send(router, post(&[("idempotency-key", &key)], "{}")));
        let mut threads = Vec::new();
        for response in futures_util::future::join_all(requests).await {
            threads.push(response.thread());
        }
        threads.dedup();
        assert_eq!(threads.len(), 1);
        for router in &routers {
            wait_until_settled(router, &threads[0]).await;
        }
        assert_eq!(work.runs(), delivery + 1);
    }
}

#[tokio::test]
async fn a_client_may_wait_if_the_server_lets_it() {
    let limits = Limits {
        max_wait: Duration::from_mins(1),
        ..Limits::default()
    };
    let fails = json!({ "id": "fail", "type": "transform", "config": {
        "transform": "template", "template": "{{.missing}}", "output_var": "x" } });
    let work = Work::new();
    let wait = [("prefer", "respond-async, wait=30")];
    let good = builder(&InMemoryStore::new(), json!({}), &work.counting()).limits(limits);
    let response = send(&good.build().expect("right").router(), post(&wait, "7")).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    assert_eq!(response.json()["status"], "finished");
    assert_eq!(response.json()["state"]["vars"]["webhook_body"], 7);

    let bad = Server::builder(&InMemoryStore::new())
        .document(graph(json!({}), &[fails]), &Services::new())
        .limits(limits);
    let response = send(&bad.build().expect("right").router(), post(&wait, "7")).await;
    assert_eq!(response.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.json()["status"], "failed");
    assert!(
        !response.text.contains("missing"),
        "errors of nodes are not for callers"
    );

    // By default it gets 202 at once.
    let work = Work::new();
    let server = server(json!({}), &work.waiting());
    let response = send(&server.router(), post(&wait, "7")).await;
    assert_eq!(response.status, StatusCode::ACCEPTED);
    work.may_end.notify_one();
}

#[tokio::test]
async fn a_wait_ends_before_a_long_run() {
    let limits = Limits {
        max_wait: Duration::from_millis(20),
        ..Limits::default()
    };
    let work = Work::new();
    let server = builder(&InMemoryStore::new(), json!({}), &work.waiting()).limits(limits);
    let router = server.build().expect("right").router();
    let response = send(&router, post(&[("prefer", "wait=99999")], "{}")).await;
    assert_eq!(response.json()["status"], "running", "{response:?}");
    let thread = response.thread();
    work.may_end.notify_one();
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "finished"
    );
}

#[tokio::test]
async fn the_timeout_of_a_trigger_is_that_of_its_runs() {
    let work = Work::new();
    let router = server(json!({ "timeout": 0.05 }), &work.waiting()).router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let found = wait_until_settled(&router, &thread).await;
    assert_eq!(
        (&found["status"], work.runs()),
        (&json!("failed"), 0),
        "{found}"
    );
}

#[tokio::test]
async fn texts_and_empty_bodies_are_texts() {
    let document = graph(json!({}), &[]);
    let server = Server::builder(&InMemoryStore::new()).document(&document, &Services::new());
    let router = server
        .threads(TriggerAuth::None)
        .build()
        .expect("right")
        .router();
    for (kind, body, expected) in [
        ("text/plain", &b"hi"[..], json!("hi")),
        ("application/octet-stream", b"a\xffb", json!("a\u{fffd}b")),
        ("application/json", b"", json!("")),
        ("application/cloudevents+json", b"[1]", json!([1])),
    ] {
        let request = Request::post(HOOK)
            .header("content-type", kind)
            .body(Body::from(body));
        let thread = send(&router, request.expect("a request")).await.thread();
        let found = wait_until_settled(&router, &thread).await;
        assert_eq!(found["state"]["vars"]["webhook_body"], expected, "{kind}");
    }
}

#[tokio::test]
async fn an_empty_identifier_is_not_shared_by_all_senders() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    for key in ["", " "] {
        let response = send(&router, post(&[("idempotency-key", key)], "{}")).await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST);
        assert_eq!(
            response.error(),
            "the header `idempotency-key` is empty: send an identifier of the request, or no header"
        );
    }
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn a_browser_does_not_connect_again_to_a_stream_that_has_ended() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let thread = send(&router, post(&[], "{}")).await.thread();
    let path = format!("/threads/{thread}/events");
    let all = get(&router, &path).await;
    assert_eq!(all.status, StatusCode::OK);
    let ids = all
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("id: "));
    let ids: Vec<&str> = ids.collect();
    let again = async |last: &str| {
        let request = Request::get(&path).header("last-event-id", last);
        send(&router, request.body(Body::empty()).expect("a request")).await
    };
    let last = again(ids[ids.len() - 1]).await;
    assert_eq!((last.status, &*last.text), (StatusCode::NO_CONTENT, ""));
    // A client that has not seen the last event gets it, and then the end.
    let rest = again(ids[ids.len() - 2]).await;
    assert_eq!(rest.status, StatusCode::OK);
    let received = rest.text.lines().filter(|line| line.starts_with("id: "));
    assert_eq!(received.count(), 1, "{}", rest.text);
}

#[tokio::test]
async fn the_health_address_says_whether_the_server_takes_requests() {
    let work = Work::new();
    let server = server(json!({}), &work.counting());
    let router = server.router();
    let healthy = get(&router, "/health").await;
    assert_eq!(
        (healthy.status, healthy.json()),
        (StatusCode::OK, json!({ "status": "ok" }))
    );
    server.drain(Duration::from_secs(1)).await;
    let stopping = get(&router, "/health").await;
    assert_eq!(stopping.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(stopping.error(), "the server stops");
}

/// The signature is that of GitHub's documentation, for its secret and its body.
#[tokio::test]
async fn a_signed_delivery_starts_a_run_and_a_changed_one_does_not() {
    let work = Work::new();
    let secret = "It's a Secret to Everybody";
    let trigger = json!({ "auth": { "type": "github_signature", "secret": secret } });
    let router = server(trigger, &work.counting()).router();
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let request = |signature: Option<&str>, body: &'static str| {
        let request = Request::post(HOOK).header("content-type", "text/plain");
        let request = match signature {
            Some(signature) => request.header("X-Hub-Signature-256", signature),
            None => request,
        };
        request.body(Body::from(body)).expect("a request")
    };
    for (given, body) in [
        (None, "Hello, World!"),
        (Some(signature), "Hello, World?"),
        (Some("sha256=00"), "Hello, World!"),
    ] {
        let refused = send(&router, request(given, body)).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
        assert_eq!(refused.error(), "the signature is missing or wrong");
    }
    let thread = send(&router, request(Some(signature), "Hello, World!"))
        .await
        .thread();
    let found = wait_until_settled(&router, &thread).await;
    assert_eq!(found["state"]["vars"]["webhook_body"], "Hello, World!");
    assert_eq!(work.runs(), 1);
}
