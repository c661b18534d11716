//! The token of clients that send it as `Authorization: Bearer TOKEN`, whatever the header of the token is otherwise.

use std::sync::Arc;

use axum::http::HeaderMap;
use petalflow_documents::kinds::TriggerAuth;

use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// Checks the token of a request: in the header of [`ServerBuilder::threads`](crate::ServerBuilder::threads), or as a bearer token.
pub(crate) fn check(server: &Arc<Inner>, headers: &HeaderMap) -> Result<(), Refusal> {
    let settings = &server.settings;
    let mut headers = request::headers(headers, &settings.limits)?;
    let Some(auth) = &settings.threads else {
        return Ok(());
    };
    if let TriggerAuth::HeaderToken { header, .. } = auth {
        let header = header.trim().to_ascii_lowercase();
        let bearer = headers.get("authorization").and_then(|it| bearer(it));
        if let Some(bearer) = bearer
            && !headers.contains_key(&header)
        {
            headers.insert(header, bearer);
        }
    }
    Ok(auth.check(&headers)?)
}

/// The token of an `Authorization` header. The name of the scheme has no case (RFC 9110, section 11.1).
fn bearer(authorization: &str) -> Option<String> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn a_bearer_token_is_found() {
        assert_eq!(bearer("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(bearer("bearer  abc ").as_deref(), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("Bearer"), None);
    }
}
