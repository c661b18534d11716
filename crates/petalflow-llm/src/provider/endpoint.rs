//! The address of a model, and what gives access to it: a key, or tokens that the program fetches.

use std::env;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::access_token::AccessToken;
#[cfg(feature = "bedrock")]
use super::aws::{AwsCredentials, Signer};
use super::catalog::{Family, Platform, Provider, Target};
use super::error::ErrorConverter;
use super::ordered;
use super::renewing::Renewing;
use super::transport::HttpRequest;
use super::wire;
use crate::secrets::{Secrets, is_secret_name};
use crate::{LlmError, LlmErrorKind};

/// The header with the names of features that Anthropic has not released.
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// The address of a model, and what gives access to it.
#[derive(Clone, Default)]
pub(super) struct Endpoint {
    /// As the user wrote it.
    address: String,
    /// Whether the address is the user's. Such servers often need no key.
    is_own: bool,
    key: Option<String>,
    /// The environment variable with the key.
    variable: Option<&'static str>,
    /// The user's headers, which replace others of the same name. Features of [`BETA`] are added to those of the request.
    headers: Vec<(String, String)>,
    /// Used instead of the key.
    tokens: Option<Renewing<AccessToken>>,
    /// Used where there is neither a key nor a token.
    #[cfg(feature = "bedrock")]
    pub(super) signer: Option<Signer>,
}

/// What a request was sent with.
#[derive(Debug)]
pub(super) enum Access {
    /// Nothing, or a key.
    Fixed(Option<String>),
    /// A token, which may have expired.
    Token(AccessToken),
    #[cfg(feature = "bedrock")]
    Signed(AwsCredentials),
}

impl Access {
    fn secret(&self) -> Option<&str> {
        match self {
            Access::Fixed(key) => key.as_deref(),
            Access::Token(token) => Some(&token.text),
            #[cfg(feature = "bedrock")]
            Access::Signed(credentials) => Some(&credentials.secret_key),
        }
    }
}

impl Endpoint {
    /// The endpoint of a provider of the table.
    pub(super) fn of(provider: &Provider) -> Self {
        Self::with_variable(provider.base_url.to_string(), provider.variable)
    }

    /// An endpoint whose key may be in the environment.
    pub(super) fn with_variable(address: String, variable: Option<&'static str>) -> Self {
        Endpoint {
            address,
            variable,
            ..Self::default()
        }
    }

    /// An endpoint whose key is not in the environment.
    pub(super) fn without_variable(address: String) -> Self {
        Endpoint {
            address,
            is_own: true,
            ..Self::default()
        }
    }

    pub(super) fn set_address(&mut self, address: String) {
        self.address = address;
        self.is_own = true;
    }

    pub(super) fn set_key(&mut self, key: &str) {
        self.key = Some(key.trim().to_string());
    }

    pub(super) fn set_tokens(&mut self, tokens: Renewing<AccessToken>) {
        self.tokens = Some(tokens);
    }

    pub(super) fn add_header(&mut self, name: String, value: String) {
        self.headers.push((name, value));
    }

    /// The request with this path and body, and without what gives access.
    pub(super) fn request(
        &self,
        name: &str,
        target: &Target<'_>,
        path: &str,
        body: &Value,
    ) -> Result<HttpRequest, LlmError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if target.family == Family::Messages && target.platform != Platform::Vertex {
            let version = HeaderValue::from_static(wire::ANTHROPIC_VERSION);
            headers.insert(HeaderName::from_static("anthropic-version"), version);
        }
        if target.family == Family::Messages
            && let Some(beta) = wire::beta(target, body)
        {
            headers.insert(BETA, HeaderValue::from_static(beta));
        }
        Ok(HttpRequest {
            url: self.url(name, target, path)?,
            headers,
            body: ordered::text(body).into(),
        })
    }

    /// The request with what gives access, and with the user's headers.
    pub(super) async fn authorized(
        &self,
        name: &str,
        target: &Target<'_>,
        mut request: HttpRequest,
    ) -> Result<(Access, HttpRequest), LlmError> {
        let access = match &self.tokens {
            Some(tokens) => {
                let token = tokens.get().await;
                Access::Token(token.map_err(|error| self.errors(name, None).no_token(&error))?)
            }
            #[cfg(feature = "bedrock")]
            None if self.signer.is_some() => self.of_aws(name, target).await?,
            None => Access::Fixed(self.key(name, target)?),
        };
        let (header, before) = if matches!(access, Access::Token(_)) {
            (AUTHORIZATION, "Bearer ")
        } else {
            target.key_header()
        };
        let is_sent = matches!(access, Access::Fixed(_) | Access::Token(_));
        if let Some(secret) = access.secret().filter(|_| is_sent) {
            let value = secret_value(&format!("{before}{secret}"));
            let value = value.ok_or_else(|| self.errors(name, None).invalid_key())?;
            request.headers.insert(header, value);
        }
        for (header, value) in &self.headers {
            let parsed = header.parse::<HeaderName>().ok();
            let own = parsed.as_ref().filter(|name| **name == BETA);
            let own = own.and_then(|name| request.headers.get(name)?.to_str().ok());
            let value = own.map_or_else(|| value.clone(), |own| format!("{own},{value}"));
            let (Some(parsed), Some(value)) = (parsed, secret_value(&value)) else {
                return Err(LlmError::request(format!(
                    "the header `{header}` of `with_header` cannot be sent: its name or its value has a character that headers \
                     do not have; remove it"
                )));
            };
            request.headers.insert(parsed, value);
        }
        #[cfg(feature = "bedrock")]
        if let (Some(signer), Access::Signed(credentials)) = (&self.signer, &access) {
            signer.sign(credentials, &mut request).map_err(|error| {
                LlmError::request(format!("the request to `{name}` cannot be signed: {error}"))
            })?;
        }
        Ok((access, request))
    }

    /// The key of Bedrock, or the credentials for a signature.
    #[cfg(feature = "bedrock")]
    async fn of_aws(&self, name: &str, target: &Target<'_>) -> Result<Access, LlmError> {
        let signer = self.signer.as_ref();
        let own = signer.and_then(|signer| signer.credentials.as_ref());
        // What the program gave comes before what is in the environment.
        if own.is_none()
            && let Ok(Some(key)) = self.key(name, target)
        {
            return Ok(Access::Fixed(Some(key)));
        }
        let credentials = match signer {
            Some(signer) => signer.credentials().await,
            None => Ok(None),
        };
        match credentials.map_err(|error| self.errors(name, None).no_token(&error))? {
            Some(credentials) => Ok(Access::Signed(credentials)),
            None if self.is_own || self.has_own_access() => Ok(Access::Fixed(None)),
            None => Err(LlmError::new(
                LlmErrorKind::Auth,
                format!(
                    "no access to `{name}`; set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give \
                     credentials with `with_aws_credentials`"
                ),
            )),
        }
    }

    /// Whether a request that was refused may succeed with a new token.
    pub(super) fn renews(&self, refused: &Access) -> bool {
        match (&self.tokens, refused) {
            (Some(tokens), Access::Token(token)) => {
                tokens.reject(token);
                true
            }
            #[cfg(feature = "bedrock")]
            (_, Access::Signed(credentials)) => {
                let signer = self.signer.as_ref();
                let source = signer.and_then(|signer| signer.credentials.as_ref());
                source
                    .inspect(|source| source.reject(credentials))
                    .is_some()
            }
            _ => false,
        }
    }

    fn url(&self, name: &str, target: &Target<'_>, path: &str) -> Result<Url, LlmError> {
        // The errors do not name the address, which may include a key.
        let errors = || self.errors(name, None);
        if !self.address.starts_with("http://") && !self.address.starts_with("https://") {
            return Err(errors().invalid_address());
        }
        let parsed = Url::parse(&self.address);
        let mut url = parsed.map_err(|error| errors().unreadable_address(&error))?;
        let path = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        if let Some((name, value)) = target.query() {
            url.query_pairs_mut().append_pair(name, value);
        }
        Ok(url)
    }

    /// The key. `None` for servers that need none.
    fn key(&self, name: &str, target: &Target<'_>) -> Result<Option<String>, LlmError> {
        let of_environment = || {
            let key = env::var(self.variable?).ok()?;
            Some(key.trim().to_string())
        };
        let key = self.key.clone().or_else(of_environment);
        let missing = |how: &str| Err(LlmError::new(LlmErrorKind::Auth, how));
        match (&key, self.variable) {
            // A server would reject the key and might quote a part of it.
            (Some(key), _) if key.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                Err(self.errors(name, None).invalid_key())
            }
            (None, _) if self.is_own || self.has_own_access() => Ok(None),
            (None, Some(variable)) => missing(&format!(
                "no key for `{name}`; set {variable}, or give one with `with_key`"
            )),
            (None, None) if target.platform == Platform::Vertex => missing(&format!(
                "no token for `{name}`; give a callback that fetches one with `with_token`"
            )),
            _ => Ok(key),
        }
    }

    /// Whether the user's headers give access.
    fn has_own_access(&self) -> bool {
        self.headers.iter().any(|(name, _)| is_secret_name(name))
    }

    /// The errors of this endpoint, which contain neither what gives access nor secrets of the address and of the headers.
    pub(super) fn errors(&self, name: &str, access: Option<&Access>) -> ErrorConverter {
        let mut secrets = Secrets::default();
        let address = self.address.parse().ok();
        let in_address = address.iter().flat_map(secrets_in_address);
        let in_headers = self.headers.iter();
        let in_headers = in_headers.filter(|(name, _)| is_secret_name(name));
        let access = access.and_then(Access::secret).map(str::to_string);
        access
            .into_iter()
            .chain(in_address)
            .chain(in_headers.map(|(_, value)| value.clone()))
            .for_each(|secret| secrets.add(secret));
        ErrorConverter::new(name.to_string(), secrets)
    }
}

/// The value of a header that is not logged. `None` if it has other characters than headers have.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
/// The texts in an address that may be secret: the password, or the user if there is none, and the values of the query,
/// as they are written and decoded. Shorter texts than four characters are not secret, and would occur in other words.
fn secrets_in_address(url: &Url) -> Vec<String> {
    let user = url.password().unwrap_or(url.username());
    let query = url.query().unwrap_or_default().split('&');
    let written = query.filter_map(|pair| Some(pair.split_once('=')?.1));
    let written = written.map(str::to_string);
    let decoded = url.query_pairs().map(|(_, value)| value.into_owned());
    let mut secrets: Vec<String> = written.chain(decoded).chain([user.to_string()]).collect();
    secrets.retain(|secret| secret.chars().count() >= 4);
    secrets
}
