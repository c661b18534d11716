//! Sends requests.

use std::error::Error;
use std::time::{Duration, SystemTime};

use petalflow::policy::Retry;
use petalflow::tool::ToolError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, Response, StatusCode};

use super::answer::Answer;

/// The most redirects within the server.
const MOST_REDIRECTS: usize = 5;

/// The longest wait that a server may ask for before the next attempt. Beyond it, the model decides.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The bounds of a request.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    /// The longest body of a request, in bytes.
    pub(super) request: usize,
    /// The longest answer, in bytes.
    pub(super) response: usize,
}

/// A client that follows redirects within a server only: another one must not get credentials and arguments.
pub(super) fn client() -> Result<Client, String> {
    let redirect = Policy::custom(|attempt| {
        let first = attempt.previous().first().map(reqwest::Url::origin);
        let stays = first == Some(attempt.url().origin());
        if stays && attempt.previous().len() <= MOST_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    Client::builder()
        .redirect(redirect)
        // It would repeat a key in the query.
        .referer(false)
        .user_agent(concat!("petalflow/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(petalflow_llm::tls::client_config(&[])?)
        .build()
        .map_err(|error| error.to_string())
}

/// Why an attempt has no answer that counts.
enum Failure {
    /// The request did not leave this machine.
    NotSent(String),
    /// The service may have done what the request asks for.
    Lost(String),
    TimedOut,
    /// The service asks to come again.
    Busy(Box<Answer>, Option<Duration>),
    TooLong,
}

/// Sends the request, and repeats it where this is safe: if it was not sent, and, if `may_repeat`, after a lost connection, a
/// timeout, and the statuses 429, 502, 503 and 504.
pub(super) async fn send(
    client: &Client,
    (tool, title): (&str, &str),
    request: Request,
    limits: Limits,
    may_repeat: bool,
) -> Result<Answer, ToolError> {
    let retry = Retry::attempts(limits.attempts).first(Duration::from_millis(500));
    let attempt = |_| {
        let request = request.try_clone();
        async move {
            // All bodies are in memory, so they can be cloned.
            let request = request.ok_or_else(|| Failure::NotSent("it has no body".into()))?;
            once(client, request, limits).await
        }
    };
    let decide = |failure: &Failure, delay: Duration| match failure {
        Failure::NotSent(_) => Some(delay),
        Failure::Lost(_) | Failure::TimedOut => may_repeat.then_some(delay),
        Failure::Busy(_, after) if may_repeat => {
            let wait = delay.max(after.unwrap_or_default());
            (wait <= LONGEST_WAIT).then_some(wait)
        }
        Failure::Busy(..) | Failure::TooLong => None,
    };
    match retry.run_with(attempt, decide).await {
        Ok(answer) => Ok(answer),
        Err(Failure::Busy(answer, _)) => Ok(*answer),
        Err(Failure::TimedOut) => Err(ToolError::Timeout(tool.into(), limits.timeout)),
        Err(Failure::NotSent(problem)) => Err(ToolError::failed(format!(
            "`{title}` was not sent: {problem}"
        ))),
        Err(Failure::Lost(problem)) => Err(ToolError::failed(format!(
            "`{title}` has no answer, and the service may have done it: {problem}"
        ))),
        Err(Failure::TooLong) => Err(ToolError::failed(format!(
            "the answer to `{title}` is longer than {} bytes: ask for less, such as fewer items of a list",
            limits.response
        ))),
    }
}

async fn once(client: &Client, mut request: Request, limits: Limits) -> Result<Answer, Failure> {
    *request.timeout_mut() = Some(limits.timeout);
    let mut response = client.execute(request).await.map_err(failure)?;
    let status = response.status();
    let headers = response.headers();
    let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let after = retry_after(headers);
    let redirect = redirect(&response);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        if body.len() + chunk.len() > limits.response {
            if status.is_success() {
                return Err(Failure::TooLong);
            }
            // The start of an error is enough.
            break;
        }
        body.extend_from_slice(&chunk);
    }
    let answer = Answer {
        status,
        content_type,
        body,
        redirect,
    };
    match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Err(Failure::Busy(Box::new(answer), after)),
        _ => Ok(answer),
    }
}

fn failure(error: reqwest::Error) -> Failure {
    // The address may have a secret.
    let error = error.without_url();
    if error.is_connect() {
        Failure::NotSent(causes(&error))
    } else if error.is_timeout() {
        Failure::TimedOut
    } else {
        Failure::Lost(causes(&error))
    }
}

/// The error with its causes.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    at.duration_since(SystemTime::now()).ok()
}

/// The server to which a redirect leads that was not followed.
fn redirect(response: &Response) -> Option<String> {
    if !response.status().is_redirection() {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let url = response.url().join(location).ok()?;
    // The rest of the address may have a secret.
    Some(url.origin().ascii_serialization())
}
