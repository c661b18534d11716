//! Timeouts, retries and the size of answers.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use petalflow::tool::ToolError;
use petalflow_openapi::OpenApi;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::service::{Service, api, call, json_response, response};

fn paths() -> Value {
    json!({ "/books": { "get": { "operationId": "list" }, "post": { "operationId": "add" }, "put": { "operationId": "replace" } } })
}

/// Is busy for the first request, and asks to come again at once.
async fn busy_once(status: u16) -> Service {
    Service::start(move |seen, before| async move {
        match before {
            0 => response(status, &[("retry-after", "0")], "busy"),
            _ => json_response(200, &seen.echo()),
        }
    })
    .await
}

#[tokio::test]
async fn f44_6_only_what_may_be_repeated_is_repeated() {
    for status in [429, 502, 503, 504] {
        for (tool, is_repeated) in [("list", true), ("replace", true), ("add", false)] {
            let service = busy_once(status).await;
            let tools = api(&service, paths()).tools().unwrap();
            let result = call(&tools, tool, json!({})).await;
            assert_eq!(result.is_ok(), is_repeated, "{status} {tool}: {result:?}");
            assert_eq!(service.seen().len(), 1 + usize::from(is_repeated));
            if let Err(error) = result {
                assert!(
                    error
                        .to_string()
                        .starts_with(&format!("`POST /books` was answered with status {status}")),
                    "{error}"
                );
            }
        }
    }
    let service = busy_once(500).await;
    let tools = api(&service, paths()).tools().unwrap();
    call(&tools, "list", json!({})).await.unwrap_err();
    assert_eq!(
        service.seen().len(),
        1,
        "an error of the service is no reason to repeat"
    );
    let service = busy_once(503).await;
    let tools = api(&service, paths()).attempts(1).tools().unwrap();
    call(&tools, "list", json!({})).await.unwrap_err();
    assert_eq!(service.seen().len(), 1);
}

#[tokio::test]
async fn f44_6_a_long_wait_is_left_to_the_model() {
    let service =
        Service::start(async |_, _| response(429, &[("retry-after", "3600")], "come in an hour"))
            .await;
    let tools = api(&service, paths()).tools().unwrap();
    let error = call(&tools, "list", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`GET /books` was answered with status 429 Too Many Requests: come in an hour"
    );
    assert_eq!(service.seen().len(), 1);
}

#[tokio::test]
async fn f44_6_an_idempotency_key_is_that_of_the_call() {
    let service = busy_once(503).await;
    let tools = api(&service, paths())
        .idempotency_header("Idempotency-Key")
        .tools()
        .unwrap();
    call(&tools, "add", json!({})).await.unwrap();
    call(&tools, "add", json!({})).await.unwrap();
    call(&tools, "list", json!({})).await.unwrap();
    let seen = service.seen();
    let keys: Vec<Option<&str>> = seen.iter().map(|it| it.header("idempotency-key")).collect();
    let [Some(first), Some(again), Some(second), None] = keys[..] else {
        panic!("{keys:?}")
    };
    assert_eq!(first, again, "an attempt is of the same call");
    assert_ne!(first, second);
    // Without the option there is no key.
    let service = Service::echo().await;
    let tools = api(&service, paths()).tools().unwrap();
    call(&tools, "add", json!({})).await.unwrap();
    assert_eq!(service.only().header("idempotency-key"), None);
}

#[tokio::test]
async fn f44_6_a_service_that_does_not_answer_is_left() {
    let never = Arc::new(Semaphore::new(0));
    let service = Service::start(move |_, _| {
        let never = Arc::clone(&never);
        async move {
            let _ = never.acquire().await;
            response(200, &[], "")
        }
    })
    .await;
    let tools = api(&service, paths())
        .timeout(Duration::from_millis(200))
        .tools()
        .unwrap();
    let error = call(&tools, "add", json!({})).await.unwrap_err();
    assert!(
        matches!(error, ToolError::Timeout(ref tool, _) if tool == "add"),
        "{error}"
    );
    assert_eq!(service.seen().len(), 1);
    // Nothing listens there: it is repeated, whatever the method is, and the error has no address with secrets.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let tools = api(&service, paths())
        .server(&url)
        .attempts(2)
        .tools()
        .unwrap();
    let error = call(&tools, "add", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("`POST /books` was not sent: "), "{error}");
    assert!(!error.contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn f44_6_a_lost_connection_is_not_repeated_for_what_changes_something() {
    // Reads the request, and closes the connection.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            loop {
                stream.readable().await.unwrap();
                match stream.try_read(&mut [0; 4096]) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    read => {
                        assert!(read.unwrap() > 0);
                        counted.fetch_add(1, SeqCst);
                        break;
                    }
                }
            }
        }
    });
    let service = Service::echo().await;
    let tools = api(&service, paths())
        .server(&url)
        .attempts(2)
        .tools()
        .unwrap();
    let error = call(&tools, "add", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("`POST /books` has no answer, and the service may have done it: "),
        "{error}"
    );
    assert_eq!(requests.load(SeqCst), 1);
    call(&tools, "list", json!({})).await.unwrap_err();
    assert_eq!(requests.load(SeqCst), 3);
}

#[tokio::test]
async fn f44_6_a_long_answer_is_refused() {
    let service = Service::start(async |_, _| {
        response(200, &[("content-type", "text/plain")], "x".repeat(1001))
    })
    .await;
    let api = api(&service, paths());
    let tools = api.clone().response_limit(1000).tools().unwrap();
    let error = call(&tools, "list", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer to `GET /books` is longer than 1000 bytes: ask for less, such as fewer items of a list"
    );
    assert_eq!(service.seen().len(), 1, "it would be as long again");
    let tools = api.response_limit(1001).tools().unwrap();
    assert_eq!(
        call(&tools, "list", json!({}))
            .await
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        1001
    );
}

#[test]
fn f44_6_a_long_schema_is_an_error_of_its_operation() {
    // Each schema refers to the next: alone they are short.
    let schemas = (0..200).map(|number| {
        let next = json!({ "$ref": format!("#/components/schemas/s{}", (number + 1) % 200) });
        (
            format!("s{number}"),
            json!({ "type": "object", "properties": { "next": next } }),
        )
    });
    let mut document = crate::service::document(
        json!({ "/books": { "post": { "operationId": "add", "requestBody": {
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/s0" } } } } } } }),
    );
    document["components"]["schemas"] = Value::Object(schemas.collect());
    let api = OpenApi::from_value(document)
        .unwrap()
        .server("https://example.com")
        .filter(|_| true);
    let tools = api.tools().unwrap();
    let parameters = &tools.get("add").unwrap().spec().parameters;
    assert_eq!(parameters["$defs"].as_object().unwrap().len(), 200);
    let error = api.schema_limit(1000).tools().unwrap_err().to_string();
    assert!(
        error.ends_with("`POST /books` (`add`): the schema of its arguments has more than 1000 bytes, all of which a model reads: leave it out, or raise `schema_limit`"),
        "{error}"
    );
}
