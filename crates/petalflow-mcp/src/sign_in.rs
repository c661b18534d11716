//! A sign-in of a person.

use std::fmt;
use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::auth::AuthorizationSession;
use tokio::net::TcpListener;

use super::client::McpClient;
use super::oauth::{Authorization, OAuth, of_auth};
use super::{McpError, redirect};

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
        let url = self.redirected(redirected_to);
        let redirect = url.and_then(|url| Redirect::parse(&url));
        let redirect = redirect.map_err(|problem| self.failed(problem))?;
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

    /// Waits until a browser on this machine is redirected to this listener, and ends the sign-in as
    /// [`finish`](Self::finish) does. The browser shows a short text. The listener has the port of the redirect URL.
    ///
    /// It waits for as long as the person needs. Requests that do not belong to this sign-in do not end it.
    ///
    /// ```no_run
    /// use petalflow_mcp::{McpClient, OAuth};
    /// use tokio::net::TcpListener;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let oauth = OAuth::authorization_code(format!("http://{}/callback", listener.local_addr()?));
    /// let server = McpClient::http("https://example.com/mcp", [] as [(&str, &str); 0]).oauth(oauth);
    /// let sign_in = server.sign_in().await?;
    /// println!("Open {}", sign_in.url());
    /// sign_in.receive(&listener).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails as [`finish`](Self::finish), or if the listener fails.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped while it waits, it can be called again.
    pub async fn receive(&self, listener: &TcpListener) -> Result<(), McpError> {
        let state = self.state();
        let belongs = |path: &str| {
            let url = self.redirected(path);
            url.is_ok_and(|url| field(&url, "state").is_some_and(|it| it == state))
        };
        let received = redirect::receive(listener, belongs).await;
        let (path, browser) = received
            .map_err(|error| self.failed(format!("the redirect cannot be received: {error}")))?;
        let finished = self.finish(&path).await;
        let (status, text) = if finished.is_ok() {
            ("200 OK", "You have signed in. You can close this page.")
        } else {
            (
                "400 Bad Request",
                "The sign-in failed. You can close this page.",
            )
        };
        redirect::answer(browser, status, text).await;
        finished
    }

    /// What identifies the redirect of this sign-in.
    fn state(&self) -> String {
        let url = Url::parse(&self.session.auth_url).ok();
        let state = url.and_then(|url| field(&url, "state"));
        state.unwrap_or_default()
    }

    /// The whole URL of a redirect.
    fn redirected(&self, text: &str) -> Result<Url, String> {
        redirected(&self.session.redirect_uri, text)
    }

    fn failed(&self, problem: String) -> McpError {
        McpError::SignIn {
            server: self.client.session().name.clone(),
            problem,
        }
    }
}

/// The URL of a redirect. `text` is the whole URL, or its path and its query.
fn redirected(redirect_url: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(redirect_url).and_then(|base| base.join(text));
    url.map_err(|error| format!("the redirect is not a URL: {error}"))
}

/// A field of the query of a URL.
fn field(url: &Url, name: &str) -> Option<String> {
    let mut fields = url.query_pairs();
    let (_, value) = fields.find(|(field, _)| field == name)?;
    Some(value.into_owned())
}

/// What a redirect says.
struct Redirect {
    code: String,
    state: String,
    issuer: Option<String>,
}

impl Redirect {
    fn parse(url: &Url) -> Result<Self, String> {
        let field = |name| field(url, name);
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
    /// If the future is dropped, the tokens may still be in the store.
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
            let redirect = redirected("http://127.0.0.1:8765/callback", text);
            let redirect = Redirect::parse(&redirect.unwrap()).unwrap();
            assert_eq!((&*redirect.code, &*redirect.state), ("a+b", "s"));
            assert_eq!(redirect.issuer.as_deref(), Some("https://auth"));
        }
    }
}
