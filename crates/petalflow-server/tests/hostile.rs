//! Requests that are meant to do harm.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use futures_util::stream;
use petalflow::checkpoint::InMemoryStore;
use petalflow_server::Limits;
use serde_json::json;

use crate::kit::{HOOK, Work, builder, get, post, send, server, wait_until_settled, with_token};

#[tokio::test]
async fn json_that_is_none_is_refused() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let deep = ["[".repeat(100_000), "{\"a\":".repeat(100_000)];
    for body in [
        "{",
        "{}{}",
        "{\"a\":1,}",
        "\u{0}",
        "1e999",
        "\"\\ud800\"",
        "nul",
    ]
    .into_iter()
    .chain(deep.iter().map(String::as_str))
    {
        let response = send(&router, post(&[], body.to_owned())).await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST, "{body:.20}");
        assert!(response.error().starts_with("the body is not JSON: "));
    }
    let bytes = post(&[], Bytes::from_static(b"\"\xff\""));
    assert_eq!(send(&router, bytes).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn json_as_deep_as_is_allowed_is_stored() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let body = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let thread = send(&router, post(&[], body)).await.thread();
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "finished"
    );
}

#[tokio::test]
async fn a_body_that_is_announced_as_too_large_is_not_read() {
    let work = Work::new();
    let router = server(json!({ "max_body_bytes": 100 }), &work.counting()).router();
    for length in ["101", "18446744073709551615"] {
        let request = post(
            &[("content-length", length)],
            Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>()),
        );
        let response = send(&router, request).await;
        assert_eq!(response.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.error(), "the body is larger than 100 bytes");
    }
    let fits = format!("\"{}\"", "a".repeat(98));
    assert_eq!(
        send(&router, post(&[], fits)).await.status,
        StatusCode::ACCEPTED
    );
}

#[tokio::test]
async fn a_body_of_unknown_length_is_read_up_to_its_limit() {
    let work = Work::new();
    let router = server(json!({ "max_body_bytes": 100 }), &work.counting()).router();
    // Without end.
    let chunks = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 64])));
    let response = send(&router, post(&[], Body::from_stream(chunks))).await;
    assert_eq!(response.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn nothing_is_read_without_the_token() {
    let work = Work::new();
    let router = server(with_token(), &work.counting()).router();
    let never = stream::pending::<Result<Bytes, std::io::Error>>();
    let response = send(
        &router,
        post(&[("x-token", "wrong")], Body::from_stream(never)),
    )
    .await;
    assert_eq!(response.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_given_up() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let drops = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
    });
    let response = send(&router, post(&[], Body::from_stream(drops))).await;
    assert_eq!(response.status, StatusCode::REQUEST_TIMEOUT);
    assert_eq!(response.error(), "the body did not arrive within 10s");
}

#[tokio::test]
async fn a_body_that_breaks_off_starts_nothing() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let chunks = stream::iter([
        Ok(Bytes::from_static(b"1")),
        Err(std::io::Error::other("gone")),
    ]);
    let response = send(&router, post(&[], Body::from_stream(chunks))).await;
    assert_eq!(response.status, StatusCode::BAD_REQUEST);
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn too_many_and_too_large_headers_are_refused() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    let names: Vec<String> = (0..65).map(|n| format!("x-{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "1")).collect();
    let large = "a".repeat(17 << 10);
    for headers in [many, vec![("x-large", &*large)]] {
        let response = send(&router, post(&headers, "{}")).await;
        assert_eq!(response.status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    assert_eq!(work.runs(), 0);
}

#[tokio::test]
async fn too_many_runs_are_refused_and_nothing_is_stored() {
    let work = Work::new();
    let limits = Limits {
        max_runs: 2,
        ..Limits::default()
    };
    let server = builder(&InMemoryStore::new(), json!({}), &work.waiting()).limits(limits);
    let router = server.build().expect("right").router();
    let mut threads = Vec::new();
    for _ in 0..2 {
        threads.push(send(&router, post(&[], "{}")).await.thread());
    }
    let key = [("idempotency-key", "1")];
    let response = send(&router, post(&key, "{}")).await;
    assert_eq!(response.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        (response.error(), &response.headers["retry-after"]),
        (
            "too many runs are in progress".into(),
            &"1".parse().expect("a value")
        )
    );
    for thread in threads {
        work.may_end.notify_one();
        work.may_end.notify_one();
        wait_until_settled(&router, &thread).await;
    }
    // The refused delivery can be repeated.
    let thread = send(&router, post(&key, "{}")).await.thread();
    work.may_end.notify_one();
    assert_eq!(
        wait_until_settled(&router, &thread).await["status"],
        "finished"
    );
}

#[tokio::test]
async fn too_many_requests_are_refused() {
    let work = Work::new();
    let limits = Limits {
        max_requests: 4,
        ..Limits::default()
    };
    let server = builder(&InMemoryStore::new(), json!({}), &work.counting()).limits(limits);
    let router = server.build().expect("right").router();
    let slow: Vec<_> = (0..4)
        .map(|_| {
            let router = router.clone();
            let never = stream::pending::<Result<Bytes, std::io::Error>>();
            tokio::spawn(async move { send(&router, post(&[], Body::from_stream(never))).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let response = send(&router, post(&[], "{}")).await;
    assert_eq!(response.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.error(), "too many requests are in progress");
    // Clients that disconnect give their places back.
    for request in slow {
        request.abort();
        let _ = request.await;
    }
    assert_eq!(
        send(&router, post(&[], "{}")).await.status,
        StatusCode::ACCEPTED
    );
}

#[tokio::test]
async fn names_in_paths_lead_nowhere_else() {
    let work = Work::new();
    let router = server(json!({}), &work.counting()).router();
    for path in [
        "/workflows/orders%00/webhooks/incoming",
        "/workflows/orders/webhooks/incoming%2f..",
        "/workflows/%2e%2e/webhooks/incoming",
        "/threads/orders:incoming:1:begin",
        "/threads/orders:incoming:%00",
        "/threads/other:incoming:1",
        "/threads/%ff",
    ] {
        let status = get(&router, path).await.status;
        assert!(
            status == StatusCode::NOT_FOUND || status == StatusCode::BAD_REQUEST,
            "{path}: {status}"
        );
    }
    let long = format!("/threads/orders:incoming:{}", "a".repeat(5_000));
    assert!(get(&router, &long).await.status.is_client_error());
    assert!(get(&router, HOOK).await.status.is_client_error());
}

/// A page of another host cannot reach the server through the browser of a person, also if its name has this address.
#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let server = builder(&InMemoryStore::new(), json!({}), &Work::new().counting());
    let page = Router::new().route("/page", axum::routing::get(async || "page"));
    let server = server
        .hosts(["localhost", "[::1]"])
        .routes(page)
        .build()
        .expect("right");
    let router = server.router();
    let send_as = async |path: &str, name: &str, value: &str| {
        let request = Request::get(path).header(name, value).body(Body::empty());
        send(&router, request.expect("a request")).await
    };
    for (name, value, status) in [
        ("host", "localhost:3000", 200),
        ("host", "[::1]", 200),
        ("origin", "http://localhost:3000", 200),
        ("host", "evil.example", 403),
        ("host", "localhost.evil.example", 403),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
    ] {
        for path in ["/health", "/page"] {
            let response = send_as(path, name, value).await;
            assert_eq!(
                response.status, status,
                "{path} {name} {value}: {response:?}"
            );
        }
    }
    let refused = send_as("/health", "host", "evil.example").await;
    assert_eq!(
        refused.error(),
        "the server does not answer to the `host` `evil.example`"
    );
}

/// A proxy may go by another one of two names than this server.
#[tokio::test]
async fn f42_every_name_of_a_request_must_be_known() {
    let page = || Router::new().route("/page", axum::routing::get(async || "page"));
    let server = builder(&InMemoryStore::new(), json!({}), &Work::new().counting());
    let guarded = server.hosts(["localhost"]).routes(page());
    let guarded = guarded.build().expect("right").router();
    let server = builder(&InMemoryStore::new(), json!({}), &Work::new().counting());
    let open = server.routes(page()).build().expect("right").router();
    let two_hosts = [("host", "localhost"), ("host", "evil.example")];
    let same_host = [("host", "localhost"), ("host", "localhost")];
    let two_origins = [
        ("host", "localhost"),
        ("origin", "http://localhost"),
        ("origin", "http://evil.example"),
    ];
    let one = [("host", "localhost")];
    for (row, router, target, headers, status) in [
        (1, &guarded, "", &two_hosts[..], 400),
        (2, &guarded, "", &same_host, 400),
        (3, &open, "", &two_hosts, 400),
        (4, &guarded, "", &two_origins, 403),
        (5, &open, "", &two_origins, 200),
        (6, &guarded, "http://evil.example", &one, 403),
        (7, &guarded, "http://localhost:3000", &one, 200),
        (8, &open, "http://evil.example", &one, 200),
    ] {
        for path in ["/health", "/page"] {
            let request = Request::get(format!("{target}{path}"));
            let request = headers.iter().fold(request, |request, (name, value)| {
                request.header(*name, *value)
            });
            let request = request.body(Body::empty()).expect("a request");
            let response = send(router, request).await;
            assert_eq!(response.status, status, "row {row} {path}: {response:?}");
        }
    }
    let two_keys = [("idempotency-key", "a"), ("idempotency-key", "b")];
    let response = send(&open, post(&two_keys, "{}")).await;
    assert_eq!(response.status, 400, "{response:?}");
    assert!(
        response.error().contains("send one identifier"),
        "{response:?}"
    );
}
