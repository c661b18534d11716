//! The tokens of a client, which are renewed when needed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oauth2::TokenResponse as _;
use petalflow::error::message_with_sources;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    AuthorizationSession, ClientCredentialsConfig, OAuthClientConfig,
};

use super::OAuth;
use super::credentials::{OAuthCredentials, Vault};
use super::http::AuthorizationHttp;
use super::options::{AuthorizationCode, Grant};

/// The tokens of a client, for all its connections and copies.
pub(crate) struct Authorization {
    oauth: OAuth,
    /// The URL of the server without the parts that may be secrets.
    url: String,
    vault: Vault,
    /// Held while tokens are renewed: many servers accept a token for renewal once only.
    renewal: tokio::sync::Mutex<()>,
    refusal: Mutex<Refusal>,
}

/// What the server said when it last refused a request.
#[derive(Default)]
struct Refusal {
    /// The header that says where to sign in.
    challenge: Option<String>,
    /// Why a person must sign in.
    reason: Option<String>,
    /// The scopes that the token lacks.
    missing_scopes: Vec<String>,
}

/// The result of a renewal.
pub(crate) enum Renewed {
    Token(String),
    /// A person must sign in. The reason was noted.
    SignIn,
}

impl Authorization {
    pub(crate) fn new(oauth: OAuth, url: &str) -> Self {
        let (store, url) = (oauth.store.clone(), resource(url));
        Authorization {
            oauth,
            vault: Vault::new(url.clone(), store),
            url,
            renewal: tokio::sync::Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    fn refusal(&self) -> MutexGuard<'_, Refusal> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the header of a request that was refused.
    pub(crate) fn note_challenge(&self, challenge: Option<&str>) {
        if let Some(challenge) = challenge {
            self.refusal().challenge = Some(challenge.into());
        }
    }

    /// Notes that the token lacks scopes.
    pub(crate) fn note_missing_scopes(&self, scopes: &str) {
        let mut refusal = self.refusal();
        refusal.missing_scopes = scopes.split_whitespace().map(str::to_string).collect();
        refusal.reason = Some(format!("the token does not have the scope `{scopes}`"));
    }

    /// Notes that a person must sign in.
    pub(crate) fn note_reason(&self, reason: &str) {
        self.refusal().reason = Some(reason.into());
    }

    /// Why a person must sign in, if that was noted.
    pub(crate) fn reason(&self) -> Option<String> {
        self.refusal().reason.clone()
    }

    /// Whether a person signs in.
    pub(crate) fn has_person(&self) -> bool {
        matches!(self.oauth.grant, Grant::AuthorizationCode(_))
    }

    /// The token for a request. `None` if there is none yet: the server's refusal says where to get one.
    pub(crate) async fn token(self: &Arc<Self>) -> Result<Option<String>, AuthError> {
        if let Some(token) = self.vault.fresh_token() {
            return Ok(Some(token));
        }
        let this = Arc::clone(self);
        to_its_end(async move { this.stored_token().await }).await
    }

    async fn stored_token(&self) -> Result<Option<String>, AuthError> {
        let _renewal = self.renewal.lock().await;
        let Some(credentials) = self.vault.load().await? else {
            return Ok(None);
        };
        if let Some(token) = credentials.fresh_token() {
            return Ok(Some(token));
        }
        match self.renewed(Some(credentials.clone())).await {
            Ok(Renewed::Token(token)) => Ok(Some(token)),
            // The server answers with where to sign in.
            Ok(Renewed::SignIn) => Ok(None),
            // It is early.
            Err(error) => credentials.valid_token().map(Some).ok_or(error),
        }
    }

    /// The token after the server refused a request with this one.
    pub(crate) async fn token_after(
        self: &Arc<Self>,
        refused: Option<String>,
    ) -> Result<Renewed, AuthError> {
        let this = Arc::clone(self);
        to_its_end(async move { this.other_token(refused).await }).await
    }

    async fn other_token(&self, refused: Option<String>) -> Result<Renewed, AuthError> {
        let _renewal = self.renewal.lock().await;
        let credentials = self.vault.load().await?;
        // Another request may have renewed it.
        let token = credentials.as_ref().and_then(OAuthCredentials::fresh_token);
        if let Some(token) = token.filter(|token| Some(token) != refused.as_ref()) {
            return Ok(Renewed::Token(token));
        }
        self.renewed(credentials).await
    }

    async fn renewed(&self, credentials: Option<OAuthCredentials>) -> Result<Renewed, AuthError> {
        match (&self.oauth.grant, credentials) {
            (Grant::ClientCredentials { id, secret }, _) => {
                self.client_credentials(id, secret).await
            }
            (Grant::AuthorizationCode(_), None) => {
                // The reason for which there are none any more is a better one.
                let mut refusal = self.refusal();
                let first = || "nobody has signed in yet".into();
                refusal.reason.get_or_insert_with(first);
                Ok(Renewed::SignIn)
            }
            (Grant::AuthorizationCode(code), Some(credentials)) => {
                self.refreshed(code, credentials).await
            }
        }
    }

    /// Refreshes the tokens of a person.
    async fn refreshed(
        &self,
        code: &AuthorizationCode,
        credentials: OAuthCredentials,
    ) -> Result<Renewed, AuthError> {
        let token = credentials.stored.token_response.as_ref();
        if token.and_then(|token| token.refresh_token()).is_none() {
            self.note_reason(
                "the token is not valid any more, and the authorization server gave none to renew it",
            );
            self.vault.clear().await?;
            return Ok(Renewed::SignIn);
        }
        let before = credentials.fresh_token();
        let (metadata, registered) = (credentials.metadata, credentials.client_secret);
        let mut manager = self.manager().await?;
        manager.set_metadata(metadata.clone());
        manager.set_credential_store(self.vault.for_client(metadata, registered.clone()));
        let id = credentials.stored.client_id;
        let is_known = code.client_id.as_ref() == Some(&id);
        let mut client = OAuthClientConfig::new(id, &code.redirect_url);
        client.client_secret = if is_known {
            code.client_secret.clone()
        } else {
            registered
        };
        manager.configure_client(client)?;
        match manager.refresh_token().await {
            Ok(token) => Ok(Renewed::Token(token.access_token().secret().clone())),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                // Another program with the same store may have renewed them at the same time.
                let stored = self.vault.load().await?;
                let token = stored.as_ref().and_then(OAuthCredentials::fresh_token);
                if let Some(token) = token.filter(|token| Some(token) != before.as_ref()) {
                    return Ok(Renewed::Token(token));
                }
                self.note_reason("the authorization server accepts the tokens no longer");
                // They are of no use any more.
                self.vault.clear().await?;
                Ok(Renewed::SignIn)
            }
            Err(error) => Err(error),
        }
    }

    /// Gets a token for the program itself.
    async fn client_credentials(&self, id: &str, secret: &str) -> Result<Renewed, AuthError> {
        let mut manager = self.manager().await?;
        let metadata = self.find(&mut manager).await?;
        manager.set_credential_store(self.vault.for_client(metadata, None));
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: id.into(),
            client_secret: secret.into(),
            scopes: self.oauth.scopes.clone(),
            resource: Some(self.url.clone()),
        };
        manager.validate_client_credentials_metadata(&config)?;
        manager.configure_client_credentials(&config)?;
        let token = manager.exchange_client_credentials(&config).await?;
        Ok(Renewed::Token(token.access_token().secret().clone()))
    }

    /// Begins a sign-in.
    pub(crate) async fn begin(&self) -> Result<AuthorizationSession, AuthError> {
        let Grant::AuthorizationCode(code) = &self.oauth.grant else {
            return Err(AuthError::OAuthError(
                "its client has `OAuth::client_credentials`, with which nobody signs in".into(),
            ));
        };
        let mut manager = self.manager().await?;
        let metadata = self.find(&mut manager).await?;
        let scopes = self.scopes(&manager).await?;
        let mut request = AuthorizationRequest::new(&code.redirect_url).with_scopes(scopes.clone());
        let by_document = metadata
            .additional_fields
            .get("client_id_metadata_document_supported")
            .is_some_and(|supported| supported == true);
        let mut registered_secret = None;
        if let Some(id) = &code.client_id {
            request = request.with_preregistered_client(id);
            request.client_secret.clone_from(&code.client_secret);
        } else if let Some(url) = code.metadata_url.as_ref().filter(|_| by_document) {
            request = request.with_client_metadata_url(url);
        } else {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let registered =
                manager.register_client(&code.client_name, &code.redirect_url, &scopes);
            let registered = registered.await?;
            request = request.with_preregistered_client(registered.client_id);
            registered_secret = registered.client_secret;
            request.client_secret.clone_from(&registered_secret);
        }
        manager.set_credential_store(self.vault.for_client(metadata, registered_secret));
        let session = AuthorizationSession::new(manager, request).await;
        session.map_err(|(_, error)| error)
    }

    /// The scopes of a sign-in: those of the program or of the server, and with them those that were missing.
    async fn scopes(&self, manager: &AuthorizationManager) -> Result<Vec<String>, AuthError> {
        let missing = self.refusal().missing_scopes.clone();
        let mut scopes = self.oauth.scopes.clone();
        if scopes.is_empty() && missing.is_empty() {
            return Ok(manager.select_initial_scopes(&[]).await);
        }
        if !missing.is_empty()
            && let Some(credentials) = self.vault.load().await?
        {
            scopes.extend(credentials.stored.granted_scopes);
        }
        scopes.extend(missing);
        scopes.sort();
        scopes.dedup();
        Ok(scopes)
    }

    /// Notes that a person has signed in.
    pub(crate) fn signed_in(&self) {
        let mut refusal = self.refusal();
        refusal.reason = None;
        refusal.missing_scopes.clear();
    }

    /// Forgets the tokens.
    pub(crate) async fn forget(&self) -> Result<(), AuthError> {
        let _renewal = self.renewal.lock().await;
        self.vault.clear().await
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let http = AuthorizationHttp::new()
            .map_err(|error| AuthError::InternalError(message_with_sources(&*error)))?;
        AuthorizationManager::new_with_oauth_http_client(&*self.url, Arc::new(http)).await
    }

    /// Finds the authorization server.
    async fn find(
        &self,
        manager: &mut AuthorizationManager,
    ) -> Result<AuthorizationMetadata, AuthError> {
        let challenge = self.refusal().challenge.clone();
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref());
        let metadata = found.await?.metadata;
        manager.set_metadata(metadata.clone());
        Ok(metadata)
    }
}

/// Runs a renewal to its end, also if the request that needs it is dropped: the tokens before cannot be used again.
async fn to_its_end<T: Send + 'static>(
    renewal: impl Future<Output = Result<T, AuthError>> + Send + 'static,
) -> Result<T, AuthError> {
    let ended = tokio::spawn(renewal).await;
    ended.unwrap_or_else(|error| Err(AuthError::InternalError(error.to_string())))
}

/// The URL of a server as tokens name it: without a user, a password, a query and a fragment.
fn resource(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else {
        return url.into();
    };
    // It has a host, so these cannot fail.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_has_no_secrets() {
        let url = "https://user:word@example.com/mcp?key=1#part";
        assert_eq!(resource(url), "https://example.com/mcp");
    }
}
