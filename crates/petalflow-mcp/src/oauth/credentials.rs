//! What a client keeps about a sign-in.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse as _;
use petalflow::error::message_with_sources;
use petalflow::{BoxError, async_trait};
use rmcp::transport::auth::{AuthError, AuthorizationMetadata, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};

/// The tokens of one server, with what is needed to renew them. It is stored as JSON, for example. It contains secrets:
/// store it where only the user of the program can read it.
///
/// ```
/// use petalflow_mcp::OAuthCredentials;
///
/// /// The text for a file or for the keychain of the system.
/// fn text(credentials: &OAuthCredentials) -> serde_json::Result<String> {
///     serde_json::to_string(credentials)
/// }
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
pub struct OAuthCredentials {
    /// The URL of the MCP server. Tokens are sent to no other.
    pub(super) server: String,
    /// The secret that the authorization server gave to the program when it registered.
    pub(super) client_secret: Option<String>,
    /// The authorization server, so that it need not be found again.
    pub(super) metadata: AuthorizationMetadata,
    pub(super) stored: StoredCredentials,
}

impl fmt::Debug for OAuthCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthCredentials")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// A token is renewed this many seconds before it expires.
const EARLY: u64 = 30;

impl OAuthCredentials {
    /// The access token, if it does not expire within the next seconds.
    pub(super) fn fresh_token(&self) -> Option<String> {
        let lifetime = self.lifetime();
        self.token_with(lifetime.map_or(0, |lifetime| EARLY.min(lifetime / 4)))
    }

    /// The access token, if it has not expired.
    pub(super) fn valid_token(&self) -> Option<String> {
        self.token_with(0)
    }

    /// The access token, if it is valid for more than these seconds.
    fn token_with(&self, remaining: u64) -> Option<String> {
        let token = self.stored.token_response.as_ref()?;
        if let (Some(lifetime), Some(received)) = (self.lifetime(), self.stored.token_received_at) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let age = now.unwrap_or_default().as_secs().saturating_sub(received);
            if age.saturating_add(remaining) >= lifetime {
                return None;
            }
        }
        Some(token.access_token().secret().clone())
    }

    /// How long the access token is valid, in seconds. `None` if the server did not say.
    fn lifetime(&self) -> Option<u64> {
        let token = self.stored.token_response.as_ref()?;
        token.expires_in().map(|lifetime| lifetime.as_secs())
    }
}

/// Where the tokens of a server are kept: a file, the keychain of the system, or a database. Each server has a store of
/// its own, and one program at a time uses it. An error of a store fails the request that needed it.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_mcp::{OAuthCredentials, OAuthStore};
/// use std::path::PathBuf;
///
/// /// Keeps tokens in a file, which only the user of the program should be able to read.
/// struct TokenFile(PathBuf);
///
/// #[async_trait]
/// impl OAuthStore for TokenFile {
///     async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError> {
///         match std::fs::read(&self.0) {
///             Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
///             Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
///             Err(error) => Err(error.into()),
///         }
///     }
///
///     async fn save(&self, credentials: &OAuthCredentials) -> Result<(), BoxError> {
///         Ok(std::fs::write(&self.0, serde_json::to_vec(credentials)?)?)
///     }
///
///     async fn clear(&self) -> Result<(), BoxError> {
///         Ok(std::fs::remove_file(&self.0)?)
///     }
/// }
/// ```
#[async_trait]
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
pub trait OAuthStore: Send + Sync + 'static {
    /// Returns what was saved last. `None` if nothing was saved, or if it was cleared.
    async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError>;

    /// Saves the tokens, in place of those that were saved before. Many servers accept a token for renewal once only, so the
    /// tokens must be stored when the future ends.
    async fn save(&self, credentials: &OAuthCredentials) -> Result<(), BoxError>;

    /// Deletes the tokens. It is called only if there are some.
    async fn clear(&self) -> Result<(), BoxError>;
}

/// The tokens in memory, and the store of the program behind them.
#[derive(Clone)]
pub(super) struct Vault {
    server: String,
    store: Option<Arc<dyn OAuthStore>>,
    kept: Arc<Mutex<Option<OAuthCredentials>>>,
    /// Whether the store does not have the tokens in memory, because it failed.
    is_unsaved: Arc<AtomicBool>,
}

impl Vault {
    pub(super) fn new(server: String, store: Option<Arc<dyn OAuthStore>>) -> Self {
        Vault {
            server,
            store,
            kept: Arc::default(),
            is_unsaved: Arc::default(),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<OAuthCredentials>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The access token in memory, if it does not expire soon.
    pub(super) fn fresh_token(&self) -> Option<String> {
        self.kept().as_ref()?.fresh_token()
    }

    /// The tokens in the store: another client may have saved newer ones.
    pub(super) async fn load(&self) -> Result<Option<OAuthCredentials>, AuthError> {
        let Some(store) = &self.store else {
            return Ok(self.kept().clone());
        };
        if self.is_unsaved.load(Ordering::Relaxed) {
            // The tokens in the store cannot be used any more.
            let kept = self.kept().clone();
            if let Some(kept) = &kept {
                let saved = store.save(kept).await;
                self.is_unsaved.store(saved.is_err(), Ordering::Relaxed);
            }
            return Ok(kept);
        }
        let loaded = store.load().await.map_err(|error| failed("load", &error))?;
        if let Some(loaded) = loaded.as_ref().filter(|it| it.server != self.server) {
            return Err(AuthError::CredentialStoreError(format!(
                "the stored tokens are those of `{}`, so they are not sent; give each server a store of its own",
                loaded.server
            )));
        }
        self.kept().clone_from(&loaded);
        Ok(loaded)
    }

    pub(super) async fn save(&self, credentials: OAuthCredentials) -> Result<(), AuthError> {
        // In memory first: the tokens before are of no use any more.
        *self.kept() = Some(credentials.clone());
        if let Some(store) = &self.store {
            let saved = store.save(&credentials).await;
            self.is_unsaved.store(saved.is_err(), Ordering::Relaxed);
            saved.map_err(|error| failed("save", &error))?;
        }
        Ok(())
    }

    pub(super) async fn clear(&self) -> Result<(), AuthError> {
        *self.kept() = None;
        self.is_unsaved.store(false, Ordering::Relaxed);
        if let Some(store) = &self.store
            && self.load().await?.is_some()
        {
            let cleared = store.clear().await;
            cleared.map_err(|error| failed("clear", &error))?;
            *self.kept() = None;
        }
        Ok(())
    }

    /// The store for `rmcp`, with what belongs to the tokens that it saves.
    pub(super) fn for_client(
        &self,
        metadata: AuthorizationMetadata,
        client_secret: Option<String>,
    ) -> ClientVault {
        ClientVault {
            vault: self.clone(),
            metadata,
            client_secret,
        }
    }
}

fn failed(what: &str, error: &BoxError) -> AuthError {
    let problem = message_with_sources(&**error);
    AuthError::CredentialStoreError(format!("the store cannot {what} the tokens: {problem}"))
}

/// The store of one registered client.
pub(super) struct ClientVault {
    vault: Vault,
    metadata: AuthorizationMetadata,
    client_secret: Option<String>,
}

#[async_trait]
impl CredentialStore for ClientVault {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.vault.load().await?.map(|it| it.stored))
    }

    async fn save(&self, stored: StoredCredentials) -> Result<(), AuthError> {
        let credentials = OAuthCredentials {
            server: self.vault.server.clone(),
            client_secret: self.client_secret.clone(),
            metadata: self.metadata.clone(),
            stored,
        };
        self.vault.save(credentials).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.vault.clear().await
    }
}
