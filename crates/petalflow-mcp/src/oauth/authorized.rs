//! A request with a token, which is sent once more after a renewal.

use std::fmt;
use std::sync::Arc;

use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::authorization::{Authorization, Renewed};
use super::words::of_auth;
use crate::http_error::HttpError;

/// Sends a request with the current token. A request that the server refuses with 401 was not processed, so it is sent once
/// more with a new token.
pub(crate) async fn authorized<T, F>(
    authorization: &Arc<Authorization>,
    send: impl Fn(Option<String>) -> F,
) -> Result<T, HttpError>
where
    F: Future<Output = Result<T, HttpError>>,
{
    let token = authorization.token().await?;
    let error = match send(token.clone()).await {
        Err(error) if is_unauthorized(&error) => error,
        result => return noted(authorization, result),
    };
    authorization.note_challenge(error.auth_challenge());
    match authorization.token_after(token).await? {
        Renewed::SignIn => Err(error),
        Renewed::Token(token) => {
            let result = send(Some(token)).await;
            if result.as_ref().is_err_and(is_unauthorized) {
                authorization.note_reason("it refuses the tokens of its authorization server");
            }
            noted(authorization, result)
        }
    }
}

/// Notes the scopes that a refused request needs.
fn noted<T>(authorization: &Authorization, result: Result<T, HttpError>) -> Result<T, HttpError> {
    if let Err(StreamableHttpError::InsufficientScope(error)) = &result
        && let Some(scopes) = &error.required_scope
    {
        authorization.note_challenge(Some(&error.www_authenticate_header));
        authorization.note_missing_scopes(scopes);
    }
    result
}

fn is_unauthorized(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::HttpStatus(error) => error.status == 401,
        StreamableHttpError::Client(error) => {
            error.status().is_some_and(|status| status.as_u16() == 401)
        }
        StreamableHttpError::UnexpectedServerResponse(text) => text.starts_with("HTTP 401"),
        _ => false,
    }
}

/// Why a request of a client with OAuth failed, if its tokens are the reason.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The server refused the tokens.
    Tokens,
    /// No token can be had.
    NoToken { problem: String, is_transient: bool },
}

impl Refused {
    pub(crate) fn of(error: &HttpError) -> Option<Self> {
        match error {
            StreamableHttpError::InsufficientScope(_) => Some(Refused::Tokens),
            StreamableHttpError::Auth(error) => Some(Refused::NoToken {
                problem: of_auth(error),
                is_transient: is_transient(error),
            }),
            error => is_unauthorized(error).then_some(Refused::Tokens),
        }
    }
}

/// Whether the authorization server may answer a later request.
fn is_transient(error: &AuthError) -> bool {
    match error {
        AuthError::DiscoveryRequestFailed { .. } => true,
        AuthError::TokenRefreshFailed(text) | AuthError::ClientCredentialsError(text) => {
            text.contains("Request failed")
        }
        _ => false,
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Tokens => f.write_str("the server refused the tokens"),
            Refused::NoToken { problem, .. } => f.write_str(problem),
        }
    }
}

impl std::error::Error for Refused {}
