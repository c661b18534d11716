//! `WebhookCallNode`, rows P176 to P178. The servers are sockets of this test, so time is not paused.

use petalflow_documents::Artifact;
use petalflow_documents::kinds::{WebhookCallConfig, WebhookCallNode};
use petalflow_llm::ChatMessage;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{run, settings, settings_error, var, vars};

/// A server that answers one request with this text. Returns its address and the request.
async fn server(response: String) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!(
        "http://{}/hook?token=s3cret",
        listener.local_addr().expect("an address")
    );
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = socket.read(&mut buffer).await.expect("it reads");
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if read == 0 || body.len() >= length.unwrap_or(0) {
                // The client may close first, if the response is too large.
                let _ = socket.write_all(response.as_bytes()).await;
                let _ = socket.shutdown().await;
                return text;
            }
        }
    });
    (url, served)
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 201 Created\r\nX-Reply: yes\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn call(mut config: Value) -> WebhookCallNode {
    config["allow_private"] = json!(true);
    WebhookCallNode::new(settings(config)).expect("they are settings")
}

fn problem(config: Value) -> String {
    WebhookCallNode::new(settings(config))
        .expect_err("the settings are wrong")
        .to_string()
}

#[test]
fn p176_settings() {
    let config: WebhookCallConfig = settings(json!({ "url": "https://example.com/" }));
    assert_eq!(config.method, "POST");
    assert!(settings_error::<WebhookCallConfig>(json!({})).contains("url"));
    assert_eq!(problem(json!({ "url": " " })), "`url`: it is required");
    assert!(problem(json!({ "url": "example" })).starts_with("`url`: "));
    assert_eq!(
        problem(json!({ "url": "file:///etc/passwd" })),
        "`url`: `file` is not `http` or `https`"
    );
    assert_eq!(
        problem(json!({ "url": "https://a.b", "method": "a b" })),
        "`method`: `A B` is not an HTTP method"
    );
    assert!(
        problem(json!({ "url": "https://a.b", "headers": { "a b": "c" } }))
            .starts_with("`headers.a b`: ")
    );
    assert!(
        problem(json!({ "url": "https://a.b", "headers": { "a": "b\nc" } }))
            .starts_with("`headers.a`: ")
    );
    assert!(problem(json!({ "url": "https://a.b", "template": "{{" })).starts_with("`template`: "));
    let timeout: WebhookCallConfig =
        settings(json!({ "url": "https://a.b", "method": " put ", "timeout": "2s" }));
    assert!(WebhookCallNode::new(timeout).is_ok());
}

#[tokio::test]
async fn p176_timeouts_and_large_responses() {
    let (url, _served) = server(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(100_000))).await;
    let error = run(
        call(json!({ "url": url, "max_response_bytes": 99_999 })),
        vars(json!({})),
    )
    .await;
    assert_eq!(
        error.expect_err("it is large"),
        "webhook call node `n`: the response is larger than 99999 bytes"
    );
    let (url, _served) = server(ok(&"x".repeat(100))).await;
    let envelope = run(
        call(json!({ "url": url, "max_response_bytes": 100 })),
        vars(json!({})),
    )
    .await;
    assert!(envelope.is_ok(), "the limit is allowed: {envelope:?}");
    // It accepts, and does not answer.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let error = run(
        call(json!({ "url": url, "timeout": 0.05 })),
        vars(json!({})),
    )
    .await;
    assert_eq!(
        error.expect_err("it is late"),
        "webhook call node `n`: the call timed out: raise `timeout`"
    );
}

#[tokio::test]
async fn p177_the_body() {
    let mut envelope = vars(json!({ "a": 1, "b": [2] })).with_input("question");
    envelope.append_artifact(Artifact {
        bytes: vec![1, 2, 3],
        ..Artifact::new("doc")
    });
    envelope.append_message(ChatMessage::user("hello"));
    envelope.trace.run_id = "run-1".into();
    let sent = async |mut config: Value| {
        let (url, served) = server(ok("")).await;
        config["url"] = json!(url);
        run(call(config), envelope.clone())
            .await
            .expect("it is sent");
        let request = served.await.expect("it was received");
        let (head, body) = request.split_once("\r\n\r\n").expect("it has a body");
        (head.to_lowercase(), body.to_owned())
    };
    let (head, body) = sent(json!({})).await;
    assert!(
        head.starts_with("post /hook?token=s3cret http/1.1"),
        "{head}"
    );
    assert!(head.contains("content-type: application/json"), "{head}");
    let body: Value = serde_json::from_str(&body).expect("it is JSON");
    assert_eq!(
        body,
        json!({ "vars": { "a": 1, "b": [2] }, "input": "question" })
    );

    let (head, body) = sent(json!({
        "method": "put", "input_vars": ["b", "missing"], "headers": { "Content-Type": "text/x", "X-A": "1" },
        "include_artifacts": true, "include_messages": true, "include_trace": true,
    }))
    .await;
    assert!(
        head.starts_with("put ") && head.contains("x-a: 1"),
        "{head}"
    );
    assert!(
        head.contains("content-type: text/x") && !head.contains("application/json"),
        "{head}"
    );
    let body: Value = serde_json::from_str(&body).expect("it is JSON");
    assert_eq!(body["vars"], json!({ "b": [2] }));
    assert_eq!(body["artifacts"][0]["content"], json!("AQID"));
    assert_eq!(
        body["messages"],
        json!([{ "role": "user", "content": "hello" }])
    );
    assert_eq!(body["trace"]["run_id"], json!("run-1"));

    let (_, body) = sent(json!({ "template": "{{.a}} {{.input}} {{.vars | json}}" })).await;
    assert_eq!(body, r#"1 question {"a":1,"b":[2]}"#);
}

#[tokio::test]
async fn p178_the_result() {
    let (url, _served) = server(ok("done")).await;
    let envelope = run(
        call(json!({ "url": url, "result_var": "r", "method": "patch" })),
        vars(json!({})),
    )
    .await;
    let result = var(&envelope.expect("it is sent"), "r");
    assert_eq!(
        (&result["ok"], &result["status_code"]),
        (&json!(true), &json!(201))
    );
    assert_eq!(
        (&result["body"], &result["headers"]["x-reply"]),
        (&json!("done"), &json!("yes"))
    );
    assert_eq!(
        (&result["url"], &result["method"]),
        (&json!(url.replace("s3cret", "***")), &json!("PATCH")),
        "credentials are not stored"
    );
    for status in ["404 Not Found", "500 Oops"] {
        let (url, _served) =
            server(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")).await;
        let error = run(
            call(json!({ "url": url, "result_var": "r" })),
            vars(json!({})),
        )
        .await;
        let error = error.expect_err("it is not a success");
        let expected = format!(
            "webhook call node `n`: the server answered with status {}",
            &status[..3]
        );
        assert_eq!(error, expected);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error = run(
        call(json!({ "url": format!("http://{address}/?token=s3cret") })),
        vars(json!({})),
    )
    .await;
    let error = error.expect_err("nobody is there");
    assert!(!error.contains("s3cret"), "no address in errors: {error}");
}

#[tokio::test]
async fn private_networks_are_refused_unless_allowed() {
    for url in [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]:80/",
        "http://0x7f000001/",
    ] {
        assert!(
            problem(json!({ "url": url })).contains("private network"),
            "{url}"
        );
    }
    // A name is checked when it is resolved.
    let node = WebhookCallNode::new(settings(json!({ "url": "http://localhost:1/" })))
        .expect("it is a name");
    let error = run(node, vars(json!({}))).await.expect_err("it is private");
    assert!(
        error.contains("`localhost` is in a private network"),
        "{error}"
    );
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let private = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let target = private.local_addr().expect("an address");
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let head = format!("HTTP/1.1 {status}\r\nLocation: http://{target}/admin\r\n");
        let (url, _served) = server(format!("{head}Content-Length: 0\r\n\r\n")).await;
        let error = run(call(json!({ "url": url })), vars(json!({}))).await;
        let expected = format!(
            "webhook call node `n`: the server answered with status {}, a redirect, which is not followed: set `url` to the last address",
            &status[..3]
        );
        assert_eq!(error.expect_err("it is a redirect"), expected);
    }
    let accepted = tokio::time::timeout(std::time::Duration::ZERO, private.accept()).await;
    assert!(accepted.is_err(), "nobody connected to the target");
}

#[tokio::test]
async fn credentials_are_neither_stored_nor_printed() {
    let response = "HTTP/1.1 200 OK\r\nSet-Cookie: id=s3cret\r\nContent-Length: 2\r\n\r\nok";
    let (url, _served) = server(response.into()).await;
    let url = url.replace("http://", "http://ann:s3cret@");
    let config =
        json!({ "url": url, "headers": { "Authorization": "Bearer s3cret" }, "result_var": "r" });
    let node = call(config);
    assert!(!format!("{node:?}").contains("s3cret"), "{node:?}");
    let envelope = run(node, vars(json!({}))).await.expect("it is sent");
    let stored = format!("{:?}", envelope.vars);
    assert!(
        stored.contains("?token=***") && !stored.contains("s3cret"),
        "{stored}"
    );
    assert_eq!(var(&envelope, "r")["body"], json!("ok"));
}
