//! Connections that are not encrypted.

use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::error::problem;
use super::options::PostgresOptions;
use crate::checkpoint::StoreError;

/// What makes connections secure: nothing.
pub(super) type Connector = NoTls;

/// # Errors
///
/// The url demands what this build does not have.
pub(super) fn connector(_: &PostgresOptions, config: &Config) -> Result<Connector, StoreError> {
    if config.get_ssl_mode() == SslMode::Require {
        return Err(problem(
            "the url asks for sslmode=require, and this program is built without TLS: enable the feature `tls` of petalflow",
        ));
    }
    Ok(NoTls)
}
