//! Whether connections are encrypted.

use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::error::problem;
use super::options::PostgresOptions;
use crate::checkpoint::StoreError;

/// What secures a connection.
pub(super) type Connector = NoTls;

/// What the url says.
pub(super) fn config(options: &PostgresOptions) -> Result<Config, StoreError> {
    let config: Config = options.url.parse().map_err(|error: tokio_postgres::Error| {
        // The url itself may hold a password and stays out of the message.
        let source = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        problem(format!(
            "the url of the PostgreSQL database cannot be read ({source}): write postgres://user:password@host/database"
        ))
    })?;
    Ok(config)
}

pub(super) fn connector(_: &PostgresOptions, config: &Config) -> Result<Connector, StoreError> {
    if config.get_ssl_mode() == SslMode::Require {
        return Err(problem(
            "the url asks for sslmode=require, and this program is built without TLS: enable the feature `tls` of petalflow",
        ));
    }
    Ok(NoTls)
}
