//! The errors of OAuth, in words. Those of `rmcp` can repeat parts of an answer.

use petalflow::error::message_with_sources;
use rmcp::transport::auth::AuthError;

/// Describes why no token could be had.
pub(crate) fn of_auth(error: &AuthError) -> String {
    match error {
        AuthError::TokenExchangeFailed(text)
        | AuthError::TokenRefreshFailed(text)
        | AuthError::TokenRefreshRejected(text)
        | AuthError::ClientCredentialsError(text) => of_token_request(text),
        AuthError::RegistrationFailed(text) => format!(
            "the authorization server did not register this program: {}; register it by hand, and set \
             `OAuth::client_id`",
            of_registration(text)
        ),
        AuthError::CredentialStoreError(text) => text.clone(),
        AuthError::DiscoveryRequestFailed { url, source } => format!(
            "the authorization server cannot be found at `{}{}`: {}",
            url.host_str().unwrap_or_default(),
            url.path(),
            message_with_sources(&**source)
        ),
        AuthError::PkceUnsupported => {
            "the authorization server does not support PKCE with `S256`, which MCP requires".into()
        }
        AuthError::InvalidScope(text) => {
            format!("the authorization server does not support `{text}`")
        }
        AuthError::AuthorizationServerMismatch { .. }
        | AuthError::AuthorizationServerMissingIssuer { .. } => {
            "the redirect is not from the authorization server that was asked (its `iss`); sign in again".into()
        }
        AuthError::InternalError(text) if text == "Authorization state not found" => {
            "the redirect belongs to another sign-in (its `state` is unknown); begin with `McpClient::sign_in` again"
                .into()
        }
        error => message_with_sources(error),
    }
}

/// An error of the token endpoint: the code and the description, or what is wrong with the answer.
fn of_token_request(text: &str) -> String {
    if let Some((_, refusal)) = text.split_once("Server returned error response: ") {
        return format!("the authorization server refused: {refusal}");
    }
    if text.contains("Request failed") {
        return "the authorization server cannot be reached".into();
    }
    if text.contains("auth method") {
        return text.into();
    }
    // A parser may repeat what it did not understand.
    "the authorization server sent no valid answer".into()
}

fn of_registration(text: &str) -> &str {
    if text.contains("analyze response error") {
        return "it sent no valid answer";
    }
    text.trim_start_matches("Dynamic registration failed: ")
        .trim_start_matches("Registration failed: ")
}
