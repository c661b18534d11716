//! `WebhookTriggerNode`, rows P179 to P181.

use petalflow_documents::Envelope;
use petalflow_documents::kinds::{
    Refusal, TriggerAuth, WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode,
};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

fn trigger(config: Value) -> WebhookTriggerNode {
    WebhookTriggerNode::new(settings(config)).expect("they are settings")
}

fn request() -> WebhookRequest {
    let mut request = WebhookRequest {
        method: "post".into(),
        path: "/hooks/a".into(),
        body: br#"{ "event": "opened" }"#.to_vec(),
        remote_addr: "192.0.2.1:7".into(),
        workflow_id: "w".into(),
        trigger_id: "n".into(),
        ..WebhookRequest::default()
    };
    request.headers.insert(
        "Content-Type".into(),
        "application/json; charset=utf-8".into(),
    );
    request.headers.insert("X-Token".into(), "secret".into());
    request.query.insert("q".into(), "1".into());
    request
}

fn with_token(token: &str) -> Value {
    json!({ "auth": { "type": "header_token", "header": "x-token", "token": token } })
}

#[test]
fn p179_settings() {
    let config: WebhookTriggerConfig = settings(json!({}));
    assert_eq!(
        (config.methods, config.auth),
        (vec!["POST".to_owned()], TriggerAuth::None)
    );
    let auth: TriggerAuth = settings(json!({ "type": "header_token", "token": "t" }));
    let TriggerAuth::HeaderToken { header, .. } = &auth else {
        panic!("it has a header")
    };
    assert_eq!(header, "X-PetalFlow-Webhook-Token");
    assert!(
        !format!("{auth:?}").contains("\"t\""),
        "the token is secret"
    );
    let problem = |config: Value| {
        WebhookTriggerNode::new(settings(config))
            .expect_err("wrong")
            .field
    };
    assert_eq!(problem(json!({ "methods": [] })), "methods");
    assert_eq!(problem(json!({ "methods": ["GET", "a b"] })), "methods[1]");
    assert_eq!(problem(json!({ "methods": [" "] })), "methods[0]");
    assert_eq!(problem(with_token(" ")), "auth.token");
    let header = json!({ "auth": { "type": "header_token", "token": "t", "header": "X Y" } });
    assert_eq!(problem(header), "auth.header");
    assert_eq!(problem(json!({ "body_var": "" })), "body_var");
    assert!(
        settings_error::<WebhookTriggerConfig>(json!({ "auth": { "type": "header_token" } }))
            .contains("token")
    );
    assert!(
        settings_error::<WebhookTriggerConfig>(json!({ "auth": { "type": "magic" } }))
            .contains("magic")
    );
}

#[test]
fn p179_methods_and_sizes_are_checked() {
    let node = trigger(json!({ "methods": ["put", "POST"], "max_body_bytes": 21 }));
    assert!(node.admit(&request()).is_ok());
    let get = WebhookRequest {
        method: "GET".into(),
        ..request()
    };
    let refusal = node.admit(&get).expect_err("not allowed");
    assert_eq!(
        refusal.to_string(),
        "method GET is not allowed: use PUT, POST"
    );
    assert_eq!(refusal.status(), 405);
    let large = WebhookRequest {
        body: vec![b' '; 22],
        ..request()
    };
    let refusal = node.admit(&large).expect_err("too large");
    assert_eq!(
        (refusal.clone(), refusal.status()),
        (Refusal::TooLarge { limit: 21 }, 413)
    );
    let broken = WebhookRequest {
        body: b"{".to_vec(),
        ..request()
    };
    assert_eq!(node.admit(&broken).expect_err("no JSON").status(), 400);
}

#[tokio::test]
async fn p180_the_request_becomes_variables() {
    let node = trigger(with_token("secret"));
    let input = node.admit(&request()).expect("it is allowed");
    let envelope = run(node.clone(), input).await.expect("it runs");
    assert_eq!(var(&envelope, "webhook_body"), json!({ "event": "opened" }));
    assert_eq!(
        var(&envelope, "webhook_headers"),
        json!({ "content-type": "application/json; charset=utf-8" }),
        "the token is not there"
    );
    assert_eq!(var(&envelope, "webhook_query"), json!({ "q": "1" }));
    let meta = var(&envelope, "webhook_meta");
    assert_eq!(meta["method"], json!("POST"));
    assert_eq!(
        [&meta["path"], &meta["workflow_id"]],
        [&json!("/hooks/a"), &json!("w")]
    );
    assert!(
        meta["received_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
    assert_eq!(
        var(&envelope, "webhook_request")["body"],
        json!({ "event": "opened" })
    );

    let named = trigger(
        json!({ "body_var": "b", "headers_var": "h", "query_var": "q", "request_var": "r", "metadata_var": "m" }),
    );
    let partial = json!({ "body": "text", "method": "POST", "other": 1 });
    let envelope = run(named.clone(), vars(json!({ "__webhook_request": partial })))
        .await
        .expect("it runs");
    assert_eq!(
        (var(&envelope, "b"), envelope.get_var("h")),
        (json!("text"), None)
    );
    assert_eq!(var(&envelope, "m"), json!({ "method": "POST" }));
    let error = run(named.clone(), Envelope::new())
        .await
        .expect_err("it is missing");
    assert!(
        error.starts_with("webhook trigger node `n`: there is no variable `__webhook_request`"),
        "{error}"
    );
    let error = run(named, vars(json!({ "__webhook_request": 1 })))
        .await
        .expect_err("no object");
    assert!(error.contains("is not an object"), "{error}");
    let text = WebhookRequest {
        headers: [("content-type".to_owned(), "text/plain".to_owned())].into(),
        body: b"hi".to_vec(),
        ..request()
    };
    let envelope = trigger(json!({})).admit(&text).expect("it is allowed");
    assert_eq!(
        envelope.get_var_nested("__webhook_request.body"),
        Some(&json!("hi"))
    );
}

#[test]
fn a_server_can_check_before_it_reads_the_body() {
    let node = trigger(with_token("secret"));
    let head = WebhookRequest {
        body: vec![],
        ..request()
    };
    assert!(node.authorize(&head).is_ok());
    let none = WebhookRequest {
        headers: [].into(),
        ..head.clone()
    };
    assert_eq!(node.authorize(&none), Err(Refusal::Unauthorized));
    let get = WebhookRequest {
        method: "GET".into(),
        ..head
    };
    assert_eq!(node.authorize(&get).map_err(|it| it.status()), Err(405));
}

#[test]
fn f42_credentials_in_headers_and_in_the_query_are_not_stored() {
    let mut request = request();
    for name in [
        "Authorization",
        "Proxy-Authorization",
        "COOKIE",
        "X-Api-Key",
        "X-Shop-Pin",
    ] {
        request.headers.insert(name.into(), "s3cret".into());
    }
    let referer = "https://shop.example/orders?page=2&access_token=s3cret";
    request.headers.insert("Referer".into(), referer.into());
    request
        .headers
        .insert("X-Forwarded-User".into(), "Bearer s3cret".into());
    for name in ["token", "api_key", "clientSecret", "code"] {
        request.query.insert(name.into(), "s3cret".into());
    }
    request.query.insert("visitor_token".into(), "v7".into());
    let node = trigger(json!({
        "credentials": ["x-shop-*", "code"],
        "no_credentials": ["visitor_token"],
    }));
    let envelope = node.admit(&request).expect("it is allowed");
    let stored = envelope.get_var_nested("__webhook_request").expect("it");
    assert!(!format!("{:?}", envelope.vars).contains("s3cret"));
    assert_eq!(stored["query"], json!({ "q": "1", "visitor_token": "v7" }));
    assert_eq!(
        stored["headers"],
        json!({
            "content-type": "application/json; charset=utf-8",
            "referer": "https://shop.example/orders?page=2",
        })
    );
    let problem = |config: Value| {
        WebhookTriggerNode::new(settings(config))
            .expect_err("wrong")
            .field
    };
    assert_eq!(
        problem(json!({ "credentials": ["a", " "] })),
        "credentials[1]"
    );
    assert_eq!(
        problem(json!({ "no_credentials": [""] })),
        "no_credentials[0]"
    );
}

#[test]
fn p181_tokens() {
    let node = trigger(with_token("secret"));
    assert!(node.admit(&request()).is_ok());
    let with = |token: Option<&str>| {
        let mut request = request();
        request.headers.remove("X-Token");
        if let Some(token) = token {
            request.headers.insert("x-TOKEN".into(), token.into());
        }
        request
    };
    assert!(node.admit(&with(Some("secret"))).is_ok());
    for wrong in [
        None,
        Some(""),
        Some("secre"),
        Some("secrets"),
        Some("Secret"),
    ] {
        let refusal = node.admit(&with(wrong)).expect_err("it is wrong");
        assert_eq!(
            (refusal.clone(), refusal.status()),
            (Refusal::Unauthorized, 401),
            "{wrong:?}"
        );
        assert!(!refusal.to_string().contains("secret"));
    }
    // A variable that every environment has.
    let path = std::env::var("PATH").expect("it is set");
    let node = trigger(with_token("env:PATH"));
    assert!(node.admit(&with(Some(&path))).is_ok());
    let refusal = node
        .admit(&with(Some("env:PATH")))
        .expect_err("it is wrong");
    assert_eq!(refusal, Refusal::Unauthorized);
    let node = trigger(with_token("env:PETALFLOW_NO_SUCH_VARIABLE"));
    let refusal = node.admit(&with(Some(""))).expect_err("it has no token");
    assert_eq!(refusal.status(), 500);
}
