//! Where a PostgreSQL store is and how it is used.

use std::fmt;
use std::time::Duration;

use crate::checkpoint::server::server_options;

/// Settings of a [`PostgresStore`](super::PostgresStore).
///
/// ```
/// use std::time::Duration;
/// use petalflow::checkpoint::PostgresOptions;
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
    pub(super) url: String,
    pub(super) schema: String,
    pub(super) pool_size: usize,
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    #[cfg(feature = "tls")]
    pub(super) root_certificates: Option<Vec<u8>>,
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

    /// How long one statement may take, waiting for locks included. A longer one is cancelled and the call fails.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// The schema as SQL writes it.
    pub(super) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }
}

server_options!(PostgresOptions);

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
