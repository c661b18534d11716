//! Conversion of a provider's failures into errors.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::content_filter::filtered_categories;
use super::json_memory;
use crate::response::{FinishReason, Status};
use crate::secrets::Secrets;
use crate::{LlmError, LlmErrorKind, LlmResponse};

/// Converts the failures of one provider into errors. The errors name the provider and never contain its secrets.
#[derive(Clone)]
pub(super) struct ErrorConverter {
    name: String,
    secrets: Secrets,
}

/// The maximum length of a server's text in an error, in characters.
const MAX_SHOWN: usize = 300;

/// The number of bytes of a server's text in which secrets are searched.
const MAX_SEARCHED: usize = 64 * 1024;

impl ErrorConverter {
    pub(super) fn new(name: String, secrets: Secrets) -> Self {
        ErrorConverter { name, secrets }
    }

    /// An error of this kind. `what` describes the failure.
    pub(super) fn error(&self, kind: LlmErrorKind, what: &str) -> LlmError {
        // Some servers repeat a rejected key. Remove it before truncation: a part of the key is secret too.
        let what = one_line(&self.secrets.text(what.to_string()));
        LlmError::new(kind, format!("provider `{}` failed: {what}", self.name))
    }

    /// The error for data that cannot be read.
    pub(super) fn malformed(&self, what: &str) -> LlmError {
        self.error(LlmErrorKind::Malformed, what)
    }

    /// The error for a body that is not JSON. A page of a gateway often names the problem.
    pub(super) fn not_json(
        &self,
        error: &serde_json::Error,
        content_type: &str,
        body: &[u8],
    ) -> LlmError {
        if body.is_empty() {
            return self.malformed("it sent no answer");
        }
        let body = self.shown(body);
        if content_type.ends_with("json") {
            return self.malformed(&format!("its answer is not JSON: {error}: {body}"));
        }
        self.malformed(&format!(
            "it answered with `{content_type}`, which is not JSON: {body}"
        ))
    }

    /// The error for an event whose data is not JSON.
    pub(super) fn not_json_event(&self, error: &serde_json::Error, data: &str) -> LlmError {
        let data = self.shown(data.as_bytes());
        self.malformed(&format!(
            "it sent a chunk that is not JSON: {error}: {data}"
        ))
    }

    /// The error for an answer without any event, or without any that has content.
    pub(super) fn no_answer(&self, start: &str) -> LlmError {
        self.malformed(&match start {
            "" => "it sent no answer".to_string(),
            start => format!("there is no answer in what it sent: {start}"),
        })
    }

    /// The start of what a server sent, for an error, without secrets.
    pub(super) fn shown(&self, sent: &[u8]) -> String {
        one_line(&self.secrets.text(start_of(sent)))
    }

    /// The error for an answer of more than this number of bytes.
    pub(super) fn too_large(&self, limit: usize) -> LlmError {
        self.malformed(&format!(
            "its answer has more than {limit} bytes; `with_max_response_size` sets the limit"
        ))
    }

    /// The error for JSON that would take too much memory.
    pub(super) fn too_much_memory(&self) -> LlmError {
        self.malformed(&format!(
            "its answer has so many JSON values that they would take more than {} GiB of memory",
            json_memory::MAX >> 30
        ))
    }

    /// The error for a connection that closed in the middle of an answer.
    pub(super) fn cut(&self) -> LlmError {
        self.error(
            LlmErrorKind::Connection,
            "the connection closed before the answer was complete",
        )
    }

    /// The error for an invalid address. The HTTP client would report only the path.
    pub(super) fn invalid_address(&self) -> LlmError {
        self.error(
            LlmErrorKind::Request,
            "its address does not begin with `http://` or `https://`; write it in full, such as `http://localhost:8000/v1`",
        )
    }

    /// The error for an address that cannot be parsed. The HTTP client would report the address, with its secrets.
    pub(super) fn unreadable_address(&self, problem: &dyn std::error::Error) -> LlmError {
        self.error(
            LlmErrorKind::Request,
            &format!(
                "its address cannot be read: {problem}; write it such as `http://localhost:8000/v1`"
            ),
        )
    }

    /// The error for a key with white space in it.
    pub(super) fn invalid_key(&self) -> LlmError {
        self.error(
            LlmErrorKind::Request,
            "its key contains white space; copy the key again, without anything else",
        )
    }

    /// The error for a callback that has no token. The kind is that of the callback's error, if it is one of a model: a server
    /// of tokens may be overloaded too.
    pub(super) fn no_token(&self, error: &petalflow::BoxError) -> LlmError {
        let what = format!("its callback for tokens has none: {error}");
        match error.downcast_ref::<LlmError>() {
            Some(known) => self
                .error(known.kind.clone(), &what)
                .with_retry(known.is_transient()),
            None => self.error(LlmErrorKind::Auth, &what),
        }
    }

    /// The error for a prompt that the provider's filter blocked, if that is what this body says.
    fn blocked(&self, body: &Value) -> Option<LlmError> {
        let body = body.get(0).unwrap_or(body);
        let mut codes = ["/error/code", "/code"]
            .iter()
            .map(|path| body.pointer(path));
        let is_blocked = |code: Option<&Value>| {
            matches!(
                code.and_then(Value::as_str),
                Some("content_filter" | "content_policy_violation" | "invalid_prompt")
            )
        };
        codes.any(is_blocked).then(|| {
            let reason = reported_message(body).map(|reason| one_line(&self.secrets.text(reason)));
            LlmError::blocked(LlmResponse {
                provider: self.name.clone(),
                status: Status::Incomplete,
                finish: Some(FinishReason::Blocked),
                finish_message: reason,
                ..LlmResponse::default()
            })
        })
    }

    /// The error for a status that is not a success.
    pub(super) fn status(&self, status: StatusCode, body: &str, headers: &HeaderMap) -> LlmError {
        let sent = serde_json::from_str::<Value>(body);
        if let Some(error) = sent.as_ref().ok().and_then(|sent| self.blocked(sent)) {
            return error;
        }
        let retry_after = retry_after(headers, SystemTime::now());
        let kind = match status.as_u16() {
            401 | 403 => LlmErrorKind::Auth,
            429 => LlmErrorKind::RateLimited { retry_after },
            status => LlmErrorKind::Provider {
                status: Some(status),
                retry_after,
            },
        };
        let message = match sent {
            // Secrets are not found in text with escapes.
            Ok(body) => reported_message(&body).unwrap_or_else(|| body.to_string()),
            Err(_) => self.shown(body.as_bytes()),
        };
        // AWS names the exception in a header.
        let exception = headers.get("x-amzn-errortype");
        let exception = exception.and_then(|name| name.to_str().ok()?.split(':').next());
        let message = match exception {
            Some(exception) => format!("{exception}: {message}"),
            None => message,
        };
        let colon = if message.is_empty() { "" } else { ": " };
        let error = self.error(kind, &format!("{status}{colon}{message}"));
        // OpenAI and Anthropic say so themselves.
        match headers.get("x-should-retry").map(HeaderValue::as_bytes) {
            Some(b"true") => error.with_retry(true),
            Some(b"false") => error.with_retry(false),
            _ => error,
        }
    }

    /// The error for a body without a response: the error in it, or that there is none.
    pub(super) fn instead(&self, error: Option<&Value>, body: &Value) -> LlmError {
        match error {
            Some(error) => self.reported(error),
            None => self.no_answer(&body.to_string()),
        }
    }

    /// The error that a provider sent instead of a response, or in the middle of one.
    pub(super) fn reported(&self, body: &Value) -> LlmError {
        if let Some(error) = self.blocked(body) {
            return error;
        }
        let kind = match status_of(body) {
            Some(429) => LlmErrorKind::RateLimited { retry_after: None },
            Some(401 | 403) => LlmErrorKind::Auth,
            status => LlmErrorKind::Provider {
                status,
                retry_after: None,
            },
        };
        let what = reported_message(body).unwrap_or_else(|| format!("it sent no answer: {body}"));
        self.error(kind, &what)
    }

    /// The error for an event with the name `error` whose data is not JSON.
    pub(super) fn reported_text(&self, data: &str) -> LlmError {
        let kind = LlmErrorKind::Provider {
            status: None,
            retry_after: None,
        };
        self.error(kind, &self.shown(data.as_bytes()))
    }

    /// The error for a request that did not get through.
    pub(super) fn transport(&self, error: &reqwest::Error) -> LlmError {
        let kind = if error.is_timeout() {
            LlmErrorKind::Timeout
        } else if error.is_builder() {
            LlmErrorKind::Request
        } else {
            LlmErrorKind::Connection
        };
        // The first message contains only the address, which may include a key: the sources describe the failure.
        let host = error
            .url()
            .and_then(reqwest::Url::host_str)
            .unwrap_or_default();
        if let Some(problem) = crate::tls::certificate_problem(error) {
            // A retry would not help.
            return self.error(
                LlmErrorKind::Request,
                &format!(
                    "the certificate of `{host}` is not trusted: {problem}; if it is right, trust its issuer with \
                     `with_root_certificate` or the variable SSL_CERT_FILE"
                ),
            );
        }
        let mut what = match kind {
            LlmErrorKind::Timeout => "it did not answer in time".to_string(),
            LlmErrorKind::Request => "the request cannot be sent".to_string(),
            _ if error.is_connect() && !host.is_empty() => {
                match error.url().and_then(reqwest::Url::port) {
                    Some(port) => format!("no connection to `{host}:{port}`"),
                    None => format!("no connection to `{host}`"),
                }
            }
            _ if error.is_connect() => "no connection".to_string(),
            _ => "the connection was lost".to_string(),
        };
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            what = format!("{what}: {error}");
            cause = error.source();
        }
        self.error(kind, &what)
    }
}

/// The HTTP status of an error in a body: the number in it, or the status that matches its name.
fn status_of(body: &Value) -> Option<u16> {
    let body = body.get(0).unwrap_or(body);
    let paths = ["/error/code", "/code", "/error/status_code"];
    let number = paths.iter().find_map(|path| {
        let code = body.pointer(path)?;
        let text = code.as_str().and_then(|code| code.parse().ok());
        let status = u16::try_from(code.as_u64().or(text)?).ok();
        status.filter(|status| (400..600).contains(status))
    });
    let names = [
        "/error/type",
        "/error/code",
        "/error/status",
        "/code",
        "/type",
    ];
    let mut names = names.iter().filter_map(|path| body.pointer(path)?.as_str());
    number.or_else(|| {
        names.find_map(|name| match name {
            "rate_limit_error"
            | "rate_limit_exceeded"
            | "insufficient_quota"
            | "RESOURCE_EXHAUSTED"
            | "throttlingException" => Some(429),
            "authentication_error"
            | "permission_error"
            | "invalid_api_key"
            | "UNAUTHENTICATED"
            | "PERMISSION_DENIED" => Some(401),
            "invalid_request_error"
            | "context_length_exceeded"
            | "INVALID_ARGUMENT"
            | "validationException"
            | "FAILED_PRECONDITION" => Some(400),
            "billing_error" => Some(402),
            "not_found_error" | "model_not_found" | "NOT_FOUND" => Some(404),
            "request_too_large" => Some(413),
            "api_error" | "server_error" | "internal_server_error" | "INTERNAL"
            // Bedrock asks to send the request again.
            | "internalServerException" | "modelStreamErrorException" => Some(500),
            "overloaded_error" | "UNAVAILABLE" | "serviceUnavailableException" => Some(503),
            "timeout_error" | "DEADLINE_EXCEEDED" | "modelTimeoutException" => Some(504),
            _ => None,
        })
    })
}

/// The message in an error body.
fn reported_message(body: &Value) -> Option<String> {
    // Gemini sends a list with the error if the request was for a stream.
    let body = body.get(0).unwrap_or(body);
    let text = |path: &str| body.pointer(path).and_then(Value::as_str);
    let paths = [
        "/error/message",
        "/message",
        "/error",
        "/detail",
        "/detail/0/msg",
        "/message/detail/0/msg",
        "/errors/0/message",
    ];
    let message = paths.iter().find_map(|path| text(path))?;
    // What the provider behind a gateway sent.
    if let Some(raw) = text("/error/metadata/raw") {
        return Some(format!("{message}: {raw}"));
    }
    let found = body.pointer("/error/innererror/content_filter_result");
    let filtered = found.map(filtered_categories).unwrap_or_default();
    Some(match &*filtered {
        [] => message.to_string(),
        _ => format!(
            "its content filter found {}: {message}",
            filtered.join(", ")
        ),
    })
}

/// The start of a text. The last word of a cut text is left out, because it may be a part of a secret. The end of a long
/// word is not shown.
fn start_of(text: &[u8]) -> String {
    if text.len() <= MAX_SEARCHED {
        return String::from_utf8_lossy(text).into_owned();
    }
    let start = String::from_utf8_lossy(&text[..MAX_SEARCHED]);
    let end = start.rfind(char::is_whitespace);
    let end = end.filter(|end| start.len() - end <= 4 * MAX_SHOWN);
    start[..end.unwrap_or(start.len())].to_string()
}

/// Joins the text into one line without control characters, and truncates it.
fn one_line(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && !c.is_whitespace(), "");
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(MAX_SHOWN) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// The delay that the headers ask for: in seconds, in milliseconds, or until a time.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return seconds(milliseconds).map(|wait| wait / 1000);
    }
    let text = text("retry-after")?;
    match text.parse() {
        Ok(wait) => seconds(wait),
        Err(_) => Some(
            httpdate::parse_http_date(text)
                .ok()?
                .duration_since(now)
                .unwrap_or_default(),
        ),
    }
}

fn seconds(wait: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(wait).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |name: &'static str, value: &str| {
            let headers = HeaderMap::from_iter([(
                reqwest::header::HeaderName::from_static(name),
                value.parse().unwrap(),
            )]);
            retry_after(&headers, now)
        };
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(
            read("retry-after", " 0.5 "),
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            read("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        let date = "Sun, 06 Nov 1994 08:49:47 GMT";
        assert_eq!(read("retry-after", date), Some(Duration::from_secs(10)));
        let past = "Sun, 06 Nov 1994 08:49:30 GMT";
        assert_eq!(read("retry-after", past), Some(Duration::ZERO));
        for nonsense in ["-1", "NaN", "inf", "1e300", "soon", ""] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
