//! Credentials of each kind, and that they are not shown.

use petalflow_openapi::{Credential, OpenApi, OpenApiError};
use serde_json::{Value, json};

use crate::service::{Seen, Service, call, json_response};

const TOKEN: &str = "tok-4711-secret";

fn document(security: Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "components": { "securitySchemes": {
            "bearer": { "type": "http", "scheme": "Bearer" },
            "login": { "type": "http", "scheme": "basic" },
            "oauth": { "type": "oauth2", "flows": {} },
            "header": { "type": "apiKey", "in": "header", "name": "X-Key" },
            "query": { "type": "apiKey", "in": "query", "name": "key" },
            "cookie": { "type": "apiKey", "in": "cookie", "name": "sid" },
            "digest": { "type": "http", "scheme": "digest" },
        } },
        "security": security,
        "paths": { "/books": { "get": { "operationId": "list", "parameters": [
            { "name": "key", "in": "query", "required": true, "schema": { "type": "string" } },
            { "name": "X-Key", "in": "header", "schema": { "type": "string" } },
        ] } }, "/health": { "get": { "operationId": "health", "security": [] } } },
    })
}

/// Repeats all that it was sent, and answers to a second request with an error.
async fn parrot() -> Service {
    Service::start(async |seen: Seen, before| {
        let status = if before == 0 { 200 } else { 400 };
        json_response(
            status,
            &json!({ "target": seen.target, "headers": seen.headers }),
        )
    })
    .await
}

#[tokio::test]
async fn f44_6_credentials_are_sent_where_the_document_says_and_never_shown() {
    let header = |seen: &Seen, name: &str| seen.header(name).map(String::from);
    for (scheme, credential, is_sent) in [
        (
            "bearer",
            Credential::token(TOKEN),
            (|seen| seen.header("authorization") == Some("Bearer tok-4711-secret"))
                as fn(&Seen) -> bool,
        ),
        (
            "oauth",
            Credential::token_from(async || Ok(format!("{TOKEN}\n"))),
            |seen| seen.header("authorization") == Some("Bearer tok-4711-secret"),
        ),
        ("login", Credential::basic("ann", TOKEN), |seen| {
            seen.header("authorization") == Some("Basic YW5uOnRvay00NzExLXNlY3JldA==")
        }),
        ("header", Credential::token(TOKEN), |seen| {
            seen.header("x-key") == Some(TOKEN)
        }),
        ("query", Credential::token(TOKEN), |seen| {
            seen.target == "/books?key=tok-4711-secret"
        }),
        ("cookie", Credential::token(TOKEN), |seen| {
            seen.header("cookie") == Some("sid=tok-4711-secret")
        }),
    ] {
        let service = parrot().await;
        let api = OpenApi::from_value(document(json!([{ scheme: [] }]))).unwrap();
        let api = api.server(&service.url()).credential(scheme, credential);
        assert!(!format!("{api:?}").contains(TOKEN));
        let tools = api.tools().unwrap();
        let properties = &tools.get("list").unwrap().spec().parameters["properties"];
        assert_eq!(
            properties.get("key").is_none(),
            scheme == "query",
            "the model gives no credential"
        );
        assert_eq!(properties.get("X-Key").is_none(), scheme == "header");
        let arguments = if scheme == "query" {
            json!({})
        } else {
            json!({ "key": "of the model" })
        };
        let echoed = call(&tools, "list", arguments.clone()).await.unwrap();
        let error = call(&tools, "list", arguments).await.unwrap_err();
        assert!(
            is_sent(&service.seen()[0]),
            "{scheme}: {:?}",
            service.seen()
        );
        for shown in [echoed.to_string(), error.to_string(), format!("{error:?}")] {
            for secret in [TOKEN, "YW5uOnRvay00NzExLXNlY3JldA=="] {
                assert!(!shown.contains(secret), "{scheme}: {shown}");
            }
            assert!(shown.contains("***"), "{shown}");
        }
        call(&tools, "health", json!({})).await.unwrap_err();
        let health = &service.seen()[2];
        assert_eq!(
            (
                header(health, "authorization"),
                header(health, "x-key"),
                header(health, "cookie"),
                &*health.target
            ),
            (None, None, None, "/health")
        );
    }
}

#[tokio::test]
async fn f44_6_the_first_requirement_with_credentials_is_used() {
    let service = Service::echo().await;
    let security = json!([{ "bearer": [], "cookie": [] }, { "header": [] }, {}]);
    let api = OpenApi::from_value(document(security))
        .unwrap()
        .server(&service.url());
    let arguments = json!({ "key": "k" });
    // Nothing is required.
    call(&api.tools().unwrap(), "list", arguments.clone())
        .await
        .unwrap();
    let api = api
        .credential("header", Credential::token("header-key"))
        .credential("bearer", Credential::token(TOKEN));
    call(&api.tools().unwrap(), "list", arguments.clone())
        .await
        .unwrap();
    let api = api.credential("cookie", Credential::token("cookie-key"));
    call(&api.tools().unwrap(), "list", arguments)
        .await
        .unwrap();
    let sent: Vec<Vec<&str>> = service
        .seen()
        .iter()
        .map(|seen| {
            let names = ["authorization", "x-key", "cookie"];
            names
                .into_iter()
                .filter(|name| seen.header(name).is_some())
                .collect()
        })
        .collect();
    assert_eq!(
        sent,
        [vec![], vec!["x-key"], vec!["authorization", "cookie"]]
    );
}

#[tokio::test]
async fn f44_6_a_credential_that_cannot_be_sent_is_an_error_without_it() {
    let service = Service::echo().await;
    let api = OpenApi::from_value(document(json!([{ "header": [] }])))
        .unwrap()
        .server(&service.url());
    let tools = api
        .clone()
        .credential("header", Credential::token("line\nbreak-secret"))
        .tools()
        .unwrap();
    let error = call(&tools, "list", json!({ "key": "k" }))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the credential for the header `X-Key` has a character that headers do not have"
    );
    let fails = Credential::token_from(async || Err("the vault is closed".into()));
    let tools = api.clone().credential("header", fails).tools().unwrap();
    let error = call(&tools, "list", json!({ "key": "k" }))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "there is no token for `header`: the vault is closed");
    let error = api
        .without_credentials()
        .secret_header("x-key", "line\nbreak-secret")
        .tools()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `x-key` cannot be sent: its name or its value has characters that headers do not have"
    );
    assert!(service.seen().is_empty());
}

#[test]
fn f44_6_wrong_credentials_are_errors_of_the_program() {
    let api = OpenApi::from_value(document(
        json!([{ "bearer": [], "cookie": [] }, { "header": [] }]),
    ))
    .unwrap()
    .server("https://example.com");
    let error = api.tools().unwrap_err();
    assert!(matches!(error, OpenApiError::Operations(_)));
    assert_eq!(
        error.to_string(),
        "operations of the document cannot be tools, and `skip_unsupported` leaves such operations out: `GET /books` (`list`): it needs a credential for `bearer` and `cookie`, or `header`: give one with `credential`"
    );
    assert!(api.clone().without_credentials().tools().is_ok());
    for (scheme, credential, problem) in [
        (
            "beare",
            Credential::token("t"),
            "the credential for `beare` does not fit the document: it has `bearer`, ",
        ),
        (
            "login",
            Credential::token("t"),
            "it needs a user and a password: give `Credential::basic`",
        ),
        (
            "header",
            Credential::basic("a", "b"),
            "it needs a token: give `Credential::token`",
        ),
        (
            "digest",
            Credential::token("t"),
            "the scheme `digest` of HTTP is not supported",
        ),
    ] {
        let error = api
            .clone()
            .credential(scheme, credential)
            .tools()
            .unwrap_err();
        assert!(matches!(error, OpenApiError::Credential { .. }));
        assert!(error.to_string().contains(problem), "{error}");
    }
}
