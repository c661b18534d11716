//! A sign-in of a person.

use std::fmt;
use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::auth::AuthorizationSession;

use super::OAuth;
use super::authorization::Authorization;
use super::words::of_auth;
use crate::McpError;
use crate::client::McpClient;

/// A sign-in that has begun: see [`McpClient::sign_in`].
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
pub struct SignIn {
    client: McpClient,
    authorization: Arc<Authorization>,
    session: AuthorizationSession,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL has the state of the sign-in, which others must not know.
        f.debug_struct("SignIn")
            .field("server", &self.client.session().name)
            .finish_non_exhaustive()
    }
}

impl SignIn {
    /// The URL that the person opens in a browser. After the sign-in, the browser is redirected to the URL of
    /// [`OAuth::authorization_code`].
    pub fn url(&self) -> &str {
        &self.session.auth_url
    }

    /// Ends the sign-in with the URL to which the browser was redirected. It can begin with the path, as HTTP servers see
    /// it. The tokens are stored, and the next request of the client uses them.
    ///
    /// # Errors
    ///
    /// Fails if the person refused, if the redirect belongs to another sign-in, or if the authorization server or the store
    /// fails. After a redirect of another sign-in, the right one is still accepted.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, a new sign-in may be needed.
    pub async fn finish(&self, redirected_to: &str) -> Result<(), McpError> {
        let redirect = Redirect::parse(&self.session.redirect_uri, redirected_to)
            .map_err(|problem| self.failed(problem))?;
        let finished = self
            .session
            .handle_callback_with_issuer(
                &redirect.code,
                &redirect.state,
                redirect.issuer.as_deref(),
            )
            .await;
        finished.map_err(|error| self.failed(of_auth(&error)))?;
        self.authorization.signed_in();
        // A connection may have been opened without tokens.
        self.client.close().await;
        Ok(())
    }

    fn failed(&self, problem: String) -> McpError {
        McpError::SignIn {
            server: self.client.session().name.clone(),
            problem,
        }
    }
}

/// What a redirect says.
struct Redirect {
    code: String,
    state: String,
    issuer: Option<String>,
}

impl Redirect {
    fn parse(redirect_url: &str, redirected_to: &str) -> Result<Self, String> {
        let url = Url::parse(redirect_url).and_then(|base| base.join(redirected_to));
        let url = url.map_err(|error| format!("the redirect is not a URL: {error}"))?;
        let field = |name: &str| {
            let mut fields = url.query_pairs();
            let (_, value) = fields.find(|(field, _)| field == name)?;
            Some(value.into_owned())
        };
        if let Some(error) = field("error") {
            let description = field("error_description").map(|text| format!(": {text}"));
            let description = description.unwrap_or_default();
            return Err(format!(
                "the authorization server answered `{error}`{description}"
            ));
        }
        let missing = |name| {
            format!(
                "the redirect has no `{name}`; pass the whole URL to which the browser was redirected"
            )
        };
        Ok(Redirect {
            code: field("code").ok_or_else(|| missing("code"))?,
            state: field("state").ok_or_else(|| missing("state"))?,
            issuer: field("iss"),
        })
    }
}

/// The methods for servers that take tokens of OAuth.
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
impl McpClient {
    /// Sends access tokens with each request over HTTP. Tokens are renewed before they expire, and after the server refused
    /// one. If that is not possible, requests fail with [`McpError::SignInRequired`], and a person must
    /// [sign in](Self::sign_in). Other clients than [`http`](Self::http) ignore it.
    ///
    /// Set it before [`tools`](Self::tools) and the other requests. Clones share the tokens.
    ///
    /// ```no_run
    /// use petalflow_mcp::{McpClient, McpError, OAuth};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let oauth = OAuth::authorization_code("http://127.0.0.1:8765/callback");
    /// let server = McpClient::http("https://example.com/mcp", [] as [(&str, &str); 0]).oauth(oauth);
    /// if let Err(McpError::SignInRequired { .. }) = server.tools().await {
    ///     let sign_in = server.sign_in().await?;
    ///     println!("Open {}, and paste the URL that you are sent to:", sign_in.url());
    ///     let mut redirected_to = String::new();
    ///     std::io::stdin().read_line(&mut redirected_to)?;
    ///     sign_in.finish(redirected_to.trim()).await?;
    /// }
    /// println!("{} tools", server.tools().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn oauth(self, oauth: OAuth) -> Self {
        let authorization = self.session().authorization(oauth);
        self.with(|options| options.authorization = authorization)
    }

    /// Begins a sign-in of a person. This finds the authorization server, and registers the program with it.
    ///
    /// # Errors
    ///
    /// Fails with [`McpError::SignIn`] if the client has no [`oauth`](Self::oauth) with an authorization code, or if the
    /// authorization server refuses. Fails with [`McpError::Connect`] if the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no sign-in has begun.
    pub async fn sign_in(&self) -> Result<SignIn, McpError> {
        let authorization = self.authorization()?;
        // The refusal of a request says where the authorization server is.
        match self.session().connection().await {
            Ok(_) | Err(McpError::SignInRequired { .. } | McpError::SignIn { .. }) => {}
            Err(error) => return Err(error),
        }
        match authorization.begin().await {
            Ok(session) => Ok(SignIn {
                client: self.clone(),
                authorization,
                session,
            }),
            Err(error) => Err(self.sign_in_failed(of_auth(&error))),
        }
    }

    /// Forgets the tokens, also those in the store, and closes the connection. The authorization server is not told.
    ///
    /// # Errors
    ///
    /// Fails if the client has no [`oauth`](Self::oauth), or if the store fails.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the tokens may be in the store still.
    pub async fn sign_out(&self) -> Result<(), McpError> {
        let authorization = self.authorization()?;
        let forgotten = authorization.forget().await;
        forgotten.map_err(|error| self.sign_in_failed(of_auth(&error)))?;
        self.close().await;
        Ok(())
    }

    fn authorization(&self) -> Result<Arc<Authorization>, McpError> {
        let authorization = self.session().options.authorization.clone();
        authorization.ok_or_else(|| {
            self.sign_in_failed(
                "its client has no OAuth; set `McpClient::oauth` for a server over HTTP".into(),
            )
        })
    }

    fn sign_in_failed(&self, problem: String) -> McpError {
        McpError::SignIn {
            server: self.session().name.clone(),
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_is_read_from_a_url_and_from_a_path() {
        for text in [
            "http://127.0.0.1:8765/callback?code=a%2Bb&state=s&iss=https://auth",
            "/callback?state=s&code=a%2Bb&iss=https://auth",
            "?state=s&code=a%2Bb&iss=https://auth",
        ] {
            let redirect = Redirect::parse("http://127.0.0.1:8765/callback", text).unwrap();
            assert_eq!((&*redirect.code, &*redirect.state), ("a+b", "s"));
            assert_eq!(redirect.issuer.as_deref(), Some("https://auth"));
        }
    }
}
