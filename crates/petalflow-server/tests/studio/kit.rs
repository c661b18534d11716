//! Requests to the studio.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
    headers: axum::http::HeaderMap,
}

impl Answer {
    /// The value of a header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("it is ASCII"))
    }
}

pub(crate) fn request(method: Method, path: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    request.body(Body::empty()).expect("it is a valid request")
}

pub(crate) async fn send(router: Router, request: Request<Body>) -> Answer {
    let response: Response = router.oneshot(request).await.expect("it cannot fail");
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("it is in memory").to_bytes();
    Answer {
        status: parts.status,
        text: String::from_utf8(bytes.to_vec()).expect("all assets are texts"),
        headers: parts.headers,
    }
}

pub(crate) async fn get(path: &str) -> Answer {
    send(
        petalflow_server::studio::router(),
        request(Method::GET, path),
    )
    .await
}

/// The names of the files in the folder `assets`.
pub(crate) fn file_names() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/studio/assets");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let names = entries.map(|entry| entry.expect("it is readable").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("the name is ASCII"))
        .collect();
    names.sort();
    names
}

/// The path of a file.
pub(crate) fn path(name: &str) -> String {
    match name {
        "index.html" => "/".to_string(),
        name => format!("/{name}"),
    }
}

/// What follows the last dot of a file's name.
pub(crate) fn extension(name: &str) -> &str {
    name.rsplit_once('.').expect("it has one").1
}
