//! The forms of what goes into an HTTP request: methods, addresses and headers.

use serde_json::{Map, Value};

use crate::documents::diagnostic::{Code, Report};
use crate::source::{Pointer, names::shown};

/// Checks the settings of a node that calls a webhook.
pub(super) fn call(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let method = config.get("method").and_then(Value::as_str);
    // An empty method is the default.
    if let Some(method) = method.filter(|method| !method.trim().is_empty()) {
        method_is_token(method, at.name("method"), report);
    }
    url_has_scheme(config, at, report);
    let headers = config.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        header_has_form(name, value, at.name("headers").name(name), report);
    }
}

/// Checks the settings of a node that starts with a request.
pub(super) fn trigger(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let methods = config.get("methods").and_then(Value::as_array);
    if let Some(methods) = methods {
        methods_given(methods, at, report);
        for (index, method) in methods.iter().enumerate() {
            let at = at.name("methods").item(index);
            method_is_token(method.as_str().unwrap_or_default(), at, report);
        }
    }
    if let Some(Value::Object(auth)) = config.get("auth") {
        auth_header_is_token(auth, &at.name("auth"), report);
        auth_secret_given("token", auth, &at.name("auth"), report);
        auth_secret_given("secret", auth, &at.name("auth"), report);
    }
}

fn method_is_token(method: &str, at: Pointer, report: &mut Report) {
    if !is_token(method.trim()) {
        let message = format!("`{}` is not an HTTP method", shown(method));
        report.add(Code::WrongValue, at, message);
    }
}

fn methods_given(methods: &[Value], at: &Pointer, report: &mut Report) {
    if methods.is_empty() {
        let message = "`methods` is empty: no request would be accepted; leave it out for `POST`";
        report.add(Code::WrongValue, at.name("methods"), message);
    }
}

/// The loader, which parses the address, also finds wrong hosts and ports.
fn url_has_scheme(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let Some(Value::String(url)) = config.get("url") else {
        return;
    };
    let url = url.trim();
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let message = match scheme.map(str::to_ascii_lowercase).as_deref() {
        Some("http" | "https") => return,
        _ if url.is_empty() => {
            "`url` is empty; write the address, such as `https://example.com/hook`"
        }
        _ => "the address does not begin with `http://` or `https://`",
    };
    report.add(Code::WrongValue, at.name("url"), message);
}

fn header_has_form(name: &str, value: &Value, at: Pointer, report: &mut Report) {
    if !is_token(name) {
        report.add_at_name(Code::WrongValue, at, not_a_header(name));
    } else if !value.as_str().is_none_or(is_header_value) {
        let message = "the value of a header has printable ASCII characters only";
        report.add(Code::WrongValue, at, message);
    }
}

fn auth_header_is_token(auth: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    if let Some(header) = text(auth, "header").filter(|header| !is_token(header)) {
        report.add(Code::WrongValue, at.name("header"), not_a_header(header));
    }
}

fn auth_secret_given(name: &str, auth: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    if text(auth, name).is_some_and(|secret| secret.is_empty() || secret == "env:") {
        let message =
            format!("the {name} is empty; write `env:NAME` for the environment variable `NAME`");
        report.add(Code::WrongValue, at.name(name), message);
    }
}

fn text<'c>(config: &'c Map<String, Value>, name: &str) -> Option<&'c str> {
    config.get(name).and_then(Value::as_str).map(str::trim)
}

fn not_a_header(name: &str) -> String {
    format!(
        "`{}` is not the name of an HTTP header, which has letters, digits and marks such as `-`",
        shown(name)
    )
}

fn is_token(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_allowed)
}

fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}
