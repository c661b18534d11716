//! Settings of the store.

use std::fmt;
use std::time::Duration;

/// Settings of a [`PostgresStore`](super::PostgresStore).
///
/// ```
/// use std::time::Duration;
/// use petalflow_postgres::PostgresOptions;
///
/// let options = PostgresOptions::new("postgres://app@localhost/app")
///     .schema("essays")
///     .pool_size(4)
///     .connect_timeout(Duration::from_secs(2))
///     .statement_timeout(Duration::from_secs(10));
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct PostgresOptions {
    pub(crate) url: String,
    pub(crate) schema: String,
    pub(crate) pool_size: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    #[cfg(feature = "tls")]
    pub(crate) root_certificates: Option<Vec<u8>>,
}

impl PostgresOptions {
    /// The default settings for a server: schema `petalflow`, at most 8 pooled connections, 5 seconds to connect, 30 seconds for a
    /// statement.
    ///
    /// The URL is as for `psql`: `postgres://user:password@host:port/database?application_name=essays`, or
    /// `host=/run/postgresql user=app dbname=app`.
    pub fn new(url: impl Into<String>) -> Self {
        PostgresOptions {
            url: url.into(),
            schema: "petalflow".into(),
            pool_size: 8,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            root_certificates: None,
        }
    }

    /// The schema that holds the tables. It is created on the first connect. Stores with different schemas are independent.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// The most connections that are open at once, at least 1. The store opens one more for claims.
    #[must_use]
    pub fn pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections.max(1);
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

    /// The time limit for one statement, including waiting for locks. A longer one is cancelled and the call fails.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// The name of the schema, quoted for SQL.
    pub(crate) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }
}

/// Without the URL, which may hold a password.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .field("pool_size", &self.pool_size)
            .field("connect_timeout", &self.connect_timeout)
            .field("statement_timeout", &self.statement_timeout)
            .finish_non_exhaustive()
    }
}
