//! Refused requests: a status and a text.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use petalflow::RunError;
use petalflow::checkpoint::StoreError;
use petalflow::interrupt::AnswerError;
use petalflow::thread::ThreadError;
use serde_json::json;

/// A refused request.
#[derive(Debug)]
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn conflict(problem: &str) -> Self {
        Refusal(StatusCode::CONFLICT, problem.into())
    }

    pub(crate) fn unknown() -> Self {
        Refusal(StatusCode::NOT_FOUND, "there is no such refund".into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<&ThreadError> for Refusal {
    fn from(error: &ThreadError) -> Self {
        let status = match error {
            ThreadError::Unknown { .. } => StatusCode::NOT_FOUND,
            // Somebody was faster.
            ThreadError::Busy { .. }
            | ThreadError::Waiting { .. }
            | ThreadError::Store(StoreError::Conflict { .. })
            | ThreadError::Answer(AnswerError::Answered { .. } | AnswerError::Unknown { .. }) => {
                StatusCode::CONFLICT
            }
            ThreadError::Answer(_) | ThreadError::Request(_) => StatusCode::UNPROCESSABLE_ENTITY,
            // The client may try again.
            ThreadError::Store(StoreError::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal(status, error.to_string())
    }
}

impl From<ThreadError> for Refusal {
    fn from(error: ThreadError) -> Self {
        Self::from(&error)
    }
}

impl From<AnswerError> for Refusal {
    fn from(error: AnswerError) -> Self {
        ThreadError::from(error).into()
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        match error.thread_error() {
            Some(error) => error.into(),
            None => Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}
