//! The store itself: the [`Store`] contract as statements.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadCount, ThreadInfo, ThreadQuery,
};
use tokio::runtime::Handle;

use crate::connection::{Connector, Params};
use crate::error::UNKNOWN;
use crate::options::PostgresOptions;
use crate::params::{AppendRow, WriteRows};
use crate::pool::{Pool, Rerun};
use crate::rows::Reader;
use crate::session::Session;
use crate::{index, layout, rows, sql};

/// Stores checkpoints in a PostgreSQL database, version 13 or newer. Clones share their connections.
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
/// The tables are in a schema of their own, by default `petalflow` ([`PostgresOptions::schema`]). They are created, or migrated,
/// when a program connects; any number of programs may connect at once. The user needs the right to create a schema in the
/// database, or to create tables in an existing schema.
///
/// **Durability** is that of the database: what a call has written survives a crash unless `synchronous_commit` is off.
///
/// **Claims** end when they are released, when the process dies, or when the last clone of the store is dropped. They need no
/// lease: the store holds a lock on one more connection, its session. The server sees the end of that connection at once when a
/// process is killed, and within half a minute when its machine is suspended or unreachable. A process that is only stopped, by a
/// signal or in a debugger, keeps its connection and so its threads, until it continues or is killed. When the server restarts or
/// ends the session, others can take the claims until the store has connected again. A run whose thread was taken gets
/// [`ClaimLost`](StoreError::ClaimLost) with its next write. Before an effect, `Context::once` asks the server in the session
/// whether the claim still holds; a process that gets no answer has no effect. Claims do not work through a proxy that runs each statement in another session, such as `PgBouncer` in transaction
/// mode.
///
/// **Space** of removed checkpoints is used again after the server's autovacuum has run, which is on by default.
/// [`reclaim`](Store::reclaim) does nothing. To make the files smaller after a large deletion, run `VACUUM FULL` on the tables of the
/// schema while no program uses them.
///
/// **While the database cannot be reached** calls fail with [`Unavailable`](StoreError::Unavailable). They work again as soon as it
/// can. A statement runs a second time only if it reads, or if the first attempt certainly had no effect.
///
/// **Encryption** needs the feature `tls`. The server's certificate is then always checked, against those that the system trusts
/// or `PostgresOptions::root_certificates`. A URL with `sslmode=require` requires encryption; without it the server decides.
/// Client certificates and channel binding are not supported. Without the feature, connections are not encrypted, and a URL with
/// `sslmode=require` is refused.
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    pool: Pool,
    session: Arc<Session>,
    /// Releases claims: `release` may be called outside of a runtime.
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
    /// Connects with the default [options](PostgresOptions), and creates the tables if they do not exist.
    ///
    /// Must be called within a tokio runtime, which has to last as long as the store is used.
    ///
    /// # Errors
    ///
    /// * [`Unavailable`](StoreError::Unavailable) if the server cannot be reached.
    /// * [`NewerLayout`](StoreError::NewerLayout) if a newer version of petalflow has created the tables.
    /// * [`Other`](StoreError::Other) if the URL is not valid, the server rejects the credentials, or the tables cannot be created.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the tables as before the call or as after it.
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::connect_with(PostgresOptions::new(url)).await
    }

    /// Connects with these options. See [`connect`](Self::connect).
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
        pool.query(UNKNOWN, Rerun::Never, sql::DELETE_DEAD_CLAIMS, &[])
            .await?;
        Ok(PostgresStore(Arc::new(Inner {
            pool,
            session: Session::open(connector).await?,
            runtime: Handle::current(),
            options,
        })))
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Fails if the owner does not have the claim on the thread.
    async fn check_claim(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let Some(owner) = owner else { return Ok(()) };
        let (pool, params): (_, &Params<'_>) = (&self.0.pool, &[&thread, &owner]);
        let held = pool.query(thread, Rerun::Harmless, sql::HELD, params);
        if held.await?.is_empty() {
            return Err(claim_lost(thread));
        }
        Ok(())
    }

    /// Runs a statement that returns no row if the claim on the thread is lost.
    async fn run_claimed(
        &self,
        thread: &str,
        sql: &'static str,
        params: &Params<'_>,
    ) -> Result<(), StoreError> {
        let rows = self.0.pool.query(thread, Rerun::Never, sql, params).await?;
        if rows.is_empty() {
            return Err(claim_lost(thread));
        }
        Ok(())
    }

    /// The error of an append that has found another newest checkpoint than expected.
    async fn conflict(&self, address: Address<'_>, expected: Option<u64>) -> StoreError {
        let Address { thread, namespace } = address;
        let params: &Params<'_> = &[&thread, &namespace];
        let pool = &self.0.pool;
        let head = pool.query(thread, Rerun::Harmless, sql::HEAD, params).await;
        let found = head.and_then(|rows| match rows.first() {
            Some(row) => rows::check_head(address, row, 0, 3),
            None => Ok(None),
        });
        match found {
            Ok(found) => StoreError::Conflict {
                thread: thread.into(),
                expected,
                found,
            },
            Err(error) => error,
        }
    }
}

fn claim_lost(thread: &str) -> StoreError {
    StoreError::ClaimLost {
        thread: thread.into(),
    }
}

impl PostgresStore {
    /// Makes the changes in one transaction. If an append finds another newest checkpoint than it expects, makes none of them, and
    /// returns its address and what it expects.
    async fn apply_once<'a>(
        &self,
        thread: &'a str,
        changes: &'a [StoreChange],
        owner: Option<&'a str>,
    ) -> Result<Option<(Address<'a>, Option<u64>)>, StoreError> {
        let mut transaction = self.0.pool.begin(thread).await?;
        let is_status = |change: &StoreChange| matches!(change, StoreChange::Status { .. });
        if changes.iter().any(is_status) {
            // Before anything else: two transactions that share the lock would wait for each other.
            transaction.query(thread, sql::LOCK, &[&thread]).await?;
        }
        for change in changes {
            match change {
                StoreChange::Append {
                    namespace,
                    checkpoint,
                    after,
                    settled,
                } => {
                    let address = Address { thread, namespace };
                    let row = AppendRow::new(address, checkpoint, *after, settled, owner)?;
                    let params = row.params();
                    let appended = transaction.query(thread, row.statement(), &params);
                    if appended.await?.is_empty() {
                        return Ok(Some((address, *after)));
                    }
                }
                StoreChange::Write {
                    namespace,
                    seq,
                    writes,
                } => {
                    let rows = WriteRows::new(Address { thread, namespace }, *seq, writes, owner)?;
                    let params = rows.params();
                    let written = transaction.query(thread, sql::WRITE, &params);
                    if written.await?.is_empty() && !writes.is_empty() {
                        return Err(claim_lost(thread));
                    }
                }
                StoreChange::Status {
                    flow,
                    status,
                    due_ms,
                } => {
                    let due_ms = due_ms.map(rows::to_time);
                    let params: &Params<'_> = &[&thread, &status.as_str(), &flow, &due_ms, &owner];
                    let set = transaction.query(thread, sql::SET_STATUS, params);
                    if set.await?.is_empty() {
                        return Err(claim_lost(thread));
                    }
                }
                StoreChange::Attributes(attributes) => {
                    let (names, values): (Vec<&str>, Vec<&[u8]>) = attributes
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.as_bytes()))
                        .unzip();
                    let params: &Params<'_> = &[&thread, &names, &values, &owner];
                    let set = transaction.query(thread, sql::SET_ATTRIBUTES, params);
                    if set.await?.is_empty() {
                        return Err(claim_lost(thread));
                    }
                }
            }
        }
        transaction.commit(thread).await?;
        Ok(None)
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let row = AppendRow::new(address, checkpoint, after, &settled, owner)?;
        let (pool, params) = (&self.0.pool, row.params());
        let mut again = false;
        loop {
            let appended = pool.query(address.thread, Rerun::Never, row.statement(), &params);
            if !appended.await?.is_empty() {
                return Ok(());
            }
            self.check_claim(address.thread, owner).await?;
            let conflict = self.conflict(address, after).await;
            // The statement may have seen the checkpoints that another transaction removed at the same time.
            let is_over =
                matches!(&conflict, StoreError::Conflict { found, .. } if *found == after);
            if again || !is_over {
                return Err(conflict);
            }
            again = true;
        }
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        if writes.is_empty() {
            return self.check_claim(address.thread, owner).await;
        }
        let rows = WriteRows::new(address, seq, writes, owner)?;
        self.run_claimed(address.thread, sql::WRITE, &rows.params())
            .await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        if changes.is_empty() {
            return self.check_claim(thread, owner).await;
        }
        let mut again = false;
        loop {
            let Some((address, after)) = self.apply_once(thread, changes, owner).await? else {
                return Ok(());
            };
            self.check_claim(thread, owner).await?;
            let conflict = self.conflict(address, after).await;
            // As in `append`.
            let is_over =
                matches!(&conflict, StoreError::Conflict { found, .. } if *found == after);
            if again || !is_over {
                return Err(conflict);
            }
            again = true;
        }
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let Address { thread, namespace } = address;
        let Ok(seq) = seq.map(i64::try_from).transpose() else {
            return Ok(None);
        };
        let rows = self
            .0
            .pool
            .query(
                thread,
                Rerun::Harmless,
                sql::READ,
                &[&thread, &namespace, &seq],
            )
            .await?;
        rows::stored(address, &rows)
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let Address { thread, namespace } = address;
        let (first, last) = rows::bounds(&seqs);
        let rows = self
            .0
            .pool
            .query(
                thread,
                Rerun::Harmless,
                sql::WRITES,
                &[&thread, &namespace, &first, &last],
            )
            .await?;
        rows.iter().map(|row| rows::write(thread, row)).collect()
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let Address { thread, namespace } = address;
        let last = before.map_or(i64::MAX, rows::last_below);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self
            .0
            .pool
            .query(
                thread,
                Rerun::Harmless,
                sql::HISTORY,
                &[&thread, &namespace, &last, &limit],
            )
            .await?;
        rows::history(address, &rows)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let rows = self
            .0
            .pool
            .query(thread, Rerun::Harmless, sql::NAMESPACES, &[&thread])
            .await?;
        let table = "lines";
        let reader = Reader { thread, table };
        rows.iter().map(|row| reader.get(row, 0)).collect()
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut snapshot = self.0.pool.snapshot(UNKNOWN).await?;
        let mut places = Vec::new();
        for part in index::parts(&query) {
            if let Some(sql) = index::window(&query, part) {
                let rows = snapshot.run(UNKNOWN, sql.with(&sql.params())).await?;
                if query.limit.is_some_and(|limit| rows.len() >= limit) {
                    places.extend(index::places(&rows)?);
                    continue;
                }
            }
            let sql = index::page(&query, part);
            let rows = snapshot.run(UNKNOWN, sql.with(&sql.params())).await?;
            places.extend(index::places(&rows)?);
        }
        if let Some(sql) = index::unlisted(&query, &places) {
            let rows = snapshot.run(UNKNOWN, sql.with(&sql.params())).await?;
            places.extend(index::places(&rows)?);
        }
        index::sort(&query, &mut places);
        let ids: Vec<&str> = places.iter().map(|place| &*place.id).collect();
        let rows = snapshot.query(UNKNOWN, sql::THREADS, &[&ids]).await?;
        snapshot.commit(UNKNOWN).await?;
        let mut found: HashMap<String, ThreadInfo> = HashMap::with_capacity(rows.len());
        for row in &rows {
            let info = rows::thread_info(row).or_else(ThreadInfo::of_damage)?;
            found.insert(info.id.clone(), info);
        }
        let infos = places.iter().map(|place| {
            let mut info = match found.remove(&place.id) {
                Some(info) => info,
                None => rows::lost_thread(&place.id)?,
            };
            if info.damage.is_some() {
                // The place in the order, so that a page can begin after it.
                (info.created_ms, info.updated_ms) = (place.time_ms, place.time_ms);
            }
            Ok(info)
        });
        infos.collect()
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        let sql = index::counts(&query);
        let (pool, params) = (&self.0.pool, sql.params());
        let rows = pool.run(UNKNOWN, Rerun::Harmless, sql.with(&params));
        index::read_counts(&rows.await?)
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        match change {
            ThreadChange::Status {
                flow,
                status,
                due_ms,
            } => {
                let due_ms = due_ms.map(rows::to_time);
                let params: &Params<'_> = &[&thread, &status.as_str(), &flow, &due_ms, &owner];
                self.run_claimed(thread, sql::SET_STATUS, params).await
            }
            ThreadChange::Labels(labels) => {
                let (names, values): (Vec<&str>, Vec<&str>) = labels
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .unzip();
                let params: &Params<'_> = &[&thread, &names, &values, &owner];
                self.run_claimed(thread, sql::SET_LABELS, params).await
            }
        }
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let Address { thread, namespace } = address;
        let (last, last_write) = (rows::last_below(seq), rows::last_below(writes));
        let params: &Params<'_> = &[&thread, &namespace, &last, &owner, &last_write];
        self.run_claimed(thread, sql::PRUNE, params).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.delete_many(&[thread], owner).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let pool = &self.0.pool;
        let first = threads.first().copied().unwrap_or(UNKNOWN);
        let params: &Params<'_> = &[&threads, &owner];
        let left = pool.query(first, Rerun::Never, sql::DELETE, params).await?;
        let Some(row) = left.first() else {
            return Ok(());
        };
        let (thread, table) = (first, "claims");
        let lost: String = Reader { thread, table }.get(row, 0)?;
        Err(claim_lost(&lost))
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        let pool = &self.0.pool;
        let rows = pool
            .query(thread, Rerun::Harmless, sql::DELETIONS, &[])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(0);
        };
        let table = "threads";
        let reader = Reader { thread, table };
        let [deleted, again]: [i64; 2] = [reader.get(row, 0)?, reader.get(row, 1)?];
        if deleted != again {
            return Err(reader.damaged(&format!(
                "the row without a thread counts {deleted} threads that were deleted, and the table `layout` counts {again}"
            )));
        }
        Ok(deleted.unsigned_abs())
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        let pool = &self.0.pool;
        let problems = pool.query(UNKNOWN, Rerun::Harmless, sql::VERIFY, &[]);
        let (thread, table) = (UNKNOWN, "lines");
        let problem = |row| Reader { thread, table }.get::<String>(row, 0);
        let problems = problems.await?;
        let problems = problems.iter().map(problem);
        problems
            .map(|problem| Ok(format!("{}; restore it from a backup", problem?)))
            .collect()
    }

    async fn now_ms(&self) -> Result<u64, StoreError> {
        let pool = &self.0.pool;
        let rows = pool.query("", Rerun::Harmless, sql::NOW, &[]).await?;
        let none = || StoreError::other("the server has no clock", "it has returned no time");
        let row = rows.first().ok_or_else(none)?;
        let (thread, table) = ("", "the clock");
        let now: i64 = Reader { thread, table }.get(row, 0)?;
        Ok(now.unsigned_abs())
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.0.session.claim(thread, owner).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.0.session.confirm(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        let session = &self.0.session;
        session.release(thread, owner);
        let session = session.clone();
        self.0.runtime.spawn(async move {
            // A release that fails is repeated before the next claim.
            let _ = session.release_pending().await;
        });
    }
}
