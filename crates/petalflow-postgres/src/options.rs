//! Where a PostgreSQL store is and how it is used.

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
    /// The defaults for a server: schema `petalflow`, at most 8 pooled connections, 5 seconds to connect, 30 seconds for a
    /// statement.
    ///
    /// The url is as for `psql`: `postgres://user:password@host:port/database?application_name=essays`, or
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

    /// The schema that holds the tables: one of its own, made on the first connect. Stores with different schemas know
    /// nothing of each other.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// How many connections are open at most, at least 1. One more is kept for claims.
    #[must_use]
    pub fn pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections.max(1);
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

    /// How long one statement may take, waiting for locks included. A longer one is cancelled and the call fails.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// The schema as SQL writes it.
    pub(crate) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }
}

/// Without the url, which may hold a password.
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
