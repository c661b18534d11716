//! The hosts at which a server is reached: a page of another host cannot use it through the browser of a person.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::SetupError;
use crate::refusal::Refusal;
use crate::request;

/// Refuses a request with two `Host` headers (RFC 9112, section 3.2), and one that names another host, or that a page of another
/// host sends. Without hosts, all hosts are accepted.
pub(crate) async fn check(hosts: &[String], request: Request, next: Next) -> Response {
    match refusal(hosts, &request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// A server before this one may go by any of the names, so all of them count.
fn refusal(hosts: &[String], request: &Request) -> Option<Refusal> {
    if let Err(refusal) = request::one_host(request.headers()) {
        return Some(refusal);
    }
    if hosts.is_empty() {
        return None;
    }
    let is_known = |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    // The target of a request has it in the absolute form, and in HTTP/2.
    let target = request.uri().host().filter(|host| !is_known(host));
    let target = target.map(|host| ("target", host.to_owned()));
    let headers = [HOST, ORIGIN].into_iter().flat_map(|name| {
        let values = request.headers().get_all(&name).iter();
        values.map(move |value| (name.clone(), value))
    });
    let mut headers = headers.filter(|(_, value)| !host(value).is_some_and(|it| is_known(&it)));
    let header = headers.next().map(|(name, value)| {
        let name = if name == HOST { "host" } else { "origin" };
        (name, String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let (name, value) = target.or(header)?;
    let text = format!("the server does not answer to the `{name}` `{value}`");
    Some(Refusal::forbidden(text))
}

/// The hosts that no request has, because they are more than a name.
pub(crate) fn problems(hosts: &[String]) -> Vec<SetupError> {
    let is_host = |text: &String| {
        let value = HeaderValue::from_str(text).ok();
        value.as_ref().and_then(host).as_ref() == Some(text)
    };
    let wrong = hosts.iter().filter(|host| !is_host(host));
    wrong
        .map(|host| SetupError::Host { host: host.clone() })
        .collect()
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
    fn a_host_is_a_name_alone() {
        let hosts = [
            "localhost",
            "[::1]",
            "127.0.0.1",
            "localhost:3000",
            "https://shop.example",
            "",
        ];
        let wrong: Vec<String> = problems(&hosts.map(String::from))
            .iter()
            .map(ToString::to_string)
            .collect();
        let fix = "write its name alone, such as `localhost`, without a scheme and a port";
        let expected = ["localhost:3000", "https://shop.example", ""];
        let expected = expected.map(|host| format!("`{host}` is no host: {fix}"));
        assert_eq!(wrong, expected);
    }

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
