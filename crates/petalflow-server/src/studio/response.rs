//! The responses: their headers, and when a browser's copy is still good.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH,
    LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::asset::Asset;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every response, also of those for unknown addresses.
const SECURITY_HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
];

/// The response with an asset, or 304 if the browser has it.
pub(crate) fn serve(asset: &'static Asset, etag: &str, request: &HeaderMap) -> Response {
    let caching = [
        (ETAG, etag),
        // The browser asks each time whether its copy is still good, so that a new version of the program has its own page.
        (CACHE_CONTROL, "no-cache"),
    ];
    if has_copy(request, etag) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let content_type = [(CONTENT_TYPE, asset.content_type)];
    (caching, content_type, Body::from(asset.bytes)).into_response()
}

/// Whether `If-None-Match` has the tag.
fn has_copy(request: &HeaderMap, etag: &str) -> bool {
    let values = request.get_all(IF_NONE_MATCH).iter();
    let tags = values.filter_map(|value| value.to_str().ok());
    let mut tags = tags.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

/// Redirects from an address without a slash at the end to the page below it.
///
/// Not to the same address with a slash, for which [`Router::nest`](axum::Router::nest) has no route.
pub(crate) fn redirect_to_page(path: &str) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    let location = [(LOCATION, format!("./{name}/index.html"))];
    (StatusCode::TEMPORARY_REDIRECT, location).into_response()
}

/// The response for an unknown address.
pub(crate) async fn not_found() -> Response {
    let content_type = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    let text = "The studio has no such file. Open the address of the studio itself.\n";
    (StatusCode::NOT_FOUND, content_type, text).into_response()
}

pub(crate) async fn add_security_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
