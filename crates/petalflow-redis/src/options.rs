//! Where a Redis store is and how it is used.

use std::fmt;
use std::time::Duration;

/// Settings of a [`RedisStore`](super::RedisStore).
///
/// ```
/// use std::time::Duration;
/// use petalflow_redis::RedisOptions;
///
/// let options = RedisOptions::new("redis://localhost")
///     .prefix("essays:")
///     .claim_lasts(Duration::from_secs(10))
///     .connect_timeout(Duration::from_secs(2));
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct RedisOptions {
    pub(crate) url: String,
    pub(crate) prefix: String,
    pub(crate) claim_lasts: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
    #[cfg(feature = "tls")]
    pub(crate) root_certificates: Option<Vec<u8>>,
}

impl RedisOptions {
    /// The defaults for a server: prefix `petalflow:`, claims that last 30 seconds, 5 seconds to connect, 30 seconds for an
    /// answer.
    ///
    /// The url is `redis://user:password@host:port/database`, or `rediss://…` for an encrypted connection (feature `tls`).
    pub fn new(url: impl Into<String>) -> Self {
        RedisOptions {
            url: url.into(),
            prefix: "petalflow:".into(),
            claim_lasts: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            root_certificates: None,
        }
    }

    /// What the names of all keys begin with. Stores with different prefixes know nothing of each other.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a claim lasts unless it is renewed: the time after which a thread is free when a process has died, and for
    /// which a run may be cut off from the server without losing its thread.
    #[must_use]
    pub fn claim_lasts(mut self, time: Duration) -> Self {
        self.claim_lasts = time.max(Duration::from_millis(1));
        self
    }

    /// How long connecting may take.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The certificates, in PEM, that the server's certificate must lead to. Without any they are those that the system
    /// trusts.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates = Some(pem.into());
        self
    }

    /// How long the server may take to answer.
    #[must_use]
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }
}

/// Without the url, which may hold a password.
impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("prefix", &self.prefix)
            .field("claim_lasts", &self.claim_lasts)
            .field("connect_timeout", &self.connect_timeout)
            .field("response_timeout", &self.response_timeout)
            .finish_non_exhaustive()
    }
}
