//! The connection to the server.

use petalflow::checkpoint::StoreError;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, ErrorKind, FromRedisValue, RedisError, ScriptInvocation, ServerErrorKind};

use crate::options::RedisOptions;

/// One connection for all calls, which come one after another through it. When it is lost it is made anew.
#[derive(Clone)]
pub(crate) struct Link(ConnectionManager);

impl Link {
    pub(crate) async fn open(options: &RedisOptions) -> Result<Self, StoreError> {
        let client = client(options).map_err(|error| {
            // The url itself may hold a password and stays out of the message.
            let detail = error.detail().map(|detail| format!(": {detail}"));
            StoreError::Other(
                format!(
                    "the url of the Redis server cannot be read ({}{}): write redis://user:password@host/database",
                    error.category(),
                    detail.unwrap_or_default()
                )
                .into(),
            )
        })?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout))
            // Whoever calls decides how long to go on trying.
            .set_number_of_retries(0);
        let manager = ConnectionManager::new_with_config(client, config).await;
        manager.map(Link).map_err(store_error)
    }

    /// Runs a script that can be run twice without harm.
    pub(crate) async fn invoke<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        match self.once(script).await {
            Err(error) if is_lost(&error) => self.once(script).await.map_err(store_error),
            result => result.map_err(store_error),
        }
    }

    /// Runs a script that is told when it may have run before: it gets one argument more, `again`.
    pub(crate) async fn invoke_telling<T: FromRedisValue>(
        &self,
        script: &mut ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        match self.once(script).await {
            Err(error) if is_lost(&error) => {
                self.once(script.arg("again")).await.map_err(store_error)
            }
            result => result.map_err(store_error),
        }
    }

    /// # Cancel safety
    ///
    /// What was sent will be run, before all that is sent later.
    async fn once<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, RedisError> {
        script.invoke_async(&mut self.0.clone()).await
    }
}

#[cfg(not(feature = "tls"))]
fn client(options: &RedisOptions) -> Result<Client, RedisError> {
    Client::open(options.url.as_str())
}

#[cfg(feature = "tls")]
fn client(options: &RedisOptions) -> Result<Client, RedisError> {
    use redis::{ConnectionAddr, IntoConnectionInfo, TlsCertificates};
    use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

    let info = options.url.as_str().into_connection_info()?;
    if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        return Client::open(info);
    }
    if CryptoProvider::get_default().is_none() {
        // The client wants a default and panics where a program has several and none is it. If someone else sets it just
        // now, that will do.
        let _ = ring::default_provider().install_default();
    }
    let certificates = TlsCertificates {
        client_tls: None,
        root_cert: options.root_certificates.clone(),
    };
    Client::build_with_tls(info, certificates)
}

/// Whether the connection has failed. After a timeout there is no sense in waiting as long again.
fn is_lost(error: &RedisError) -> bool {
    (error.is_unrecoverable_error() || error.is_io_error()) && !error.is_timeout()
}

/// A failure as the contract names it.
pub(crate) fn store_error(error: RedisError) -> StoreError {
    let passes = match error.kind() {
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::BusyLoading
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
        ),
        // Out of memory, not able to save, too few replicas, a script of someone else that takes long.
        _ => matches!(
            error.code(),
            Some("OOM" | "MISCONF" | "NOREPLICAS" | "BUSY")
        ),
    };
    if passes || error.is_connection_dropped() || error.is_timeout() {
        StoreError::unavailable(words(&error), error)
    } else {
        StoreError::other("Redis refused what it was asked", error)
    }
}

/// What a failure that passes is, and what to do about it.
fn words(error: &RedisError) -> &'static str {
    if error.is_timeout() {
        return "Redis took too long to answer: see that the server runs and what keeps it busy, then try again (a run goes on with \
                `resume`)";
    }
    match error.code() {
        Some("OOM") => {
            "Redis has no memory left: raise its `maxmemory`, then try again (a run goes on with `resume`); what was stored before \
             is intact"
        }
        Some("MISCONF") => {
            "Redis cannot save to its disk and takes no writes: see what its log says, then try again (a run goes on with `resume`)"
        }
        Some("READONLY" | "NOREPLICAS") => {
            "Redis takes no writes here: connect to the primary server, and see that its replicas run"
        }
        Some(_) => "Redis could not do it just now: try again (a run goes on with `resume`)",
        None => {
            "Redis cannot be reached: see that the server runs and can be connected to, then try again (a run goes on with `resume`)"
        }
    }
}
