//! Settings of the store.

use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
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
    listener: Option<Arc<dyn Fn(&str) + Send + Sync>>,
}

impl RedisOptions {
    /// The default settings for a server: prefix `petalflow:`, claims that last 30 seconds, 5 seconds to connect, 30 seconds for an
    /// answer.
    ///
    /// The URL is `redis://user:password@host:port/database`, or `rediss://…` for an encrypted connection (feature `tls`).
    pub fn new(url: impl Into<String>) -> Self {
        RedisOptions {
            url: url.into(),
            prefix: "petalflow:".into(),
            claim_lasts: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            root_certificates: None,
            listener: None,
        }
    }

    /// The prefix of the names of all keys. Stores with different prefixes are independent.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a claim lasts unless it is renewed. After the death of a process, its threads are free after this time. A run may
    /// lose the connection to the server for less than this time without losing its thread.
    #[must_use]
    pub fn claim_lasts(mut self, time: Duration) -> Self {
        self.claim_lasts = time.max(Duration::from_millis(1));
        self
    }

    /// The time limit for connecting.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The root certificates, in PEM, that the server's certificate is checked against. The default is those that the system
    /// trusts.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates = Some(pem.into());
        self
    }

    /// Calls a function with what is wrong with the settings of the server, once for each [`connect`](super::RedisStore::connect):
    /// that it may evict keys. Without it, it is a line of the standard error output.
    ///
    /// ```
    /// use petalflow_redis::RedisOptions;
    ///
    /// let options = RedisOptions::new("redis://localhost").on_notice(|notice| eprintln!("{notice}"));
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn on_notice(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    pub(crate) fn notify(&self, notice: &str) {
        match &self.listener {
            Some(listener) => listener(notice),
            // There is nobody else to report to.
            None => drop(writeln!(std::io::stderr(), "petalflow-redis: {notice}")),
        }
    }

    /// The time limit for an answer of the server.
    #[must_use]
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }
}

/// Without the URL, which may hold a password.
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
