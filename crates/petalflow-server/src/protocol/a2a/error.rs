//! The errors of the protocol, with their codes in both bindings.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::refusal::Refusal;

/// An error of the protocol.
#[derive(Clone, Debug)]
pub(super) struct A2aError {
    kind: ErrorKind,
    text: String,
}

/// The errors of the protocol, section 3.3.2 and 5.4 of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    ExtendedAgentCardNotConfigured,
    VersionNotSupported,
    ParseError,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    /// The server cannot take the request now.
    Busy,
}

impl ErrorKind {
    /// The code of JSON-RPC, the status of HTTP, the status of gRPC, and the reason.
    fn codes(self) -> (i32, u16, &'static str, &'static str) {
        let failed = "FAILED_PRECONDITION";
        match self {
            ErrorKind::TaskNotFound => (-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            ErrorKind::TaskNotCancelable => (-32002, 400, failed, "TASK_NOT_CANCELABLE"),
            ErrorKind::PushNotificationNotSupported => {
                (-32003, 400, failed, "PUSH_NOTIFICATION_NOT_SUPPORTED")
            }
            ErrorKind::UnsupportedOperation => (-32004, 400, failed, "UNSUPPORTED_OPERATION"),
            ErrorKind::ContentTypeNotSupported => (
                -32005,
                400,
                "INVALID_ARGUMENT",
                "CONTENT_TYPE_NOT_SUPPORTED",
            ),
            ErrorKind::ExtendedAgentCardNotConfigured => {
                (-32007, 400, failed, "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
            }
            ErrorKind::VersionNotSupported => (-32009, 400, failed, "VERSION_NOT_SUPPORTED"),
            ErrorKind::ParseError => (-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
            ErrorKind::InvalidRequest => (-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
            ErrorKind::MethodNotFound => (-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
            ErrorKind::InvalidParams => (-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
            ErrorKind::Internal => (-32603, 500, "INTERNAL", "INTERNAL_ERROR"),
            ErrorKind::Busy => (-32603, 503, "UNAVAILABLE", "INTERNAL_ERROR"),
        }
    }

    pub(super) fn with(self, text: impl Into<String>) -> A2aError {
        A2aError {
            kind: self,
            text: text.into(),
        }
    }
}

impl A2aError {
    pub(super) fn task_not_found(id: &str) -> Self {
        ErrorKind::TaskNotFound.with(format!(
            "there is no task `{id}`, or its events are not stored any more"
        ))
    }

    fn details(&self) -> Value {
        let (.., reason) = self.kind.codes();
        json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "a2a-protocol.org",
        }])
    }

    /// The error object of JSON-RPC.
    pub(super) fn rpc(&self) -> Value {
        let (code, ..) = self.kind.codes();
        json!({ "code": code, "message": self.text, "data": self.details() })
    }

    /// The body of a response of the HTTP binding.
    pub(super) fn body(&self) -> Value {
        let (_, code, status, _) = self.kind.codes();
        json!({ "error": {
            "code": code, "status": status, "message": self.text, "details": self.details(),
        } })
    }
}

/// The response of the HTTP binding.
impl IntoResponse for A2aError {
    fn into_response(self) -> Response {
        let (_, status, ..) = self.kind.codes();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.body())).into_response()
    }
}

impl From<Refusal> for A2aError {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.status() {
            StatusCode::NOT_FOUND => ErrorKind::TaskNotFound,
            StatusCode::CONFLICT => ErrorKind::UnsupportedOperation,
            StatusCode::UNPROCESSABLE_ENTITY => ErrorKind::InvalidParams,
            StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Busy,
            status if status.is_client_error() => ErrorKind::InvalidRequest,
            _ => ErrorKind::Internal,
        };
        kind.with(refusal.text())
    }
}
