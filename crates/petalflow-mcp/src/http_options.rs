//! The options of the server over HTTP.

use std::time::Duration;

/// The options of the server over HTTP.
#[derive(Clone)]
pub(super) struct HttpOptions {
    pub(super) header_timeout: Duration,
    pub(super) max_connections: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            header_timeout: Duration::from_secs(30),
            max_connections: 512,
        }
    }
}
