//! Tokens that a program fetches.

use std::fmt;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::renewing::Expires;

/// A token for a server, and how long it is valid: what the callback of
/// [`ProviderModel::with_token`](crate::ProviderModel::with_token) returns.
///
/// A new token is fetched a minute before this one expires, or a tenth of its time before, if that is less.
///
/// ```
/// use petalflow_llm::AccessToken;
/// use std::time::Duration;
///
/// let token = AccessToken::new("ya29.a0Af").expires_in(Duration::from_secs(3_600));
/// assert!(!format!("{token:?}").contains("ya29"), "the token is not shown");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub(super) text: String,
    renew_at: Option<Instant>,
}

impl AccessToken {
    /// A token that is used until a server refuses it. White space around it is removed.
    pub fn new(token: impl Into<String>) -> Self {
        let token: String = token.into();
        AccessToken {
            text: token.trim().to_string(),
            renew_at: None,
        }
    }

    /// Sets how long the token is valid from now on.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.renew_at = Some(renew_at(time));
        self
    }

    /// Sets the time at which the token expires.
    ///
    /// ```
    /// use petalflow_llm::AccessToken;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let token = AccessToken::new("ya29.a0Af").expires_at(SystemTime::now() + Duration::from_secs(3_600));
    /// # let _ = token;
    /// ```
    #[must_use]
    pub fn expires_at(self, time: SystemTime) -> Self {
        self.expires_in(time_left(time))
    }
}

/// The time that is left until then; zero if it has passed.
pub(super) fn time_left(until: SystemTime) -> Duration {
    let left = until.duration_since(SystemTime::now());
    left.unwrap_or_default()
}

/// When to fetch the value after one that is valid for this time: before it expires on the way to the server.
pub(super) fn renew_at(valid: Duration) -> Instant {
    const MARGIN: Duration = Duration::from_mins(1);
    // The clock cannot represent some times that are far away.
    const FAR: Duration = Duration::from_hours(24 * 365);
    Instant::now() + valid.min(FAR).saturating_sub(MARGIN.min(valid / 10))
}

impl Expires for AccessToken {
    fn renew_at(&self) -> Option<Instant> {
        self.renew_at
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").finish_non_exhaustive()
    }
}
