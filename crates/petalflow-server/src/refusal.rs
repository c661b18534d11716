//! The response to a refused request.

use axum::Json;
use axum::http::header::{ALLOW, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use petalflow::RunError;
use petalflow::checkpoint::StoreError;
use petalflow::interrupt::AnswerError;
use petalflow::thread::ThreadError;
use petalflow_documents::kinds;
use serde_json::json;

/// That a thread does not exist, or not for this caller: in the same words.
pub(crate) const NO_THREAD: &str = "there is no such thread";

/// A refused request: a status and a text.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    text: String,
    allow: Option<String>,
    cause: Cause,
}

/// What the server itself has to know of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A run has the thread.
    BusyThread,
    /// The server runs as many threads as it may.
    TooManyRuns,
    Other,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Refusal {
            status,
            text: text.into(),
            allow: None,
            cause: Cause::Other,
        }
    }

    #[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai", test))]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether the request was refused because a run has the thread.
    pub(crate) fn is_of_busy_thread(&self) -> bool {
        self.cause == Cause::BusyThread
    }

    /// Whether the request was refused because the server runs as many threads as it may.
    pub(crate) fn is_of_too_many_runs(&self) -> bool {
        self.cause == Cause::TooManyRuns
    }

    /// Whether the same request may succeed later.
    pub(crate) fn may_be_repeated(&self) -> bool {
        self.status == StatusCode::CONFLICT || self.status.is_server_error()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// The address has no such method.
    pub(crate) fn method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "the address has no such method",
        )
    }

    /// The client may try again.
    pub(crate) fn busy(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// The server runs as many threads as it may.
    pub(crate) fn too_many_runs() -> Self {
        Refusal {
            cause: Cause::TooManyRuns,
            ..Self::busy("too many runs are in progress")
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": self.text }));
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::SERVICE_UNAVAILABLE || self.status == StatusCode::CONFLICT {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allow) = self.allow.and_then(|it| HeaderValue::try_from(it).ok()) {
            headers.insert(ALLOW, allow);
        }
        response
    }
}

impl From<kinds::Refusal> for Refusal {
    fn from(refusal: kinds::Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status());
        let mut result = Self::new(
            status.unwrap_or(StatusCode::BAD_REQUEST),
            refusal.to_string(),
        );
        if let kinds::Refusal::Method { allowed, .. } = refusal {
            result.allow = Some(allowed);
        }
        result
    }
}

impl From<ThreadError> for Refusal {
    fn from(error: ThreadError) -> Self {
        Self::from(&error)
    }
}

impl From<&ThreadError> for Refusal {
    fn from(error: &ThreadError) -> Self {
        let status = match error {
            // The words of the error are for programs.
            ThreadError::Unknown { .. } => return Self::not_found(NO_THREAD),
            ThreadError::UnknownCheckpoint { .. } => StatusCode::NOT_FOUND,
            // Another caller was faster.
            ThreadError::Busy { .. }
            | ThreadError::Held { .. }
            | ThreadError::Exists { .. }
            | ThreadError::Waiting { .. }
            | ThreadError::Sleeping { .. }
            | ThreadError::Store(StoreError::Conflict { .. })
            | ThreadError::Answer(AnswerError::Answered { .. } | AnswerError::Unknown { .. }) => {
                StatusCode::CONFLICT
            }
            ThreadError::Answer(_) | ThreadError::Request(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ThreadError::Store(StoreError::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal {
            cause: match error {
                ThreadError::Busy { .. } => Cause::BusyThread,
                _ => Cause::Other,
            },
            ..Self::new(status, error.to_string())
        }
    }
}

impl From<AnswerError> for Refusal {
    fn from(error: AnswerError) -> Self {
        ThreadError::from(error).into()
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        ThreadError::from(error).into()
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        match error.thread_error() {
            Some(error) => error.into(),
            None => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}
