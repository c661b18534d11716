//! Status codes and headers.

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderValue, Method, StatusCode};

use super::kit::{Answer, extension, file_names, get, path, request, send};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn check_security_headers(answer: &Answer) {
    assert_eq!(answer.header("content-security-policy"), POLICY);
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("x-frame-options"), "DENY");
}

#[tokio::test]
async fn every_file_of_the_folder_is_served_with_its_headers() {
    for name in file_names() {
        let answer = get(&path(&name)).await;
        assert_eq!(answer.status, StatusCode::OK, "{name}: add it to `ASSETS`");
        let content_type = match extension(&name) {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            other => panic!("{name}: no content type for `{other}`"),
        };
        assert_eq!(answer.header("content-type"), content_type, "{name}");
        assert_eq!(answer.header("cache-control"), "no-cache", "{name}");
        assert!(answer.header("etag").starts_with('"'), "{name}");
        assert!(!answer.text.is_empty(), "{name}");
        check_security_headers(&answer);
    }
}

#[tokio::test]
async fn unknown_addresses_have_the_security_headers_too() {
    for path in ["/missing.js", "/a/b", "/../Cargo.toml"] {
        let answer = get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        check_security_headers(&answer);
    }
}

#[tokio::test]
async fn a_file_can_only_be_read() {
    let post = request(Method::POST, "/main.js");
    let answer = send(petalflow_server::studio::router(), post).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    check_security_headers(&answer);

    let head = request(Method::HEAD, "/main.js");
    let answer = send(petalflow_server::studio::router(), head).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.text, "");
}

#[tokio::test]
async fn a_browser_with_the_same_copy_gets_304() {
    let etag = get("/studio.css").await.header("etag").to_string();
    let with_copy = async |value: String| {
        let mut get = request(Method::GET, "/studio.css");
        let value = HeaderValue::from_str(&value).expect("it is ASCII");
        get.headers_mut().insert(IF_NONE_MATCH, value);
        send(petalflow_server::studio::router(), get).await
    };
    for value in [
        etag.clone(),
        format!("W/{etag}"),
        format!("\"other\", {etag}"),
        "*".to_string(),
    ] {
        let answer = with_copy(value).await;
        assert_eq!(answer.status, StatusCode::NOT_MODIFIED);
        assert_eq!(answer.text, "");
        assert_eq!(answer.header("etag"), etag);
        check_security_headers(&answer);
    }
    assert_eq!(with_copy("\"other\"".into()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn different_files_have_different_tags() {
    let mut tags = Vec::new();
    for name in file_names() {
        tags.push(get(&path(&name)).await.header("etag").to_string());
    }
    let all = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), all);
}
