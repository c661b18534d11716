//! A notifier that sends requests, as the specification Standard Webhooks says.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use petalflow::{BoxError, async_trait};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::json;
use sha2::Sha256;

use super::notification::Notification;
use super::notifier::Notifier;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Sends each notification as a `POST` request that is signed as the specification
/// [Standard Webhooks](https://www.standardwebhooks.com) says: with the headers `webhook-id`, `webhook-timestamp` and
/// `webhook-signature`. A receiver accepts it with any status from 200 to 299. Redirects are not followed.
///
/// The body is `{"type": "thread.finished", "timestamp": "2026-11-28T12:00:00Z", "data": {"thread": .., ..}}`. `data` has what
/// [`Notification::data`] has.
///
/// ```
/// use petalflow_server::WebhookNotifier;
///
/// let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// let notifier = WebhookNotifier::new("https://example.com/petalflow", secret)?;
/// // The secret is not printed.
/// assert!(!format!("{notifier:?}").contains("MfKQ"));
/// # Ok::<(), petalflow_server::WebhookNotifierError>(())
/// ```
pub struct WebhookNotifier {
    client: Client,
    url: Url,
    signer: Hmac<Sha256>,
}

/// Why a [`WebhookNotifier`] cannot be made.
///
/// ```
/// use petalflow_server::{WebhookNotifier, WebhookNotifierError};
///
/// let error = WebhookNotifier::new("https://example.com", "secret!").unwrap_err();
/// assert!(matches!(error, WebhookNotifierError::Secret));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookNotifierError {
    /// The URL is wrong.
    #[error("`{url}` is no URL of a receiver: {problem}")]
    Url {
        /// The URL.
        url: String,
        /// The problem.
        problem: String,
    },
    /// The secret cannot be read.
    #[error("the secret is not of the form `whsec_BASE64`: give the one that the receiver has")]
    Secret,
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {0}")]
    Client(String),
}

impl fmt::Debug for WebhookNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        f.debug_struct("WebhookNotifier")
            .field("host", &host)
            .finish_non_exhaustive()
    }
}

impl WebhookNotifier {
    /// A notifier for the receiver at this URL. The secret has the form `whsec_BASE64`.
    ///
    /// # Errors
    ///
    /// If the URL or the secret is wrong.
    pub fn new(url: &str, secret: &str) -> Result<Self, WebhookNotifierError> {
        let wrong = |problem: String| WebhookNotifierError::Url {
            url: url.to_string(),
            problem,
        };
        let read: Url = url.parse().map_err(|error| wrong(format!("{error}")))?;
        if !["http", "https"].contains(&read.scheme()) {
            return Err(wrong("begin it with `https://`".into()));
        }
        let secret = secret.strip_prefix("whsec_").unwrap_or(secret);
        let secret = STANDARD.decode(secret).ok().filter(|it| !it.is_empty());
        let secret = secret.ok_or(WebhookNotifierError::Secret)?;
        let signer =
            Hmac::<Sha256>::new_from_slice(&secret).map_err(|_| WebhookNotifierError::Secret)?;
        let tls = petalflow_llm::tls::client_config(&[]).map_err(WebhookNotifierError::Client)?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(Policy::none())
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| WebhookNotifierError::Client(error.to_string()))?;
        Ok(WebhookNotifier {
            client,
            url: read,
            signer,
        })
    }

    fn signature(&self, id: &str, seconds: u64, body: &str) -> String {
        let mut signer = self.signer.clone();
        signer.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(signer.finalize().into_bytes()))
    }
}

#[async_trait]
impl Notifier for WebhookNotifier {
    async fn notify(&self, notification: &Notification) -> Result<(), BoxError> {
        let at = i64::try_from(notification.at_ms)?;
        let body = json!({
            "type": notification.kind.as_str(),
            "timestamp": Timestamp::from_millisecond(at)?.to_string(),
            "data": notification.data,
        });
        let body = body.to_string();
        // The time of this attempt, by which the receiver refuses old requests.
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let request = self.client.post(self.url.clone());
        let request = request
            .header("content-type", "application/json")
            .header("webhook-id", &notification.id)
            .header("webhook-timestamp", seconds.to_string())
            .header(
                "webhook-signature",
                self.signature(&notification.id, seconds, &body),
            );
        // An error of the client would show the URL, which may have a secret.
        let response = request
            .body(body)
            .send()
            .await
            .map_err(reqwest::Error::without_url)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!(
                "the receiver has answered with the status {}",
                status.as_u16()
            )
            .into());
        }
        Ok(())
    }
}
