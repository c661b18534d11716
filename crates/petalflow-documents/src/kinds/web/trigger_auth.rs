//! How a request to a webhook trigger proves that it is allowed.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::Refusal;
use super::header::{is_token, value};
use super::signature::{self, Clock, StandardHeaders};
use crate::clock::now_ms;
use crate::{ConfigError, Period};

/// The header of GitHub's signature.
const GITHUB: &str = "X-Hub-Signature-256";
/// The header of Stripe's signature.
const STRIPE: &str = "Stripe-Signature";
/// The headers of a signature of Standard Webhooks.
const STANDARD_ID: &str = "webhook-id";
const STANDARD_TIME: &str = "webhook-timestamp";
const STANDARD_SIGNATURE: &str = "webhook-signature";

/// How a request proves that it is allowed: by a token, or by a signature of its body.
///
/// ```
/// use petalflow_documents::kinds::TriggerAuth;
/// use serde_json::json;
///
/// let auth: TriggerAuth = serde_json::from_value(json!({ "type": "header_token", "token": "env:HOOK_TOKEN" }))?;
/// assert!(matches!(auth, TriggerAuth::HeaderToken { header, .. } if header == "X-PetalFlow-Webhook-Token"));
///
/// let auth: TriggerAuth = serde_json::from_value(json!({ "type": "github_signature", "secret": "env:HOOK_SECRET" }))?;
/// assert!(auth.signs_body());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum TriggerAuth {
    /// Every request is allowed.
    #[default]
    None,
    /// A header contains a token.
    HeaderToken {
        /// The header. The default is `X-PetalFlow-Webhook-Token`.
        #[serde(default = "token_header")]
        header: String,
        /// The token, or `env:NAME` for the environment variable `NAME`.
        token: String,
    },
    /// The body is signed as GitHub signs it: HMAC with SHA-256, in the header `X-Hub-Signature-256`.
    ///
    /// The signature has no time: a request that was recorded can be sent again. The header `X-GitHub-Delivery` identifies
    /// a delivery.
    GithubSignature {
        /// The secret, or `env:NAME` for the environment variable `NAME`.
        secret: String,
    },
    /// The body and the time are signed as Stripe signs them: HMAC with SHA-256, in the header `Stripe-Signature`.
    StripeSignature {
        /// The secret of the endpoint, or `env:NAME` for the environment variable `NAME`.
        secret: String,
        /// How far the time of the signature may be from now. The default is 5 minutes.
        #[serde(default = "tolerance")]
        tolerance: Period,
    },
    /// The body and the time are signed as the specification Standard Webhooks says, which OpenAI and others use: HMAC with
    /// SHA-256, in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    StandardSignature {
        /// The secret, in the form `whsec_BASE64`, or `env:NAME` for the environment variable `NAME`.
        secret: String,
        /// How far the time of the signature may be from now. The default is 5 minutes.
        #[serde(default = "tolerance")]
        tolerance: Period,
    },
}

fn token_header() -> String {
    "X-PetalFlow-Webhook-Token".into()
}

fn tolerance() -> Period {
    Period(Duration::from_mins(5))
}

impl TriggerAuth {
    /// Checks the headers of a request, before its body is read. The time that this takes does not depend on the token. If the
    /// body is to be signed, only the presence of a signature is checked: call [`check_body`](Self::check_body) also.
    ///
    /// ```
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use std::collections::BTreeMap;
    ///
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// assert!(auth.check(&BTreeMap::from([("x-token".into(), "secret".into())])).is_ok());
    /// assert!(auth.check(&BTreeMap::new()).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refusal::Unauthorized`] or [`Refusal::Signature`]; [`Refusal::NoToken`] if the environment variable with the token is
    /// not set, or [`Refusal::EmptyToken`] if the settings have an empty token. Nobody passes an empty token.
    pub fn check(&self, headers: &BTreeMap<String, String>) -> Result<(), Refusal> {
        let Some(secret) = self.secret() else {
            return Ok(());
        };
        let secret = expected(secret)?;
        if let TriggerAuth::HeaderToken { header, .. } = self {
            let given = value(headers, header).unwrap_or_default();
            // Hashes have one length, so that the time does not depend on that of the token.
            let same = Sha256::digest(given).ct_eq(&Sha256::digest(secret));
            return bool::from(same).then_some(()).ok_or(Refusal::Unauthorized);
        }
        if matches!(self, TriggerAuth::StandardSignature { .. })
            && signature::standard_secret(&secret).is_none()
        {
            return Err(Refusal::Secret);
        }
        let mut names = self.names().into_iter();
        let are_all_given = names.all(|name| value(headers, name).is_some());
        are_all_given.then_some(()).ok_or(Refusal::Signature)
    }

    /// Checks the signature of a body. The time that this takes does not depend on how much of the signature is right. Without
    /// a signature in the settings, every body is allowed.
    ///
    /// ```
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use std::collections::BTreeMap;
    ///
    /// // The example of GitHub's documentation.
    /// let auth = TriggerAuth::GithubSignature { secret: "It's a Secret to Everybody".into() };
    /// let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    /// let headers = BTreeMap::from([("x-hub-signature-256".into(), signature.into())]);
    /// assert!(auth.check_body(&headers, b"Hello, World!").is_ok());
    /// assert!(auth.check_body(&headers, b"Hello, World?").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refusal::Signature`], [`Refusal::Expired`] if the time of the signature is too far from now, or as
    /// [`check`](Self::check).
    pub fn check_body(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> Result<(), Refusal> {
        let header = |name| value(headers, name).ok_or(Refusal::Signature);
        let clock = |tolerance: &Period| Clock {
            now_s: now_ms() / 1_000,
            tolerance: tolerance.0,
        };
        match self {
            TriggerAuth::None | TriggerAuth::HeaderToken { .. } => Ok(()),
            TriggerAuth::GithubSignature { secret } => {
                signature::github(header(GITHUB)?, &expected(secret)?, body)
            }
            TriggerAuth::StripeSignature { secret, tolerance } => {
                let secret = expected(secret)?;
                signature::stripe(header(STRIPE)?, &secret, body, &clock(tolerance))
            }
            TriggerAuth::StandardSignature { secret, tolerance } => {
                let headers = StandardHeaders {
                    id: header(STANDARD_ID)?,
                    time: header(STANDARD_TIME)?,
                    signature: header(STANDARD_SIGNATURE)?,
                };
                signature::standard(&headers, &expected(secret)?, body, &clock(tolerance))
            }
        }
    }

    /// Whether a request is allowed by a signature of its body.
    pub fn signs_body(&self) -> bool {
        !matches!(self, TriggerAuth::None | TriggerAuth::HeaderToken { .. })
    }

    /// Whether the header with this name has the token or the signature.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        match self {
            TriggerAuth::HeaderToken { header, .. } => name.eq_ignore_ascii_case(header.trim()),
            TriggerAuth::StandardSignature { .. } => name.eq_ignore_ascii_case(STANDARD_SIGNATURE),
            _ => self
                .names()
                .into_iter()
                .any(|it| name.eq_ignore_ascii_case(it)),
        }
    }

    /// Checks the settings.
    pub(super) fn check_settings(&self) -> Result<(), ConfigError> {
        let field = match self {
            TriggerAuth::HeaderToken { .. } => "auth.token",
            _ => "auth.secret",
        };
        let secret = self.secret().map(str::trim);
        if secret.is_some_and(|secret| secret.is_empty() || secret == "env:") {
            return Err(ConfigError::new(field, "it is empty"));
        }
        match (self, secret) {
            (TriggerAuth::HeaderToken { header, .. }, _) if !is_token(header.trim()) => {
                let problem = format!("`{header}` is not the name of an HTTP header");
                Err(ConfigError::new("auth.header", problem))
            }
            (TriggerAuth::StandardSignature { .. }, Some(secret))
                if !secret.starts_with("env:") && signature::standard_secret(secret).is_none() =>
            {
                Err(ConfigError::new(field, Refusal::Secret))
            }
            _ => Ok(()),
        }
    }

    /// The token or the secret, as in the settings.
    fn secret(&self) -> Option<&str> {
        match self {
            TriggerAuth::None => None,
            TriggerAuth::HeaderToken { token: secret, .. }
            | TriggerAuth::GithubSignature { secret }
            | TriggerAuth::StripeSignature { secret, .. }
            | TriggerAuth::StandardSignature { secret, .. } => Some(secret),
        }
    }

    /// The headers of a signature.
    fn names(&self) -> Vec<&'static str> {
        match self {
            TriggerAuth::None | TriggerAuth::HeaderToken { .. } => vec![],
            TriggerAuth::GithubSignature { .. } => vec![GITHUB],
            TriggerAuth::StripeSignature { .. } => vec![STRIPE],
            TriggerAuth::StandardSignature { .. } => {
                vec![STANDARD_ID, STANDARD_TIME, STANDARD_SIGNATURE]
            }
        }
    }
}

/// The token or secret, or the value of the environment variable that it names.
fn expected(token: &str) -> Result<String, Refusal> {
    let token = token.trim();
    if token.is_empty() {
        return Err(Refusal::EmptyToken);
    }
    let Some(variable) = token.strip_prefix("env:") else {
        return Ok(token.to_owned());
    };
    let variable = variable.trim().to_owned();
    match std::env::var(&variable) {
        Ok(value) if !value.trim().is_empty() => Ok(value.trim().to_owned()),
        _ => Err(Refusal::NoToken { variable }),
    }
}

/// The token or secret is not shown.
impl std::fmt::Debug for TriggerAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct(match self {
            TriggerAuth::None => return f.write_str("None"),
            TriggerAuth::HeaderToken { .. } => "HeaderToken",
            TriggerAuth::GithubSignature { .. } => "GithubSignature",
            TriggerAuth::StripeSignature { .. } => "StripeSignature",
            TriggerAuth::StandardSignature { .. } => "StandardSignature",
        });
        match self {
            TriggerAuth::HeaderToken { header, .. } => shown.field("header", header),
            TriggerAuth::StripeSignature { tolerance, .. }
            | TriggerAuth::StandardSignature { tolerance, .. } => {
                shown.field("tolerance", tolerance)
            }
            _ => &mut shown,
        };
        shown.finish_non_exhaustive()
    }
}
