//! How a client gets its tokens.

use std::fmt;
use std::sync::Arc;

use super::OAuthStore;

/// How a client over HTTP gets access tokens with OAuth 2.1: see [`McpClient::oauth`](crate::McpClient::oauth).
///
/// ```
/// use petalflow_mcp::{McpClient, OAuth};
///
/// let oauth = OAuth::authorization_code("http://127.0.0.1:8765/callback").client_name("travel planner");
/// let server = McpClient::http("https://example.com/mcp", [] as [(&str, &str); 0]).oauth(oauth);
/// # let _ = server;
/// ```
#[derive(Clone)]
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
pub struct OAuth {
    pub(super) grant: Grant,
    pub(super) scopes: Vec<String>,
    pub(super) store: Option<Arc<dyn OAuthStore>>,
}

/// The grants of OAuth that are supported.
#[derive(Clone)]
pub(super) enum Grant {
    AuthorizationCode(AuthorizationCode),
    ClientCredentials { id: String, secret: String },
}

/// A person signs in with a browser.
#[derive(Clone)]
pub(super) struct AuthorizationCode {
    pub(super) redirect_url: String,
    pub(super) client_name: String,
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<String>,
    pub(super) metadata_url: Option<String>,
}

impl OAuth {
    /// A person signs in with a browser, which is then redirected to this URL. This is the authorization code grant with
    /// PKCE. The program is registered with the authorization server by itself, unless
    /// [`client_id`](Self::client_id) or [`client_metadata_url`](Self::client_metadata_url) says otherwise.
    ///
    /// A program on the person's machine listens at a port of `127.0.0.1`. A website uses one of its own URLs.
    ///
    /// ```
    /// use petalflow_mcp::OAuth;
    ///
    /// let oauth = OAuth::authorization_code("http://127.0.0.1:8765/callback");
    /// # let _ = oauth;
    /// ```
    pub fn authorization_code(redirect_url: impl Into<String>) -> Self {
        Self::new(Grant::AuthorizationCode(AuthorizationCode {
            redirect_url: redirect_url.into(),
            client_name: "petalflow".into(),
            client_id: None,
            client_secret: None,
            metadata_url: None,
        }))
    }

    /// The program signs in as itself, without a person. This is the client credentials grant.
    ///
    /// ```
    /// use petalflow_mcp::OAuth;
    ///
    /// let oauth = OAuth::client_credentials("nightly-report", "some-secret").scopes(["reports.read"]);
    /// assert!(!format!("{oauth:?}").contains("some-secret"));
    /// ```
    pub fn client_credentials(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::new(Grant::ClientCredentials {
            id: id.into(),
            secret: secret.into(),
        })
    }

    fn new(grant: Grant) -> Self {
        OAuth {
            grant,
            scopes: Vec::new(),
            store: None,
        }
    }

    fn with_code(mut self, change: impl FnOnce(&mut AuthorizationCode)) -> Self {
        if let Grant::AuthorizationCode(code) = &mut self.grant {
            change(code);
        }
        self
    }

    /// The name of the program that the person sees when it signs in. `petalflow` by default.
    ///
    /// The methods about the client have no effect after [`client_credentials`](Self::client_credentials).
    #[must_use]
    pub fn client_name(self, name: impl Into<String>) -> Self {
        self.with_code(|code| code.client_name = name.into())
    }

    /// The id of the program, if it was registered with the authorization server beforehand.
    ///
    /// ```
    /// use petalflow_mcp::OAuth;
    ///
    /// let oauth = OAuth::authorization_code("https://planner.example.com/callback")
    ///     .client_id("planner")
    ///     .client_secret("some-secret");
    /// # let _ = oauth;
    /// ```
    #[must_use]
    pub fn client_id(self, id: impl Into<String>) -> Self {
        self.with_code(|code| code.client_id = Some(id.into()))
    }

    /// The secret that belongs to the [`client_id`](Self::client_id). Programs that others can read, such as a program on a
    /// person's machine, have none.
    #[must_use]
    pub fn client_secret(self, secret: impl Into<String>) -> Self {
        self.with_code(|code| code.client_secret = Some(secret.into()))
    }

    /// The `https` URL of a document that describes the program (a Client ID Metadata Document). It is the id of the program
    /// at authorization servers that support it.
    #[must_use]
    pub fn client_metadata_url(self, url: impl Into<String>) -> Self {
        self.with_code(|code| code.metadata_url = Some(url.into()))
    }

    /// The scopes to ask for. By default those that the server names.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Where tokens are kept, so that a restarted program need not ask the person again. By default they are lost when the
    /// client is dropped.
    #[must_use]
    pub fn store(mut self, store: impl OAuthStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("OAuth");
        // The secrets are left out.
        match &self.grant {
            Grant::AuthorizationCode(code) => out
                .field("redirect_url", &code.redirect_url)
                .field("client_name", &code.client_name)
                .field("client_id", &code.client_id),
            Grant::ClientCredentials { id, .. } => out.field("client_id", id),
        };
        out.field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
