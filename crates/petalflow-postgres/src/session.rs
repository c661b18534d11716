//! Claims: rows that name a session, and a lock that shows whether the session is alive. This is why claims need no lease.
//!
//! The row of a claim holds the owner of a thread and the key of its store's session. The session holds an advisory lock with that
//! key, which the server releases as soon as it sees the connection end. A claim whose lock is free is void. There is one lock per
//! store rather than one per thread because keys have 64 bits: the keys of two threads could collide.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use petalflow::checkpoint::{Claim, PendingReleases, StoreError};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;

use crate::connection::{Connection, Connector, Params};
use crate::error::{ends_connection, is_lost, is_undone, statement_error, store_error, timed_out};
use crate::rows::Reader;
use crate::sql;

/// The time between two attempts to open a lost session again.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

/// The session that holds the claims of a store.
pub(crate) struct Session {
    connector: Connector,
    key: i64,
    /// Held while the session is opened, so that it is opened once.
    current: AsyncMutex<Option<Arc<Connection>>>,
    /// Notified when the session is lost.
    closed: Arc<Notify>,
    releases: PendingReleases,
}

impl Session {
    pub(crate) async fn open(connector: Connector) -> Result<Arc<Self>, StoreError> {
        let session = Arc::new(Session {
            connector,
            // Random, so that two open stores have different keys.
            key: i64::from_ne_bytes(RandomState::new().hash_one("session").to_ne_bytes()),
            current: AsyncMutex::default(),
            closed: Arc::default(),
            releases: PendingReleases::default(),
        });
        session.connection().await?;
        tokio::spawn(reopen_when_lost(
            Arc::downgrade(&session),
            session.closed.clone(),
        ));
        Ok(session)
    }

    pub(crate) async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.release_pending().await?;
        loop {
            let granted = self
                .query(thread, sql::CLAIM, &[&thread, &owner, &self.key])
                .await?;
            if !granted.is_empty() {
                return Ok(Claim::Granted);
            }
            let other = self.query(thread, sql::OWNER, &[&thread]).await?;
            if let Some(row) = other.first() {
                let table = "claims";
                let reader = Reader { thread, table };
                let owner = reader.get(row, 0)?;
                // Nobody could release a claim without a session.
                reader.get::<i64>(row, 1)?;
                return Ok(Claim::Busy { owner });
            }
            // The claim was released in between.
        }
    }

    /// Whether the owner has the claim, and no other can get it. Asked in the session, so an answer shows that the session and its
    /// lock still exist.
    pub(crate) async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        let params: &Params<'_> = &[&thread, &owner, &self.key];
        let held = self.query(thread, sql::CONFIRM, params).await?;
        Ok(!held.is_empty())
    }

    /// Adds a claim that [`release_pending`](Self::release_pending) releases.
    pub(crate) fn release(&self, thread: &str, owner: &str) {
        self.releases.push(thread, owner);
    }

    /// Releases the claims that are pending.
    pub(crate) async fn release_pending(&self) -> Result<(), StoreError> {
        self.releases
            .release_with(async |thread, owner| {
                self.query(&thread, sql::RELEASE, &[&thread, &owner])
                    .await?;
                Ok(())
            })
            .await
    }

    /// Runs a statement in the session, and once more if the session was lost: claiming and releasing are idempotent.
    async fn query(
        &self,
        thread: &str,
        sql: &'static str,
        params: &Params<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = self.deadline();
        let mut last = false;
        loop {
            let connection = self.connection().await?;
            let Ok(result) = timeout(deadline, connection.query(sql, params)).await else {
                self.discard(&connection).await;
                return Err(timed_out("answer"));
            };
            match result {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    if ends_connection(&error) {
                        self.discard(&connection).await;
                    }
                    if last || !(is_lost(&error) || is_undone(&error)) {
                        return Err(statement_error(thread, error));
                    }
                }
            }
            last = true;
        }
    }

    /// The time limit for an answer. The server cancels a statement earlier, unless it is unreachable.
    fn deadline(&self) -> Duration {
        self.connector.options.statement_timeout + self.connector.options.connect_timeout
    }

    /// Drops a connection that is lost, even if its client has not detected it.
    async fn discard(&self, lost: &Arc<Connection>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|open| Arc::ptr_eq(open, lost)) {
            *current = None;
        }
    }

    /// The session's connection, which holds the lock. If it was lost it is opened again, and claims that no other owner has taken
    /// since are valid again.
    async fn connection(&self) -> Result<Arc<Connection>, StoreError> {
        let mut current = self.current.lock().await;
        if let Some(connection) = current
            .as_ref()
            .filter(|connection| !connection.is_closed())
        {
            return Ok(connection.clone());
        }
        let connection = self.connector.open(Some(self.closed.clone())).await?;
        let hold = async {
            let client = connection.client();
            client.batch_execute(sql::SESSION).await?;
            // Waits until the server has seen that the previous connection has ended.
            connection.query(sql::HOLD, &[&self.key]).await
        };
        match timeout(self.deadline(), hold).await {
            Ok(held) => held.map_err(store_error)?,
            Err(_) => return Err(timed_out("answer")),
        };
        Ok(current.insert(Arc::new(connection)).clone())
    }
}

/// Opens the session again as soon as it is lost, rather than when it is next used: until then others may take its claims.
/// Ends with the session.
async fn reopen_when_lost(session: Weak<Session>, closed: Arc<Notify>) {
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
            sleep(REOPEN_INTERVAL).await;
        }
    }
}
