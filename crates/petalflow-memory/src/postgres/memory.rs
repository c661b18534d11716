//! The backend itself: the contract of memories as statements.

use std::fmt;
use std::time::Duration;

use petalflow::async_trait;
use petalflow_postgres::PostgresStore;
use petalflow_postgres::database::tokio_postgres::types::ToSql;
use serde_json::Value;

use super::range::Range;
use super::{rows, sql};
use crate::entry::{check, expiry, now_ms};
use crate::stored::{signed, sort_key};
use crate::{Entry, MemoryBackend, MemoryError, Namespace, Page, Query};

/// How many entries a query with a filter and a limit reads at once, at least.
const BATCH: usize = 256;

/// A backend that stores entries in a PostgreSQL database, which processes on several machines can share. Clones share
/// their connections.
///
/// The tables are in the schema of a [`PostgresStore`], which may also contain threads. Times are those of the process
/// that puts an entry: keep the clocks of the machines synchronized, since an entry expires by the clock of its reader.
///
/// ```no_run
/// use petalflow_memory::{Memory, PostgresMemory};
/// use petalflow_postgres::PostgresStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let threads = PostgresStore::connect("postgres://app:secret@localhost/app").await?;
/// let memory = Memory::new(PostgresMemory::beside(&threads));
/// memory.within(["users", "ann"]).put("likes", ["tulips"]).await?;
/// assert_eq!(memory.within(["users", "ann"]).list().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresMemory(pub(super) PostgresStore);

impl fmt::Debug for PostgresMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresMemory").field(&self.0).finish()
    }
}

impl PostgresMemory {
    /// Connects to the database of this URL with the default options, and creates the tables if they do not exist. See
    /// [`PostgresStore::connect`].
    ///
    /// ```no_run
    /// use petalflow_memory::{Memory, PostgresMemory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = PostgresMemory::connect("postgres://app:secret@localhost/app").await?;
    /// Memory::new(memory).put("city", "Oslo").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`](MemoryError::Unavailable) if the server cannot be reached. [`Other`](MemoryError::Other) if the
    /// URL is not valid, the server rejects the credentials, or the tables were made by a newer petalflow.
    pub async fn connect(url: impl Into<String>) -> Result<Self, MemoryError> {
        Ok(PostgresMemory(PostgresStore::connect(url).await?))
    }

    /// Stores entries in the schema of an open store, and shares its connections. To set options, connect the store
    /// with [`PostgresStore::connect_with`].
    pub fn beside(store: &PostgresStore) -> Self {
        PostgresMemory(store.clone())
    }

    /// At most this many entries of a range, in order.
    async fn list(&self, range: &Range, limit: Option<usize>) -> Result<Vec<Entry>, MemoryError> {
        let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let params = range.params(&[&limit]);
        let rows = self.0.read_with(sql::LIST, &params).await?;
        rows.iter().map(rows::entry).collect()
    }
}

#[async_trait]
impl MemoryBackend for PostgresMemory {
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError> {
        let params: &[&(dyn ToSql + Sync)] = &[&sort_key(namespace, key), &signed(now_ms())];
        let rows = self.0.read_with(sql::GET, params).await?;
        rows.first().map(rows::entry).transpose()
    }

    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError> {
        check(&value)?;
        let now = now_ms();
        let expires = expiry(now, ttl).map(signed);
        let params: &[&(dyn ToSql + Sync)] = &[
            &sort_key(namespace, key),
            &value.to_string(),
            &signed(now),
            &expires,
        ];
        self.0.write_with(sql::PUT, params).await?;
        Ok(())
    }

    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError> {
        let params: &[&(dyn ToSql + Sync)] = &[&sort_key(namespace, key), &signed(now_ms())];
        let rows = self.0.write_with(sql::DELETE, params).await?;
        Ok(!rows.is_empty())
    }

    /// It filters here and not in SQL: a filter means the same in every backend.
    async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        let mut range = Range::of(&query);
        // One entry more tells whether there is another page.
        let needed = query.limit.map(|limit| limit.saturating_add(1));
        let batch = match query.filter {
            Some(_) => needed.map(|needed| needed.max(BATCH)),
            None => needed,
        };
        let mut entries = Vec::new();
        loop {
            let read = self.list(&range, batch).await?;
            let is_last = batch.is_none_or(|batch| read.len() < batch);
            if let Some(last) = read.last() {
                range.continue_after(sort_key(&last.namespace, &last.key));
            }
            entries.extend(read.into_iter().filter(|entry| query.matches(entry)));
            if is_last || needed.is_some_and(|needed| entries.len() >= needed) {
                return Page::collect(&query, entries.into_iter().map(Ok));
            }
        }
    }
}
