//! Claims: rows that name a session, and a lock that shows whether the session is alive.
//!
//! A row says which owner has a thread and the key of its store's session. The session holds an advisory lock of that key, so
//! it is free as soon as the server sees the connection end, and a row whose key is free is worth nothing. The lock is one per
//! store rather than one per thread because keys have 64 bits: with one per thread, two threads could get in each other's way.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use petalflow::checkpoint::PendingReleases;
use petalflow::checkpoint::{Claim, StoreError};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;

use crate::connection::{Connection, Connector, Params};
use crate::error::{ends_connection, is_lost, is_undone, store_error, too_slow};
use crate::sql;

/// How long to wait before trying again to get a lost session back.
const PAUSE: Duration = Duration::from_secs(1);

/// The session in which a store claims.
pub(crate) struct Session {
    connector: Connector,
    key: i64,
    /// Held while the session is opened, so that it is opened once.
    current: AsyncMutex<Option<Arc<Connection>>>,
    /// Told when the session is lost.
    closed: Arc<Notify>,
    releases: PendingReleases,
}

impl Session {
    pub(crate) async fn open(connector: Connector) -> Result<Arc<Self>, StoreError> {
        let session = Arc::new(Session {
            connector,
            // A random number; two stores that are alive at once will not have the same.
            key: i64::from_ne_bytes(RandomState::new().hash_one("session").to_ne_bytes()),
            current: AsyncMutex::default(),
            closed: Arc::default(),
            releases: PendingReleases::default(),
        });
        session.connection().await?;
        tokio::spawn(keep(Arc::downgrade(&session), session.closed.clone()));
        Ok(session)
    }

    pub(crate) async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.give_back().await?;
        loop {
            let granted = self
                .query(sql::CLAIM, &[&thread, &owner, &self.key])
                .await?;
            if !granted.is_empty() {
                return Ok(Claim::Granted);
            }
            let other = self.query(sql::OWNER, &[&thread]).await?;
            if let Some(row) = other.first() {
                return Ok(Claim::Busy { owner: row.get(0) });
            }
            // It was given back in between.
        }
    }

    /// Notes that a claim is to be given back, which [`give_back`](Self::give_back) does.
    pub(crate) fn release(&self, thread: &str, owner: &str) {
        self.releases.push(thread, owner);
    }

    /// Gives back what is to be given back.
    ///
    /// # Cancel safety
    ///
    /// What was not given back stays noted.
    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        let mut turn = self.releases.lock().await;
        while let Some((thread, owner)) = turn.next() {
            self.query(sql::RELEASE, &[&thread, &owner]).await?;
            turn.done();
        }
        Ok(())
    }

    /// Runs a statement in the session, once more if the session was lost: claiming or giving back twice is the same as
    /// once.
    async fn query(&self, sql: &'static str, params: &Params<'_>) -> Result<Vec<Row>, StoreError> {
        let patience =
            self.connector.options.statement_timeout + self.connector.options.connect_timeout;
        let mut last = false;
        loop {
            let connection = self.connection().await?;
            let Ok(result) = timeout(patience, connection.query(sql, params)).await else {
                self.forget(&connection).await;
                return Err(too_slow("to answer"));
            };
            match result {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    if ends_connection(&error) {
                        self.forget(&connection).await;
                    }
                    if last || !(is_lost(&error) || is_undone(&error)) {
                        return Err(store_error(error));
                    }
                }
            }
            last = true;
        }
    }

    /// Gives a connection up that may not know yet that it is lost.
    async fn forget(&self, lost: &Arc<Connection>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|open| Arc::ptr_eq(open, lost)) {
            *current = None;
        }
    }

    /// The session's connection, which holds the lock. If it was lost, claims that nobody has taken since are ours again.
    async fn connection(&self) -> Result<Arc<Connection>, StoreError> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current
            .as_ref()
            .filter(|connection| !connection.is_closed())
        {
            return Ok(connection.clone());
        }
        let connection = self.connector.open(Some(self.closed.clone())).await?;
        connection
            .client()
            .batch_execute(sql::SESSION)
            .await
            .map_err(store_error)?;
        // Waits if the server has not yet seen that the connection before is gone.
        connection
            .query(sql::HOLD, &[&self.key])
            .await
            .map_err(store_error)?;
        Ok(current.insert(Arc::new(connection)).clone())
    }
}

/// Gets the session back as soon as it is lost, rather than when it is next used: until then others may take its claims.
/// Ends with the session.
async fn keep(session: Weak<Session>, closed: Arc<Notify>) {
    loop {
        closed.notified().await;
        loop {
            let Some(session) = session.upgrade() else {
                return;
            };
            if session.connection().await.is_ok() {
                break;
            }
            drop(session);
            sleep(PAUSE).await;
        }
    }
}
