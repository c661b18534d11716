//! Errors of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::LlmResponse;
use petalflow::BoxError;

/// The reason why a model did not answer.
///
/// ```
/// use petalflow_llm::{LlmError, LlmErrorKind};
/// use std::time::Duration;
///
/// let retry_after = Some(Duration::from_secs(2));
/// let error = LlmError::new(LlmErrorKind::RateLimited { retry_after }, "`openai` asks to wait");
/// assert!(error.is_transient());
/// assert_eq!(error.retry_after(), retry_after);
/// assert!(!LlmError::request("no messages").is_transient());
/// ```
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// The kind of the error.
    pub kind: LlmErrorKind,
    /// Whether the provider said that a retry may succeed.
    retry: Option<bool>,
    message: String,
    source: Option<BoxError>,
}

/// The kinds of [`LlmError`].
///
/// ```
/// use petalflow_llm::{LlmError, LlmErrorKind};
///
/// assert_eq!(LlmError::request("no messages").kind, LlmErrorKind::Request);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// The request is not valid.
    Request,
    /// The key is missing, or the provider rejected it.
    Auth,
    /// The provider limits the rate of requests. It may specify the time to wait.
    RateLimited {
        /// The time to wait before the next request.
        retry_after: Option<Duration>,
    },
    /// The provider answered with an error.
    Provider {
        /// The HTTP status of the response, such as 500.
        status: Option<u16>,
        /// The time to wait before the next request, if the provider sent one.
        retry_after: Option<Duration>,
    },
    /// The connection failed or closed early.
    Connection,
    /// The request took too long.
    Timeout,
    /// The caller cancelled the request.
    Cancelled,
    /// The response cannot be parsed.
    Malformed,
    /// A tool call whose arguments are not a JSON object. An agent reports it to the model.
    Arguments {
        /// The response. In it, arguments that are not JSON are a JSON string.
        response: Box<LlmResponse>,
    },
    /// The provider's filter blocked the prompt, so the model did not answer. An agent's event has it as its error.
    Blocked {
        /// The response, without a message. Its `finish_message` has the provider's reason.
        response: Box<LlmResponse>,
    },
    /// A budget is used up.
    Budget,
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for LlmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

impl LlmError {
    /// An error of this kind.
    pub fn new(kind: LlmErrorKind, message: impl Into<String>) -> Self {
        LlmError {
            kind,
            retry: None,
            message: message.into(),
            source: None,
        }
    }

    /// An error for a request that is not valid.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(LlmErrorKind::Request, message)
    }

    /// The error for a prompt that was blocked.
    pub(crate) fn blocked(response: LlmResponse) -> Self {
        let provider = match &*response.provider {
            "" => "the provider".to_string(),
            name => format!("provider `{name}`"),
        };
        let reason = response.finish_message.as_deref();
        let reason = reason.unwrap_or("it gives no reason");
        let message = format!("{provider} blocked the prompt: {reason}");
        let response = Box::new(response);
        Self::new(LlmErrorKind::Blocked { response }, message)
    }

    /// Sets the cause of the error.
    ///
    /// ```
    /// use petalflow_llm::LlmError;
    /// use std::error::Error;
    ///
    /// let error = LlmError::request("the schema has no type").with_source("no field `type`");
    /// assert_eq!(error.source().unwrap().to_string(), "no field `type`");
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets whether a retry may succeed, for a provider that says so.
    ///
    /// ```
    /// use petalflow_llm::LlmError;
    ///
    /// assert!(LlmError::request("the model is loading").with_retry(true).is_transient());
    /// ```
    #[must_use]
    pub fn with_retry(mut self, may_succeed: bool) -> Self {
        self.retry = Some(may_succeed);
        self
    }

    /// Whether a retry may succeed: as the provider says, or else by the kind of the error. A status of 408, 409 or from
    /// 500 on is transient, except 501: the server never does what it was asked.
    pub fn is_transient(&self) -> bool {
        if let Some(retry) = self.retry {
            return retry;
        }
        match self.kind {
            LlmErrorKind::RateLimited { .. } | LlmErrorKind::Connection | LlmErrorKind::Timeout => {
                true
            }
            LlmErrorKind::Provider { status, .. } => {
                status.is_none_or(|status| matches!(status, 408 | 409 | 500 | 502..))
            }
            _ => false,
        }
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            LlmErrorKind::RateLimited { retry_after }
            | LlmErrorKind::Provider { retry_after, .. } => retry_after,
            _ => None,
        }
    }
}

/// An error as it is recorded for a replay: its source is in its message.
#[derive(Serialize, Deserialize)]
pub(crate) struct RecordedError {
    kind: LlmErrorKind,
    retry: Option<bool>,
    message: String,
}

impl RecordedError {
    pub(crate) fn of(error: &LlmError) -> Self {
        RecordedError {
            kind: error.kind.clone(),
            retry: error.retry,
            message: petalflow::error::message_with_sources(error),
        }
    }
}

impl From<RecordedError> for LlmError {
    fn from(recorded: RecordedError) -> Self {
        LlmError {
            retry: recorded.retry,
            ..LlmError::new(recorded.kind, recorded.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn f44_10_what_a_server_does_not_have_is_not_transient() {
        let transient = |status| {
            let (status, retry_after) = (Some(status), None);
            let kind = LlmErrorKind::Provider {
                status,
                retry_after,
            };
            LlmError::new(kind, "failed").is_transient()
        };
        let statuses = [400, 404, 408, 409, 422, 499, 500, 501, 502, 503, 529];
        let found = statuses.into_iter().filter(|status| transient(*status));
        assert_eq!(found.collect::<Vec<_>>(), [408, 409, 500, 502, 503, 529]);
    }

    #[test]
    fn texts_are_said_once() {
        let error = LlmError::request("the schema has no type");
        check_texts(&error);
        check_texts(&error.with_source("no field `type`"));
        check_texts(&"robot".parse::<crate::Role>().unwrap_err());
    }
}
