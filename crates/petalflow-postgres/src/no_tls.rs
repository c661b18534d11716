//! Connections that are not encrypted.

use petalflow::checkpoint::StoreError;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use crate::error::problem;
use crate::options::PostgresOptions;

/// What makes connections secure: nothing.
pub(crate) type Connector = NoTls;

/// # Errors
///
/// The url demands what this build does not have.
pub(crate) fn connector(_: &PostgresOptions, config: &Config) -> Result<Connector, StoreError> {
    if config.get_ssl_mode() == SslMode::Require {
        return Err(problem(
            "the url asks for sslmode=require, and this program is built without TLS: enable the feature `tls` of petalflow-postgres",
        ));
    }
    Ok(NoTls)
}
