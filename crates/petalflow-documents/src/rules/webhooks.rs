//! The forms of what goes into an HTTP request: methods, addresses and headers.

use serde_json::{Map, Value};

use crate::diagnostic::{Code, Report};
use petalflow_source::{Pointer, names::shown};

/// Checks the settings of a node that calls a webhook.
pub(super) fn call(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let text = config.get("method").and_then(Value::as_str);
    // An empty method is the default.
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        method(text, at.name("method"), report);
    }
    if let Some(Value::String(url)) = config.get("url")
        && let Some(problem) = url_problem(url.trim())
    {
        report.add(Code::WrongValue, at.name("url"), problem);
    }
    let headers = config.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        let at = at.name("headers").name(name);
        if !is_token(name) {
            let message = format!(
                "`{}` is not the name of an HTTP header, which has letters, digits and marks such as `-`",
                shown(name)
            );
            report.add_at_name(Code::WrongValue, at, message);
        } else if !value.as_str().is_none_or(is_header_value) {
            let message = "the value of a header has printable ASCII characters only";
            report.add(Code::WrongValue, at, message);
        }
    }
}

/// Checks the settings of a node that starts with a request.
pub(super) fn trigger(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let methods = config.get("methods").and_then(Value::as_array);
    if methods.is_some_and(Vec::is_empty) {
        let message = "`methods` is empty: no request would be accepted; leave it out for `POST`";
        report.add(Code::WrongValue, at.name("methods"), message);
    }
    let texts = methods.into_iter().flatten().map(Value::as_str);
    for (index, text) in texts.enumerate() {
        method(
            text.unwrap_or_default(),
            at.name("methods").item(index),
            report,
        );
    }
    let Some(Value::Object(auth)) = config.get("auth") else {
        return;
    };
    let at = at.name("auth");
    let text = |name: &str| auth.get(name).and_then(Value::as_str).map(str::trim);
    if let Some(header) = text("header").filter(|header| !is_token(header)) {
        let message = format!(
            "`{}` is not the name of an HTTP header, which has letters, digits and marks such as `-`",
            shown(header)
        );
        report.add(Code::WrongValue, at.name("header"), message);
    }
    if text("token").is_some_and(|token| token.is_empty() || token == "env:") {
        let message = "the token is empty; write `env:NAME` for the environment variable `NAME`";
        report.add(Code::WrongValue, at.name("token"), message);
    }
}

/// What is wrong with an address. The loader, which parses it, also finds wrong hosts and ports.
fn url_problem(url: &str) -> Option<String> {
    if url.is_empty() {
        return Some(
            "`url` is empty; write the address, such as `https://example.com/hook`".into(),
        );
    }
    let scheme = url
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https") => None,
        _ => Some("the address does not begin with `http://` or `https://`".into()),
    }
}

/// Checks that a method is a token of HTTP.
fn method(text: &str, at: Pointer, report: &mut Report) {
    if !is_token(text.trim()) {
        let message = format!("`{}` is not an HTTP method", shown(text));
        report.add(Code::WrongValue, at, message);
    }
}

fn is_token(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_allowed)
}

fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}
