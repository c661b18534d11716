//! The address and the key of a model.

use std::env;

use reqwest::Url;
use serde_json::Value;

use super::catalog::{Provider, Target};
use super::error::ErrorConverter;
use super::transport::HttpRequest;
use crate::secrets::Secrets;
use crate::{LlmError, LlmErrorKind};

/// The address and the key of a model.
#[derive(Clone, Default)]
pub(super) struct Endpoint {
    /// As the user wrote it.
    address: String,
    /// Whether the address is the user's. Such servers often need no key.
    is_own: bool,
    key: Option<String>,
    /// The environment variable with the key.
    variable: Option<&'static str>,
}

impl Endpoint {
    /// The endpoint of a provider of the table.
    pub(super) fn of(provider: &Provider) -> Self {
        Endpoint {
            address: provider.base_url.to_string(),
            is_own: false,
            key: None,
            variable: provider.variable,
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

    /// The request with this path and body, and the key in it.
    pub(super) fn post(
        &self,
        name: &str,
        target: &Target<'_>,
        path: &str,
        body: Value,
    ) -> Result<(Option<String>, HttpRequest), LlmError> {
        let url = self.url(name, target, path)?;
        let key = self.key(name)?;
        let headers = target.headers(key.as_deref());
        let headers = headers.ok_or_else(|| self.errors(name, None).invalid_key())?;
        Ok((key, HttpRequest { url, headers, body }))
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
    fn key(&self, name: &str) -> Result<Option<String>, LlmError> {
        let of_environment = || {
            let key = env::var(self.variable?).ok()?;
            Some(key.trim().to_string())
        };
        let key = self.key.clone().or_else(of_environment);
        match (&key, self.variable) {
            // A server would reject the key and might quote a part of it.
            (Some(key), _) if key.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                Err(self.errors(name, None).invalid_key())
            }
            (None, Some(variable)) if !self.is_own => Err(LlmError::new(
                LlmErrorKind::Auth,
                format!("no key for `{name}`; set {variable}, or give one with `with_key`"),
            )),
            _ => Ok(key),
        }
    }

    /// The errors of this endpoint, which contain neither this key nor secrets of the address.
    pub(super) fn errors(&self, name: &str, key: Option<&str>) -> ErrorConverter {
        let mut secrets = Secrets::default();
        let address = self.address.parse().ok();
        let in_address = address.iter().flat_map(secrets_in_address);
        key.map(str::to_string)
            .into_iter()
            .chain(in_address)
            .for_each(|secret| secrets.add(secret));
        ErrorConverter::new(name.to_string(), secrets)
    }
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
