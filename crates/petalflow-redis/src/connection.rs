//! The connection to the server.

use petalflow::checkpoint::StoreError;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, ErrorKind, FromRedisValue, RedisError, ScriptInvocation, ServerErrorKind};

use crate::options::RedisOptions;
use crate::values::damaged;

/// One connection, which all calls share. If it is lost it is opened again.
#[derive(Clone)]
pub(crate) struct Connection(ConnectionManager);

impl Connection {
    pub(crate) async fn open(options: &RedisOptions) -> Result<Self, StoreError> {
        let client = valid_client(options)?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout))
            // The caller decides how long to retry.
            .set_number_of_retries(0);
        let manager = ConnectionManager::new_with_config(client, config).await;
        manager.map(Connection).map_err(store_error)
    }

    /// Runs an idempotent script on a thread. It is sent again if the connection breaks.
    pub(crate) async fn invoke<T: FromRedisValue>(
        &self,
        thread: &str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let result = match self.once(script).await {
            Err(error) if is_lost(&error) => self.once(script).await,
            result => result,
        };
        result.map_err(|error| script_error(thread, error))
    }

    /// Runs a script that is not idempotent. If the connection breaks it is sent again with one more argument, `again`, so that it
    /// can recognize its own effect.
    pub(crate) async fn invoke_not_idempotent<T: FromRedisValue>(
        &self,
        thread: &str,
        script: &mut ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let result = match self.once(script).await {
            Err(error) if is_lost(&error) => self.once(script.arg("again")).await,
            result => result,
        };
        result.map_err(|error| script_error(thread, error))
    }

    /// What the server says of its memory. Empty if this user may not ask.
    pub(crate) async fn memory(&self) -> String {
        let memory = self.read(redis::cmd("INFO").arg("memory")).await;
        memory.unwrap_or_default()
    }

    /// Sends a command that only reads.
    pub(crate) async fn read<T: FromRedisValue>(
        &self,
        command: &redis::Cmd,
    ) -> Result<T, StoreError> {
        let read = command.query_async(&mut self.0.clone()).await;
        read.map_err(store_error)
    }

    /// # Cancel safety
    ///
    /// A script that was sent is run, before all that are sent later.
    async fn once<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, RedisError> {
        script.invoke_async(&mut self.0.clone()).await
    }
}

/// A connection for one reader, which waits on the server for as long as it wants.
#[cfg(feature = "events")]
pub(crate) async fn open_waiting(
    options: &RedisOptions,
) -> Result<redis::aio::MultiplexedConnection, StoreError> {
    let config = redis::AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.connect_timeout))
        .set_response_timeout(None);
    let client = valid_client(options)?;
    let connection = client.get_multiplexed_async_connection_with_config(&config);
    connection.await.map_err(store_error)
}

fn valid_client(options: &RedisOptions) -> Result<Client, StoreError> {
    client(options).map_err(|error| {
        // The URL may hold a password, so the message does not quote it.
        let detail = error.detail().map(|detail| format!(": {detail}"));
        StoreError::Other(
            format!(
                "the URL of the Redis server is not valid ({}{}): write redis://user:password@host/database",
                error.category(),
                detail.unwrap_or_default()
            )
            .into(),
        )
    })
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
        // The client panics if a program has several providers and no default. Another thread may set it at the same time,
        // which does no harm.
        let _ = ring::default_provider().install_default();
    }
    let certificates = TlsCertificates {
        client_tls: None,
        root_cert: options.root_certificates.clone(),
    };
    Client::build_with_tls(info, certificates)
}

/// Whether the connection has failed. A timeout does not count: a retry would wait as long again.
fn is_lost(error: &RedisError) -> bool {
    (error.is_unrecoverable_error() || error.is_io_error()) && !error.is_timeout()
}

/// The error of the store contract for an error of a script that uses this thread.
fn script_error(thread: &str, error: RedisError) -> StoreError {
    let problem = match error.code() {
        Some("CLAIMLOST") => {
            return StoreError::ClaimLost {
                thread: thread.into(),
            };
        }
        Some("DAMAGED") => error.detail().unwrap_or_default().to_string(),
        Some("WRONGTYPE") => format!("a key has a value of another type ({error})"),
        _ => return store_error(error),
    };
    damaged(thread, &problem)
}

/// The error of the store contract for an error of the client.
pub(crate) fn store_error(error: RedisError) -> StoreError {
    let is_transient = match error.kind() {
        // `Parse`: the connection ended in the middle of a reply.
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound | ErrorKind::Parse => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::BusyLoading
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
        ),
        // Out of memory, unable to save, too few replicas, another client's script that takes long.
        _ => matches!(
            error.code(),
            Some("OOM" | "MISCONF" | "NOREPLICAS" | "BUSY")
        ),
    };
    if is_transient || error.is_connection_dropped() || error.is_timeout() {
        StoreError::unavailable(advice(&error), error)
    } else {
        StoreError::other("Redis refused a command", error)
    }
}

/// What has failed, and what to do, for an error that may not occur the next time.
fn advice(error: &RedisError) -> &'static str {
    if error.is_timeout() {
        return "Redis did not answer in time: check that the server runs and is not overloaded, then try again (continue a run with \
                `resume`)";
    }
    if error.kind() == ErrorKind::Parse {
        return "the reply of Redis was cut off, or is not one of Redis: check the connection and the URL, then try again (continue \
                a run with `resume`)";
    }
    match error.code() {
        Some("OOM") => {
            "Redis has no memory left: raise its `maxmemory`, then try again (continue a run with `resume`); what was stored before \
             is intact"
        }
        Some("MISCONF") => {
            "Redis cannot save to its disk and accepts no writes: read its log, then try again (continue a run with `resume`)"
        }
        Some("READONLY" | "NOREPLICAS") => {
            "Redis accepts no writes here: connect to the primary server, and check that its replicas run"
        }
        Some(_) => {
            "Redis cannot run the command at the moment: try again (continue a run with `resume`)"
        }
        None => {
            "Redis cannot be reached: check that the server runs and accepts connections, then try again (continue a run with `resume`)"
        }
    }
}
