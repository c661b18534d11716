//! The hosts at which a server is reached: a page of another host cannot use it through the browser of a person.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::SetupError;
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
