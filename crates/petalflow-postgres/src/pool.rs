//! The connections of a store.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};
use tokio_postgres::Row;

use crate::connection::{Connection, Connector, Params};
use crate::error::{ends_connection, is_lost, is_undone, store_error, too_slow};

/// A connection that was idle for so long is asked whether it is still there before it is used. A server does not restart
/// in less.
const TRUSTED: Duration = Duration::from_millis(500);

/// A few connections, opened when they are needed and used by one call at a time.
pub(crate) struct Pool {
    connector: Connector,
    room: Semaphore,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    ready: Vec<(Connection, Instant)>,
    /// Those whose call was dropped: what it has sent may still be running.
    unsettled: Vec<Connection>,
}

/// Whether a statement may be run again when nobody knows whether it ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It only reads.
    Harmless,
    /// It changes something.
    Never,
}

/// A connection that is out of the pool.
struct Lease<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
    settled: bool,
    _room: SemaphorePermit<'a>,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        Pool {
            room: Semaphore::new(connector.options.pool_size),
            connector,
            idle: Mutex::default(),
        }
    }

    /// Puts a connection into the pool.
    pub(crate) fn add(&self, connection: Connection) {
        self.lock().ready.push((connection, Instant::now()));
    }

    /// Runs a statement on some connection. It is run a second time where nothing can have happened the first time.
    pub(crate) async fn query(
        &self,
        again: Again,
        sql: &'static str,
        params: &Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let mut last = false;
        loop {
            // Where one connection has gone stale, so may the others have.
            let trusted = if last { Duration::ZERO } else { TRUSTED };
            let mut lease = self.lease(trusted).await?;
            match lease.query(self.patience(), sql, params).await? {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    let harmless = again == Again::Harmless && is_lost(&error);
                    if last || !(harmless || is_undone(&error)) {
                        return Err(store_error(error));
                    }
                    last = true;
                }
            }
        }
    }

    /// How long we wait for an answer. The server gives up before, unless it is gone without a word.
    fn patience(&self) -> Duration {
        self.connector.options.statement_timeout + self.connector.options.connect_timeout
    }

    async fn lease(&self, trusted: Duration) -> Result<Lease<'_>, StoreError> {
        let room = match timeout(self.patience(), self.room.acquire()).await {
            Ok(Ok(room)) => room,
            Ok(Err(_)) => unreachable!("the semaphore is never closed"),
            Err(_) => return Err(too_slow("with the calls before this one")),
        };
        let mut lease = Lease {
            pool: self,
            connection: None,
            settled: false,
            _room: room,
        };
        // Calls come after those that were dropped before them, as they do after those that have returned.
        while let Some(connection) = self.pop_unsettled() {
            if lease.settle(connection).await {
                lease.give_back();
            }
        }
        while let Some((connection, since)) = self.pop_ready() {
            let usable = if since.elapsed() < trusted {
                lease.connection = Some(connection);
                lease.connection().is_some_and(|open| !open.is_closed())
            } else {
                lease.settle(connection).await
            };
            if usable {
                return Ok(lease);
            }
        }
        lease.connection = Some(self.connector.open(None).await?);
        lease.settled = true;
        Ok(lease)
    }

    // Functions of their own, so that no lock is held in the body of a loop over them.
    fn pop_unsettled(&self) -> Option<Connection> {
        self.lock().unsettled.pop()
    }

    fn pop_ready(&self) -> Option<(Connection, Instant)> {
        self.lock().ready.pop()
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // No panic can leave it half-changed: each use only pushes or pops.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease<'_> {
    fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Takes a connection and waits until nothing runs on it any more. Whether it can be used.
    async fn settle(&mut self, connection: Connection) -> bool {
        let patience = self.pool.patience();
        self.settled = false;
        let connection = self.connection.insert(connection);
        let usable = !connection.is_closed()
            && matches!(timeout(patience, connection.settle()).await, Ok(Ok(())));
        self.settled = usable;
        if !usable {
            self.connection = None;
        }
        usable
    }

    async fn query(
        &mut self,
        patience: Duration,
        sql: &'static str,
        params: &Params<'_>,
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, StoreError> {
        self.settled = false;
        let Some(connection) = self.connection() else {
            unreachable!("a lease is handed out with a connection")
        };
        let Ok(result) = timeout(patience, connection.query(sql, params)).await else {
            self.connection = None;
            return Err(too_slow("to answer"));
        };
        self.settled = true;
        if result.as_ref().is_err_and(ends_connection) {
            self.connection = None;
        }
        Ok(result)
    }

    fn give_back(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        if connection.is_closed() {
            return;
        }
        if self.settled {
            self.pool.add(connection);
        } else {
            self.pool.lock().unsettled.push(connection);
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}
