//! A connection that is set up for the tables of the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, Row, Statement as Prepared};

use crate::error::{problem, store_error, timed_out};
use crate::options::PostgresOptions;
use crate::tls;

/// The parameters of a statement.
pub(crate) type Params<'a> = [&'a (dyn ToSql + Sync)];

/// A parameter of a statement that the server is not asked about first.
pub(crate) type TypedParam<'a> = (&'a (dyn ToSql + Sync), Type);

/// A statement with its parameters.
#[derive(Clone, Copy)]
pub(crate) enum Statement<'a> {
    /// The server and the connection keep how it is executed.
    Kept(&'a str, &'a Params<'a>),
    /// Its text depends on what was asked for, so there are many of its kind, and none is kept.
    Once(&'a str, &'a [TypedParam<'a>]),
}

/// A connection whose search path is the schema of the store, and which prepares each statement once.
pub(crate) struct Connection {
    client: Client,
    prepared: Mutex<HashMap<Box<str>, Prepared>>,
    /// Whether a transaction of several statements may be open.
    in_transaction: AtomicBool,
}

/// Opens connections.
#[derive(Clone)]
pub(crate) struct Connector {
    config: Config,
    tls: tls::Connector,
    pub(crate) options: PostgresOptions,
    setup: String,
}

impl Connector {
    /// # Errors
    ///
    /// The URL is not valid, or needs a feature that this build does not have.
    pub(crate) fn new(options: PostgresOptions) -> Result<Self, StoreError> {
        let mut config = read_url(&options.url)?;
        detect_dead_peer(&mut config);
        let setup = format!(
            // The check for conflicts needs this isolation level. A database may have another default.
            "SET search_path TO {}; SET statement_timeout TO {}; SET default_transaction_isolation TO 'read committed'",
            options.quoted_schema(),
            options.statement_timeout.as_millis().clamp(1, 0x7fff_ffff),
        );
        Ok(Connector {
            tls: tls::connector(&options, &config)?,
            config,
            options,
            setup,
        })
    }

    /// Opens a connection. `closed` is notified when it ends.
    pub(crate) async fn open(&self, closed: Option<Arc<Notify>>) -> Result<Connection, StoreError> {
        let open = async {
            #[cfg_attr(
                not(feature = "tls"),
                expect(clippy::clone_on_copy, reason = "it is not with TLS")
            )]
            let (client, driver) = self.config.connect(self.tls.clone()).await?;
            tokio::spawn(async move {
                // The error is reported to the callers that wait for an answer.
                let _ = driver.await;
                if let Some(closed) = closed {
                    closed.notify_one();
                }
            });
            client.batch_execute(&self.setup).await?;
            Ok(client)
        };
        match timeout(self.options.connect_timeout, open).await {
            Ok(client) => Ok(Connection {
                client: client.map_err(store_error)?,
                prepared: Mutex::default(),
                in_transaction: AtomicBool::new(false),
            }),
            Err(_) => Err(timed_out("accept a connection")),
        }
    }
}

/// Sets keepalives so that the client detects within half a minute that the server's machine is unreachable, as the server does
/// for the client. The default is two hours. Settings in the URL take precedence.
fn detect_dead_peer(config: &mut Config) {
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(Duration::from_secs(10));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(5));
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
}

fn read_url(url: &str) -> Result<Config, StoreError> {
    url.parse().map_err(|error: Error| {
        // The URL may hold a password, so the message does not quote it.
        let source = std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), ToString::to_string);
        problem(format!(
            "the URL of the PostgreSQL database is not valid ({source}): write postgres://user:password@host/database"
        ))
    })
}

impl Connection {
    /// Runs a statement that is kept. See [`run`](Self::run).
    pub(crate) async fn query(&self, sql: &str, params: &Params<'_>) -> Result<Vec<Row>, Error> {
        self.run(Statement::Kept(sql, params)).await
    }

    /// Runs a statement.
    ///
    /// # Cancel safety
    ///
    /// A statement that was sent runs to its end, before those that are sent later on this connection.
    pub(crate) async fn run(&self, statement: Statement<'_>) -> Result<Vec<Row>, Error> {
        let (sql, params) = match statement {
            Statement::Kept(sql, params) => (sql, params),
            Statement::Once(sql, params) => return self.client.query_typed(sql, params).await,
        };
        let known = self.lock().get(sql).cloned();
        let statement = if let Some(statement) = known {
            statement
        } else {
            let statement = self.client.prepare(sql).await?;
            self.lock().insert(sql.into(), statement.clone());
            statement
        };
        self.client.query(&statement, params).await
    }

    /// Marks that a transaction of several statements begins or has ended.
    pub(crate) fn set_in_transaction(&self, open: bool) {
        self.in_transaction.store(open, Ordering::Relaxed);
    }

    /// Waits for the statements that were sent before, checks whether the server still answers, and rolls a transaction back that
    /// was not committed.
    pub(crate) async fn settle(&self) -> Result<(), Error> {
        if !self.in_transaction.load(Ordering::Relaxed) {
            return self.client.check_connection().await;
        }
        self.client.batch_execute("ROLLBACK").await?;
        self.set_in_transaction(false);
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Prepared>> {
        // No panic can leave it half-changed.
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
