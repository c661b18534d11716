//! The request of a call.

use petalflow::tool::{ToolError, schema};
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use serde_json::Value;

use super::address;
use super::call::Call;
use super::parameter::{Location, Parameter};
use super::security::Part;
use super::style;

/// The request for arguments, which are checked. `credentials` are those of the call, `given` the headers of the program, and
/// `limit` the most bytes of the body.
pub(super) fn request(
    call: &Call,
    arguments: Value,
    credentials: Vec<Part>,
    given: &HeaderMap,
    limit: usize,
) -> Result<Request, ToolError> {
    let name = &call.spec.name;
    let wrong = |problem: String| {
        ToolError::Arguments(format!(
            "the arguments of tool `{name}` do not fit: {problem}; call it again with arguments that fit its schema"
        ))
    };
    let arguments = schema::check_arguments(&call.spec.parameters, arguments)
        .map_err(|mistakes| wrong(mistakes.to_string()))?;
    let value = |parameter: &Parameter| arguments.get(&parameter.argument);
    let of = |location: Location| {
        let all = call.parameters.iter();
        all.filter(move |it| it.location == location)
            .filter_map(|it| Some((it, value(it)?)))
    };

    let mut in_path = Vec::new();
    for (parameter, value) in of(Location::Path) {
        if !values(value).all(|it| address::is_safe(&it)) {
            return Err(wrong(format!(
                "`{}` is a part of a path, which cannot be empty and cannot have `.` or `..` between slashes",
                parameter.argument
            )));
        }
        let written = style::path(&parameter.name, parameter.form, &plain(parameter, value));
        in_path.push((parameter.name.as_str(), written));
    }
    let in_query = of(Location::Query).flat_map(|(parameter, value)| {
        style::pairs(&parameter.name, parameter.form, &plain(parameter, value))
    });
    let mut query: Vec<String> = in_query.collect();
    let in_cookies = of(Location::Cookie).flat_map(|(parameter, value)| {
        style::pairs(&parameter.name, parameter.form, &plain(parameter, value))
    });
    let mut cookies: Vec<String> = in_cookies.collect();
    let mut headers = given.clone();
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/*;q=0.9, */*;q=0.5"),
    );
    for (parameter, value) in of(Location::Header) {
        let text = style::header(parameter.form, &plain(parameter, value));
        let value = header(&parameter.name, &text, false);
        let (name, value) = value.ok_or_else(|| {
            wrong(format!(
                "`{}` has a character that headers do not have",
                parameter.argument
            ))
        })?;
        headers.insert(name, value);
    }
    for credential in credentials {
        match credential {
            Part::Header { name, value } => {
                let value = header(&name, &value, true);
                let (name, value) = value.ok_or_else(|| {
                    ToolError::failed(format!(
                        "the credential for the header `{name}` has a character that headers do not have"
                    ))
                })?;
                headers.insert(name, value);
            }
            Part::Query { name, value } => query.push(address::pair(&name, &value)),
            Part::Cookie { name, value } => cookies.push(address::pair(&name, &value)),
        }
    }
    if let Some((name, mut value)) = header(COOKIE.as_str(), &cookies.join("; "), true)
        && !cookies.is_empty()
    {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let in_path = |name: &str| {
        let mut values = in_path.iter();
        values
            .find(|(it, _)| *it == name)
            .map(|(_, value)| value.as_str())
    };
    let url = address::join(&call.base, &call.path, in_path, &query);
    let url = url.ok_or_else(|| wrong("together they make another path".into()))?;
    let method = Method::from_bytes(call.operation.method.as_bytes());
    let mut request = Request::new(method.map_err(ToolError::failed)?, url);
    if let Some(body) = &call.body
        && let Some(value) = arguments.get(&body.argument)
    {
        let payload = body.write(value).map_err(wrong)?;
        let bytes = payload.bytes.len();
        if bytes > limit {
            return Err(wrong(format!(
                "its body has {bytes} bytes, and at most {limit} are sent: send less"
            )));
        }
        let content_type = HeaderValue::from_str(&payload.content_type);
        headers.insert(CONTENT_TYPE, content_type.map_err(ToolError::failed)?);
        *request.body_mut() = Some(payload.bytes.into());
    }
    *request.headers_mut() = headers;
    Ok(request)
}

/// A header, if these are a name and a value of one.
pub(super) fn header(
    name: &str,
    value: &str,
    is_secret: bool,
) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(is_secret);
    Some((name, value))
}

/// The value as its style writes it: JSON as a text.
fn plain(parameter: &Parameter, value: &Value) -> Value {
    if parameter.is_json {
        value.to_string().into()
    } else {
        value.clone()
    }
}

/// The texts in a value of a path.
fn values(value: &Value) -> Box<dyn Iterator<Item = String> + '_> {
    match value {
        Value::Array(items) if !items.is_empty() => Box::new(items.iter().map(style::text)),
        Value::Object(fields) if !fields.is_empty() => {
            let fields = fields.iter();
            Box::new(fields.flat_map(|(name, value)| [name.clone(), style::text(value)]))
        }
        Value::Array(_) | Value::Object(_) => Box::new([String::new()].into_iter()),
        value => Box::new([style::text(value)].into_iter()),
    }
}
