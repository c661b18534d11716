//! Requests and answers of calls.

use petalflow::tool::{ToolError, ToolSet};
use petalflow_llm::message::Media;
use serde_json::{Value, json};

use crate::service::{Service, api, call, json_response, response};

/// The target and the body of the request of a call.
async fn sent(paths: Value, tool: &str, arguments: Value) -> (String, String) {
    let service = Service::echo().await;
    let tools = api(&service, paths).tools().unwrap();
    call(&tools, tool, arguments).await.unwrap();
    let seen = service.only();
    (seen.target, seen.body)
}

#[tokio::test]
async fn f44_6_parameters_are_where_the_document_says() {
    let paths = json!({ "/shelves/{shelf}/books/{id}": {
        "parameters": [
            { "name": "shelf", "in": "path", "required": true, "schema": { "type": "string" } },
            { "name": "id", "in": "query", "schema": { "type": "string" } },
            { "name": "page", "in": "query", "schema": { "type": "string" } },
        ],
        "get": { "operationId": "getBook", "parameters": [
            { "name": "id", "in": "path", "required": true, "schema": { "type": "integer" }, "description": "The number." },
            { "name": "page", "in": "query", "required": true, "schema": { "type": "integer" } },
            { "name": "filter[tags]", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } },
            { "name": "where", "in": "query", "style": "deepObject", "explode": true, "schema": { "type": "object" } },
            { "name": "json", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
            { "name": "X-Trace", "in": "header", "schema": { "type": "string" } },
            { "name": "Host", "in": "header", "schema": { "type": "string" } },
            { "name": "Authorization", "in": "header", "schema": { "type": "string" } },
            { "name": "theme", "in": "cookie", "schema": { "type": "string" } },
        ] },
    } });
    let service = Service::echo().await;
    let tools = api(&service, paths).tools().unwrap();
    let spec = tools.get("getBook").unwrap().spec();
    let properties = spec.parameters["properties"].as_object().unwrap();
    let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "X-Trace",
            "filter_tags",
            "id",
            "id_path",
            "json",
            "page",
            "shelf",
            "theme",
            "where"
        ]
    );
    assert_eq!(
        properties["id_path"],
        json!({ "type": "integer", "description": "The number." })
    );
    assert_eq!(
        spec.parameters["required"],
        json!(["shelf", "id_path", "page"])
    );
    let arguments = json!({
        "shelf": "a b/c", "id_path": 7, "page": 2, "id": "x&y", "filter_tags": ["one", "two"],
        "where": { "price": 3 }, "json": { "a": [1] }, "X-Trace": "t-1", "theme": "dark; admin=1",
    });
    call(&tools, "getBook", arguments).await.unwrap();
    let seen = service.only();
    assert_eq!(
        seen.target,
        "/shelves/a%20b%2Fc/books/7?id=x%26y&page=2&filter%5Btags%5D=one&filter%5Btags%5D=two&where%5Bprice%5D=3&json=%7B%22a%22%3A%5B1%5D%7D"
    );
    assert_eq!(seen.header("x-trace"), Some("t-1"));
    assert_eq!(seen.header("cookie"), Some("theme=dark%3B%20admin%3D1"));
    assert_eq!(
        seen.header("host"),
        Some(service.address.to_string().as_str())
    );
    assert_eq!(seen.header("authorization"), None);
}

#[tokio::test]
async fn f44_6_no_argument_leaves_the_path_or_the_server() {
    let service = Service::echo().await;
    let paths = json!({ "/users/{id}/books": { "get": { "operationId": "list", "parameters": [
        { "name": "id", "in": "path", "required": true, "schema": {} },
        { "name": "X-Note", "in": "header", "schema": { "type": "string" } },
    ] } } });
    let tools = api(&service, paths)
        .server(&format!("{}/v1/", service.url()))
        .tools()
        .unwrap();
    for id in [
        json!(".."),
        json!("."),
        json!(""),
        json!("../../admin"),
        json!("..\\admin"),
        json!("a/../../b"),
        json!(["..", "x"]),
        json!([".."]),
        json!([]),
        json!({}),
        json!("x\r\nHost: evil.example"),
    ] {
        let error = call(&tools, "list", json!({ "id": id })).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{id}: {error}");
    }
    let header = json!({ "id": 1, "X-Note": "a\r\nHost: evil.example" });
    let error = call(&tools, "list", header).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`X-Note` has a character that headers do not have")
    );
    assert!(service.seen().is_empty(), "nothing was sent");
    for (id, target) in [
        ("@evil.example", "/v1/users/%40evil.example/books"),
        ("//evil.example", "/v1/users/%2F%2Fevil.example/books"),
        ("%2e%2e", "/v1/users/%252e%252e/books"),
        ("x?admin=1#y", "/v1/users/x%3Fadmin%3D1%23y/books"),
    ] {
        let seen = call(&tools, "list", json!({ "id": id })).await.unwrap();
        assert_eq!(seen["target"], target);
    }
}

#[tokio::test]
async fn f44_6_bodies_are_json_forms_and_texts() {
    let post = |content: Value| json!({ "/books": { "post": { "operationId": "add", "requestBody": { "required": true, "content": content } } } });
    let schema = json!({ "schema": { "type": "object", "properties": {
        "title": { "type": "string" }, "id": { "type": "integer", "readOnly": true },
    }, "required": ["title", "id"], "additionalProperties": false } });
    let body = json!({ "body": { "title": "a&b" } });
    let both = json!({ "application/x-www-form-urlencoded": schema, "application/json": schema });
    let (_, sent_body) = sent(post(both), "add", body.clone()).await;
    assert_eq!(sent_body, r#"{"title":"a&b"}"#);
    let form = json!({ "application/x-www-form-urlencoded": {} });
    let fields = json!({ "body": { "price": { "min": 1 }, "tags": ["x", "y"], "title": "a&b c" } });
    let (_, sent_body) = sent(post(form), "add", fields).await;
    assert_eq!(sent_body, "price%5Bmin%5D=1&tags=x&tags=y&title=a%26b%20c");
    let text = json!({ "body": "plain words" });
    let (_, sent_body) = sent(post(json!({ "text/plain": {} })), "add", text).await;
    assert_eq!(sent_body, "plain words");

    let service = Service::echo().await;
    let tools = api(
        &service,
        post(json!({ "application/merge-patch+json": schema })),
    )
    .tools()
    .unwrap();
    for wrong in [
        json!({}),
        json!({ "body": {} }),
        json!({ "body": { "title": 7 } }),
        json!({ "body": { "title": "a", "more": 1 } }),
        json!({ "body": { "title": "a" }, "admin": true }),
    ] {
        let error = call(&tools, "add", wrong).await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the arguments of tool `add` do not fit: "),
            "{error}"
        );
    }
    assert!(service.seen().is_empty());
    call(&tools, "add", body).await.unwrap();
    assert_eq!(
        service.only().header("content-type"),
        Some("application/merge-patch+json")
    );
}

async fn answered(
    status: u16,
    content_type: &'static str,
    body: &'static [u8],
) -> Result<Value, ToolError> {
    let service = Service::start(move |_, _| async move {
        response(status, &[("content-type", content_type)], body)
    })
    .await;
    let tools = api(
        &service,
        json!({ "/books": { "get": { "operationId": "list" } } }),
    )
    .tools()
    .unwrap();
    call(&tools, "list", json!({})).await
}

#[tokio::test]
async fn f44_6_answers_are_values_texts_pictures_and_errors() {
    let ok = async |kind, body| answered(200, kind, body).await.unwrap();
    assert_eq!(
        ok("application/json; charset=utf-8", b"{\"a\":1}").await,
        json!({ "a": 1 })
    );
    assert_eq!(ok("application/hal+json", b"[1]").await, json!([1]));
    assert_eq!(
        ok("application/json", b"null").await,
        json!({ "status": 200, "body": null })
    );
    assert_eq!(ok("application/json", b"<html>").await, "<html>");
    assert_eq!(ok("text/csv", b"1,2").await, "1,2");
    assert_eq!(
        answered(204, "", b"").await.unwrap(),
        json!({ "status": 204 })
    );
    let mut picture = ok("image/png", &[0x89, 0x50]).await;
    assert_eq!(
        Media::take_from(&mut picture, "attached")[0].media_type,
        "image/png"
    );
    let error = answered(200, "application/zip", &[0x50, 0xff])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`GET /books` was answered with 2 bytes of `application/zip`, which is neither text nor a picture"
    );
    let error = answered(404, "application/json", b"{\"detail\":\"no such shelf\"}")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`GET /books` was answered with status 404 Not Found: {\"detail\":\"no such shelf\"}"
    );
}

#[tokio::test]
async fn f44_6_redirects_stay_on_the_server() {
    let other = Service::echo().await;
    let to_other = other.url();
    let service = Service::start(move |seen, _| {
        let location = match &*seen.target {
            "/away" => format!("{to_other}/stolen?token=abc"),
            "/loop" => "/loop".into(),
            "/near" => "/books".into(),
            _ => return std::future::ready(json_response(200, &seen.echo())),
        };
        std::future::ready(response(307, &[("location", &location)], ""))
    })
    .await;
    let get = |id: &str| json!({ "get": { "operationId": id } });
    let paths = json!({ "/away": get("away"), "/loop": get("loop"), "/near": get("near") });
    let tools: ToolSet = api(&service, paths)
        .secret_header("x-key", "very-secret")
        .tools()
        .unwrap();
    assert_eq!(
        call(&tools, "near", json!({})).await.unwrap()["target"],
        "/books"
    );
    let seen = service.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].header("x-key"), Some("very-secret"));
    assert_eq!(seen[1].header("referer"), None, "it would have the query");
    let error = call(&tools, "away", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!(
            "`GET /away` was answered with status 307 Temporary Redirect, a redirect to `{}`, which is not followed: only a few redirects within one server are",
            other.url()
        )
    );
    call(&tools, "loop", json!({})).await.unwrap_err();
    assert!(other.seen().is_empty());
    assert!(service.seen().len() < 12);
}
