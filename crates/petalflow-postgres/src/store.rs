//! The store itself: the [`Store`] contract as statements.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use petalflow::checkpoint::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};
use tokio::runtime::Handle;

use crate::connection::{Connector, Params};
use crate::options::PostgresOptions;
use crate::pool::{Again, Pool};
use crate::prefix::first_without;
use crate::session::Session;
use crate::{layout, rows, sql};

/// Keeps checkpoints in a PostgreSQL database, version 13 or newer: for programs that run in several processes or on several
/// machines. Clones share their connections.
///
/// ```no_run
/// use petalflow::checkpoint::{Address, Store};
/// use petalflow_postgres::PostgresStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = PostgresStore::connect("postgres://app:secret@localhost/app").await?;
/// assert_eq!(store.read(Address::root("essay-42"), None).await?, None);
/// # Ok(())
/// # }
/// ```
///
/// The tables are in a schema of their own, `petalflow` unless [`PostgresOptions::schema`] says otherwise. They are made, or
/// brought up to date, when a program connects; any number of programs may connect at once. The user needs the right to
/// create a schema in the database, or to create tables in the schema that someone has made for it.
///
/// **Durability** is the database's: what a call has written is there after a crash unless `synchronous_commit` is off.
///
/// **Claims** last until they are released, until the process dies or until the last clone of the store is dropped. The store
/// keeps one more connection for them, whose end the server notices at once when a process is killed, and within half a minute
/// when its machine is lost. When the server goes away, claims can be taken by others until the store has its connection back;
/// a run that went on regardless is told by the [`Conflict`](StoreError::Conflict) of its next checkpoint. Claims do not work
/// through a proxy that gives each statement to another session, such as `PgBouncer` in its transaction mode.
///
/// **While the database is away** calls fail with [`Unavailable`](StoreError::Unavailable); once it is back they work again. A
/// statement is run a second time only if it reads, or if it is known that nothing has happened the first time.
///
/// **Encryption** takes the feature `tls`. The server's certificate is then always checked, against those that the system trusts
/// or `PostgresOptions::root_certificates`; a url with `sslmode=require` insists on encryption, and without a word about it the
/// server decides. Client certificates and channel binding are not supported. Without the feature, connections are in the
/// clear, and a url with `sslmode=require` is refused.
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    pool: Pool,
    session: Arc<Session>,
    /// Where claims are given back, as that may be asked for anywhere.
    runtime: Handle,
    options: PostgresOptions,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore")
            .field(&self.0.options)
            .finish()
    }
}

impl PostgresStore {
    /// Connects with the default [options](PostgresOptions), and makes the tables if there are none yet.
    ///
    /// Must be called within a tokio runtime, which has to last as long as the store is used.
    ///
    /// # Errors
    ///
    /// * [`Unavailable`](StoreError::Unavailable) if the server cannot be reached.
    /// * [`NewerLayout`](StoreError::NewerLayout) if a newer version of petalflow has made the tables.
    /// * [`Other`](StoreError::Other) if the url cannot be read, the server does not let us in, or the tables cannot be made.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the tables as they were or as they should be.
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::connect_with(PostgresOptions::new(url)).await
    }

    /// Connects as the options say. As [`connect`](Self::connect) otherwise.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Self::connect).
    ///
    /// # Cancel safety
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(options: PostgresOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(options.clone())?;
        let mut connection = connector.open(None).await?;
        layout::prepare(&mut connection, &options.schema).await?;
        let pool = Pool::new(connector.clone());
        pool.add(connection);
        pool.query(Again::Never, sql::FORGET_DEAD, &[]).await?;
        Ok(PostgresStore(Arc::new(Inner {
            pool,
            session: Session::open(connector).await?,
            runtime: Handle::current(),
            options,
        })))
    }

    /// The error of an append that has found another checkpoint than it should.
    async fn conflict(&self, address: Address<'_>, expected: Option<u64>) -> StoreError {
        let Address { thread, namespace } = address;
        let params: &Params<'_> = &[&thread, &namespace];
        match self
            .0
            .pool
            .query(Again::Harmless, sql::NEWEST, params)
            .await
        {
            Ok(rows) => StoreError::Conflict {
                thread: thread.into(),
                expected,
                found: rows
                    .first()
                    .and_then(|row| row.get::<_, Option<i64>>(0))
                    .map(i64::cast_unsigned),
            },
            Err(error) => error,
        }
    }
}

impl Store for PostgresStore {
    fn append<'a>(
        &'a self,
        address: Address<'a>,
        checkpoint: &'a StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let Address { thread, namespace } = address;
            let seq = rows::to_bigint(checkpoint.seq)?;
            let base = rows::to_bigint(checkpoint.base)?;
            let created_ms = rows::to_time(checkpoint.created_ms);
            let (first, last) = rows::ends(&settled);
            let pool = &self.0.pool;
            let appended = match after {
                None => {
                    let params: &Params<'_> = &[
                        &thread,
                        &namespace,
                        &seq,
                        &base,
                        &created_ms,
                        &checkpoint.bytes,
                        &first,
                        &last,
                    ];
                    pool.query(Again::Never, sql::APPEND_FIRST, params).await?
                }
                Some(after) => {
                    let after = rows::to_bigint(after)?;
                    let params: &Params<'_> = &[
                        &thread,
                        &namespace,
                        &seq,
                        &base,
                        &created_ms,
                        &checkpoint.bytes,
                        &first,
                        &last,
                        &after,
                    ];
                    pool.query(Again::Never, sql::APPEND_AFTER, params).await?
                }
            };
            if appended.is_empty() {
                return Err(self.conflict(address, after).await);
            }
            Ok(())
        })
    }

    fn write<'a>(
        &'a self,
        address: Address<'a>,
        seq: u64,
        writes: &'a [StoredWrite],
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if writes.is_empty() {
                return Ok(());
            }
            let seq = rows::to_bigint(seq)?;
            // A statement cannot replace what it has itself put there. In one order, so that two calls cannot wait for each
            // other.
            let last: BTreeMap<_, _> = writes
                .iter()
                .map(|write| {
                    (
                        (write.task.to_bytes(), write.name.as_str()),
                        write.bytes.as_slice(),
                    )
                })
                .collect();
            let tasks: Vec<&[u8]> = last.keys().map(|(task, _)| task.as_slice()).collect();
            let names: Vec<&str> = last.keys().map(|(_, name)| *name).collect();
            let bytes: Vec<&[u8]> = last.values().copied().collect();
            self.0
                .pool
                .query(
                    Again::Never,
                    sql::WRITE,
                    &[
                        &address.thread,
                        &address.namespace,
                        &seq,
                        &tasks,
                        &names,
                        &bytes,
                    ],
                )
                .await?;
            Ok(())
        })
    }

    fn read<'a>(
        &'a self,
        address: Address<'a>,
        seq: Option<u64>,
    ) -> StoreFuture<'a, Option<Stored>> {
        Box::pin(async move {
            let Address { thread, namespace } = address;
            let Ok(seq) = seq.map(i64::try_from).transpose() else {
                return Ok(None);
            };
            let rows = self
                .0
                .pool
                .query(Again::Harmless, sql::READ, &[&thread, &namespace, &seq])
                .await?;
            rows::stored(thread, &rows)
        })
    }

    fn writes<'a>(
        &'a self,
        address: Address<'a>,
        seqs: Range<u64>,
    ) -> StoreFuture<'a, Vec<(u64, StoredWrite)>> {
        Box::pin(async move {
            let Address { thread, namespace } = address;
            let (first, last) = rows::ends(&seqs);
            let rows = self
                .0
                .pool
                .query(
                    Again::Harmless,
                    sql::WRITES,
                    &[&thread, &namespace, &first, &last],
                )
                .await?;
            rows.iter().map(|row| rows::write(thread, row)).collect()
        })
    }

    fn history<'a>(
        &'a self,
        address: Address<'a>,
        before: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredCheckpoint>> {
        Box::pin(async move {
            let Address { thread, namespace } = address;
            let last = before.map_or(i64::MAX, rows::last_below);
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = self
                .0
                .pool
                .query(
                    Again::Harmless,
                    sql::HISTORY,
                    &[&thread, &namespace, &last, &limit],
                )
                .await?;
            Ok(rows.iter().map(rows::checkpoint).collect())
        })
    }

    fn namespaces<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let rows = self
                .0
                .pool
                .query(Again::Harmless, sql::NAMESPACES, &[&thread])
                .await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })
    }

    fn threads<'a>(&'a self, query: ThreadQuery<'a>) -> StoreFuture<'a, Vec<ThreadInfo>> {
        Box::pin(async move {
            let from = query.prefix.max(query.after.unwrap_or_default());
            let end = first_without(query.prefix);
            let limit = query
                .limit
                .map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
            let rows = self
                .0
                .pool
                .query(
                    Again::Harmless,
                    sql::THREADS,
                    &[&from, &query.after, &end, &limit],
                )
                .await?;
            Ok(rows.iter().map(rows::thread_info).collect())
        })
    }

    fn prune<'a>(&'a self, address: Address<'a>, seq: u64) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let Address { thread, namespace } = address;
            let last = rows::last_below(seq);
            self.0
                .pool
                .query(Again::Never, sql::PRUNE, &[&thread, &namespace, &last])
                .await?;
            Ok(())
        })
    }

    fn delete<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.0
                .pool
                .query(Again::Never, sql::DELETE, &[&thread])
                .await?;
            Ok(())
        })
    }

    fn claim<'a>(&'a self, thread: &'a str, owner: &'a str) -> StoreFuture<'a, Claim> {
        Box::pin(self.0.session.claim(thread, owner))
    }

    fn release(&self, thread: &str, owner: &str) {
        let session = &self.0.session;
        session.release(thread, owner);
        let session = session.clone();
        self.0.runtime.spawn(async move {
            // What could not be given back now is tried again before the next claim.
            let _ = session.give_back().await;
        });
    }
}
