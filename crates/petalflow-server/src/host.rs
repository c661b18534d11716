//! The hosts at which a server is reached: a page of another host cannot use it through the browser of a person.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::refusal::Refusal;

/// Refuses a request that names another host, or that a page of another host sends. Without hosts, all are accepted.
pub(crate) async fn check(hosts: &[String], request: Request, next: Next) -> Response {
    let problem = [HOST, ORIGIN].iter().find_map(|name| {
        let value = request.headers().get(name)?;
        let is_known = host(value).is_some_and(|host| hosts.contains(&host));
        (!is_known).then(|| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            format!("the server does not answer to the `{name}` `{value}`")
        })
    });
    match problem.filter(|_| !hosts.is_empty()) {
        Some(problem) => Refusal::new(StatusCode::FORBIDDEN, problem).into_response(),
        None => next.run(request).await,
    }
}

/// The host in lower case, without a scheme and a port.
fn host(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let uri: Uri = text.parse().ok()?;
    Some(uri.host()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_with_and_without_schemes_and_ports() {
        for (text, expected) in [
            ("localhost", Some("localhost")),
            ("LocalHost:3000", Some("localhost")),
            ("http://localhost:3000", Some("localhost")),
            ("[::1]:3000", Some("[::1]")),
            ("https://shop.example", Some("shop.example")),
            ("null", Some("null")),
            ("", None),
            ("a b", None),
        ] {
            let value = HeaderValue::from_static(text);
            assert_eq!(host(&value).as_deref(), expected, "{text}");
        }
    }
}
