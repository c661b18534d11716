//! Credentials of AWS, and the signatures of requests.

use std::fmt;
use std::future::Future;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use petalflow::BoxError;
use reqwest::header::{HeaderName, HeaderValue};
use tokio::time::Instant;

use super::access_token::{renew_at, time_left};
use super::renewing::{Expires, Renewing};
use super::transport::HttpRequest;

/// Credentials of AWS, and how long they are valid.
///
/// ```
/// use petalflow_llm::AwsCredentials;
/// use std::time::Duration;
///
/// let credentials = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI")
///     .with_session_token("IQoJb3JpZ2lu")
///     .expires_in(Duration::from_secs(3_600));
/// assert!(!format!("{credentials:?}").contains("wJalr"), "the secret is not shown");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    pub(super) access_key: String,
    pub(super) secret_key: String,
    pub(super) session_token: Option<String>,
    renew_at: Option<Instant>,
}

impl AwsCredentials {
    /// The id of an access key, and its secret.
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<String>) -> Self {
        AwsCredentials {
            access_key: access_key.into(),
            secret_key: secret_key.into(),
            session_token: None,
            renew_at: None,
        }
    }

    /// Sets the token of a session, which temporary credentials have.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Self {
        self.session_token = Some(token.into());
        self
    }

    /// Sets how long the credentials are valid from now on.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.renew_at = Some(renew_at(time));
        self
    }

    /// Sets the time at which the credentials expire, as the token service of AWS names it. New ones are fetched a minute
    /// before, or a tenth of the time before, if that is less.
    ///
    /// ```
    /// use petalflow_llm::AwsCredentials;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let expiration = SystemTime::now() + Duration::from_secs(3_600);
    /// let credentials = AwsCredentials::new("ASIAEXAMPLE", "wJalrXUtnFEMI")
    ///     .with_session_token("IQoJb3JpZ2lu")
    ///     .expires_at(expiration);
    /// # let _ = credentials;
    /// ```
    #[must_use]
    pub fn expires_at(self, time: SystemTime) -> Self {
        self.expires_in(time_left(time))
    }

    /// Those of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    fn of_environment() -> Option<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let of_keys = Self::new(
            variable("AWS_ACCESS_KEY_ID")?,
            variable("AWS_SECRET_ACCESS_KEY")?,
        );
        Some(AwsCredentials {
            session_token: variable("AWS_SESSION_TOKEN"),
            ..of_keys
        })
    }
}

impl Expires for AwsCredentials {
    fn renew_at(&self) -> Option<Instant> {
        self.renew_at
    }
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsCredentials").finish_non_exhaustive()
    }
}

/// Signs requests to Bedrock in one region.
#[derive(Clone)]
pub(super) struct Signer {
    region: String,
    /// Those of the program. Others are in the environment.
    pub(super) credentials: Option<Renewing<AwsCredentials>>,
}

impl Signer {
    pub(super) fn new(region: String) -> Self {
        Signer {
            region,
            credentials: None,
        }
    }

    pub(super) fn set_source<F, Fut>(&mut self, fetch: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<AwsCredentials, BoxError>> + Send + 'static,
    {
        self.credentials = Some(Renewing::new(fetch));
    }

    /// The credentials. `None` if there are none.
    pub(super) async fn credentials(
        &self,
    ) -> Result<Option<AwsCredentials>, std::sync::Arc<BoxError>> {
        match &self.credentials {
            Some(source) => source.get().await.map(Some),
            None => Ok(AwsCredentials::of_environment()),
        }
    }

    /// Adds the signature of a request to its headers.
    pub(super) fn sign(
        &self,
        credentials: &AwsCredentials,
        request: &mut HttpRequest,
    ) -> Result<(), BoxError> {
        let identity = Credentials::new(
            &*credentials.access_key,
            &*credentials.secret_key,
            credentials.session_token.clone(),
            None,
            "petalflow",
        );
        let identity = identity.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("bedrock")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()?;
        let signed = SignableRequest::new(
            "POST",
            request.url.as_str(),
            [("content-type", "application/json")].into_iter(),
            SignableBody::Bytes(&request.body),
        )?;
        let (instructions, _) = sign(signed, &params.into())?.into_parts();
        for (name, value) in instructions.headers() {
            let mut value = HeaderValue::from_str(value)?;
            value.set_sensitive(true);
            request.headers.insert(name.parse::<HeaderName>()?, value);
        }
        Ok(())
    }
}
