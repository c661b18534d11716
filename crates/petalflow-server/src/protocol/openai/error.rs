//! Errors in the form of OpenAI's interface.

use axum::Json;
use axum::http::header::{HeaderName, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::protocol::turn::TurnOutcome;
use crate::refusal::Refusal;

/// Tells clients whether they send the request again by themselves. They would begin another turn.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    message: String,
    kind: &'static str,
    param: Option<String>,
    code: Option<&'static str>,
    /// Whether a turn was begun.
    has_turn: bool,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        ApiError {
            status,
            message: message.into(),
            kind,
            param: None,
            code: None,
            has_turn: false,
        }
    }

    /// A request that cannot be understood.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// A field of a request that cannot be honoured.
    pub(super) fn param(param: impl Into<String>, message: impl Into<String>) -> Self {
        ApiError {
            param: Some(param.into()),
            ..Self::invalid(message)
        }
    }

    /// A field that a request needs.
    pub(super) fn missing(param: impl Into<String>) -> Self {
        let param = param.into();
        let text = format!("`{param}` is missing");
        Self::param(param, text)
    }

    pub(super) fn with_code(self, code: &'static str) -> Self {
        ApiError {
            code: Some(code),
            ..self
        }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "invalid_request_error", message)
    }

    pub(super) fn method() -> Self {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(
            status,
            "invalid_request_error",
            "the address has no such method",
        )
    }

    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict_error", message)
    }

    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", message)
    }

    /// A turn without an answer. `None` if it has one, or waits.
    pub(super) fn of_turn(outcome: &TurnOutcome) -> Option<Self> {
        let error = match outcome {
            TurnOutcome::Finished | TurnOutcome::Interrupted => return None,
            TurnOutcome::Failed(cause) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "server_error",
                format!("the agent failed: {cause}"),
            )
            .with_code("agent_failed"),
            TurnOutcome::Cancelled => {
                Self::conflict("the turn was cancelled").with_code("cancelled")
            }
            TurnOutcome::Stopped => {
                Self::busy("the server stops: the next one continues the turn").with_code("stopped")
            }
        };
        Some(ApiError {
            has_turn: true,
            ..error
        })
    }

    pub(super) fn code(&self) -> Option<&'static str> {
        self.code
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The body.
    pub(super) fn body(&self) -> Value {
        json!({ "error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        } })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if self.has_turn {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        } else if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let text = refusal.text().to_string();
        match refusal.status() {
            StatusCode::UNAUTHORIZED => {
                Self::new(StatusCode::UNAUTHORIZED, "invalid_request_error", text)
                    .with_code("invalid_api_key")
            }
            // There is one status for what is wrong with a request.
            StatusCode::UNPROCESSABLE_ENTITY => Self::invalid(text),
            status if status.is_server_error() => Self::new(status, "server_error", text),
            StatusCode::CONFLICT => Self::conflict(text),
            status => Self::new(status, "invalid_request_error", text),
        }
    }
}
