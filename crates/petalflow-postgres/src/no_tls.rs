//! Connections that are not encrypted.

use petalflow::checkpoint::StoreError;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use crate::error::problem;
use crate::options::PostgresOptions;

/// Opens connections without encryption.
pub(crate) type Connector = NoTls;

/// # Errors
///
/// The URL requires encryption.
pub(crate) fn connector(_: &PostgresOptions, config: &Config) -> Result<Connector, StoreError> {
    if config.get_ssl_mode() == SslMode::Require {
        return Err(problem(
            "the URL has sslmode=require, but this program is built without TLS: enable the feature `tls` of petalflow-postgres",
        ));
    }
    Ok(NoTls)
}
