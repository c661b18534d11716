//! The pool of connections.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};
use tokio_postgres::Row;

use crate::connection::{Connection, Connector, Params, Statement};
use crate::error::{ends_connection, is_lost, is_undone, statement_error, timed_out};
use crate::sql;

/// A connection that was idle for longer is checked before it is used. A server does not restart in less time.
const UNCHECKED_IDLE: Duration = Duration::from_millis(500);

/// Some connections, which are opened when they are needed. One call at a time uses each.
pub(crate) struct Pool {
    connector: Connector,
    permits: Semaphore,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    ready: Vec<(Connection, Instant)>,
    /// Connections whose call was dropped. Their statements may still be running.
    unsettled: Vec<Connection>,
}

/// Whether a statement may run again when it is unknown whether it ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rerun {
    /// It only reads.
    Harmless,
    /// It changes something.
    Never,
}

/// A connection that a call has taken out of the pool.
struct Lease<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
    settled: bool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        Pool {
            permits: Semaphore::new(connector.options.pool_size),
            connector,
            idle: Mutex::default(),
        }
    }

    /// Puts a connection into the pool.
    pub(crate) fn add(&self, connection: Connection) {
        self.lock().ready.push((connection, Instant::now()));
    }

    /// Runs a statement that uses this thread on some connection. It runs a second time if the first attempt certainly had no effect.
    pub(crate) async fn query(
        &self,
        thread: &str,
        rerun: Rerun,
        sql: &str,
        params: &Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.run(thread, rerun, Statement::Kept(sql, params)).await
    }

    /// As [`query`](Self::query).
    pub(crate) async fn run(
        &self,
        thread: &str,
        rerun: Rerun,
        statement: Statement<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let mut last = false;
        loop {
            // If one connection was closed, the others may be closed as well.
            let trusted = if last { Duration::ZERO } else { UNCHECKED_IDLE };
            let mut lease = self.lease(trusted).await?;
            match lease.query(self.deadline(), statement).await? {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    let harmless = rerun == Rerun::Harmless && is_lost(&error);
                    if last || !(harmless || is_undone(&error)) {
                        return Err(statement_error(thread, error));
                    }
                    last = true;
                }
            }
        }
    }

    /// Begins a transaction. If it is dropped before it is [committed](Transaction::commit), it is rolled back.
    pub(crate) async fn begin(&self, thread: &str) -> Result<Transaction<'_>, StoreError> {
        self.begin_with(thread, sql::BEGIN).await
    }

    /// Begins a transaction whose statements see what was committed before it, and which changes nothing.
    pub(crate) async fn snapshot(&self, thread: &str) -> Result<Transaction<'_>, StoreError> {
        self.begin_with(thread, sql::BEGIN_SNAPSHOT).await
    }

    async fn begin_with(
        &self,
        thread: &str,
        begin: &'static str,
    ) -> Result<Transaction<'_>, StoreError> {
        let mut last = false;
        loop {
            let trusted = if last { Duration::ZERO } else { UNCHECKED_IDLE };
            let mut lease = self.lease(trusted).await?;
            if let Some(connection) = lease.connection() {
                connection.set_in_transaction(true);
            }
            match lease
                .query(self.deadline(), Statement::Kept(begin, &[]))
                .await?
            {
                Ok(_) => {
                    lease.settled = false;
                    return Ok(Transaction { lease });
                }
                Err(error) if last || !is_lost(&error) => {
                    return Err(statement_error(thread, error));
                }
                Err(_) => last = true,
            }
        }
    }

    /// The time limit for an answer. The server cancels the statement earlier, unless it is unreachable.
    fn deadline(&self) -> Duration {
        self.connector.options.statement_timeout + self.connector.options.connect_timeout
    }

    async fn lease(&self, trusted: Duration) -> Result<Lease<'_>, StoreError> {
        let permit = match timeout(self.deadline(), self.permits.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => unreachable!("the semaphore is never closed"),
            Err(_) => return Err(timed_out("finish earlier calls")),
        };
        let mut lease = Lease {
            pool: self,
            connection: None,
            settled: false,
            _permit: permit,
        };
        // A call must come after those that were dropped before it, as it does after those that have returned.
        while let Some(connection) = self.pop_unsettled() {
            if lease.settle(connection).await {
                lease.return_to_pool();
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

    // Separate functions, so that no lock is held in the body of a loop over them.
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

/// Several statements that take effect together.
pub(crate) struct Transaction<'a> {
    lease: Lease<'a>,
}

impl Transaction<'_> {
    /// Runs a statement that uses this thread. After an error the transaction can only be dropped.
    pub(crate) async fn query(
        &mut self,
        thread: &str,
        sql: &'static str,
        params: &Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        self.run(thread, Statement::Kept(sql, params)).await
    }

    /// As [`query`](Self::query).
    pub(crate) async fn run(
        &mut self,
        thread: &str,
        statement: Statement<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let result = self.lease.query(self.lease.pool.deadline(), statement);
        let result = result.await?;
        // The next user of the connection rolls the transaction back unless it is committed.
        self.lease.settled = false;
        result.map_err(|error| statement_error(thread, error))
    }

    pub(crate) async fn commit(mut self, thread: &str) -> Result<(), StoreError> {
        self.query(thread, sql::COMMIT, &[]).await?;
        if let Some(connection) = self.lease.connection() {
            connection.set_in_transaction(false);
        }
        self.lease.settled = true;
        Ok(())
    }
}

impl Lease<'_> {
    fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Takes a connection and waits until no statement runs on it. Returns whether it can be used.
    async fn settle(&mut self, connection: Connection) -> bool {
        let deadline = self.pool.deadline();
        self.settled = false;
        let connection = self.connection.insert(connection);
        let usable = !connection.is_closed()
            && matches!(timeout(deadline, connection.settle()).await, Ok(Ok(())));
        self.settled = usable;
        if !usable {
            self.connection = None;
        }
        usable
    }

    async fn query(
        &mut self,
        deadline: Duration,
        statement: Statement<'_>,
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, StoreError> {
        self.settled = false;
        let Some(connection) = self.connection() else {
            unreachable!("a lease is handed out with a connection")
        };
        let Ok(result) = timeout(deadline, connection.run(statement)).await else {
            self.connection = None;
            return Err(timed_out("answer"));
        };
        self.settled = true;
        if result.as_ref().is_err_and(ends_connection) {
            self.connection = None;
        }
        Ok(result)
    }

    fn return_to_pool(&mut self) {
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
        self.return_to_pool();
    }
}
