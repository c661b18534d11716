//! A memory backend in an SQLite database.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use petalflow_sqlite::SqliteStore;
use petalflow_sqlite::database::{TransactionError, read_integer, sql_integer};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::entry::{check, expiry};
use super::{Entry, MemoryBackend, MemoryError, Namespace, Page, Query};
use crate::entry::now_ms;
use crate::stored::{Stored, end_of_prefix, names, path, signed};
use petalflow::async_trait;

/// A backend that stores entries in an SQLite database: in memory, or in a file that several processes on one machine
/// can share. Clones share their connections.
///
/// The file may also contain the threads of a [`SqliteStore`].
///
/// ```
/// use petalflow_sqlite::SqliteStore;
/// use petalflow_memory::{Memory, SqliteMemory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("petalflow-memory-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let threads = SqliteStore::open(folder.join("assistant.db")).await?;
/// let memory = Memory::new(SqliteMemory::beside(&threads));
/// memory.within(["users", "ann"]).put("likes", ["tulips"]).await?;
///
/// let again = Memory::new(SqliteMemory::open(folder.join("assistant.db")).await?);
/// assert_eq!(again.list().await?.len(), 1);
/// # drop((threads, memory, again));
/// # let _ = std::fs::remove_dir_all(folder);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteMemory(SqliteStore);

impl fmt::Debug for SqliteMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteMemory").field(&self.0).finish()
    }
}

impl SqliteMemory {
    /// Opens the database at this path. Creates it if there is none. Its folder must exist and be on a local disk.
    ///
    /// ```
    /// use petalflow_memory::{Memory, SqliteMemory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("memory.db");
    /// Memory::new(SqliteMemory::open(&path).await?).put("city", "Oslo").await?;
    ///
    /// let again = Memory::new(SqliteMemory::open(&path).await?);
    /// assert_eq!(again.get("city").await?.unwrap().value, "Oslo");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`](MemoryError::Unavailable) if it cannot be opened or written now. [`Other`](MemoryError::Other)
    /// if the file is not a database, belongs to another program, or was written by a newer petalflow.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, MemoryError> {
        Ok(SqliteMemory(SqliteStore::open(path).await?))
    }

    /// Stores entries in the file of an open store, and shares its connections. To set options for the file, open the
    /// store with [`SqliteStore::options`].
    pub fn beside(store: &SqliteStore) -> Self {
        SqliteMemory(store.clone())
    }
}

/// An entry in the form that is stored.
struct Written {
    namespace: Vec<u8>,
    key: String,
    value: String,
    now: i64,
    expires: Option<i64>,
}

#[async_trait]
impl MemoryBackend for SqliteMemory {
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError> {
        let (path, owned) = (path(namespace), key.to_string());
        let found = self.0.read_with(move |connection| {
            let select = "SELECT value, created_ms, updated_ms, expires_ms FROM memories
                    WHERE namespace = ?1 AND key = ?2 AND (expires_ms IS NULL OR expires_ms > ?3)";
            let mut select = connection.prepare_cached(select)?;
            let row = select.query_row(params![path, owned, sql_integer(now_ms())?], |row| {
                read_stored(row, 0)
            });
            Ok(row.optional()?)
        });
        let found = found.await?;
        found
            .map(|found| found.entry(namespace.clone(), key.into()))
            .transpose()
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
        let entry = Written {
            namespace: path(namespace),
            key: key.into(),
            value: value.to_string(),
            now: signed(now),
            expires: expiry(now, ttl).map(signed),
        };
        let size = entry.value.len();
        let put = self
            .0
            .write_with(size, move |connection| write(connection, &entry));
        Ok(put.await?)
    }

    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError> {
        let path = path(namespace);
        let key = key.to_string();
        let delete = self
            .0
            .write_with(0, move |connection| remove(connection, &path, &key));
        Ok(delete.await?)
    }

    async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        let work = move |connection: &Connection| page(connection, &query);
        self.0.read_with(work).await?
    }
}

/// Deletes expired entries. They take up space, and a new entry would inherit their creation time.
fn forget(connection: &Connection, now: i64) -> Result<(), TransactionError> {
    let forget = "DELETE FROM memories WHERE expires_ms <= ?1";
    connection.prepare_cached(forget)?.execute([now])?;
    Ok(())
}

fn write(connection: &Connection, entry: &Written) -> Result<(), TransactionError> {
    forget(connection, entry.now)?;
    let put = "INSERT INTO memories (namespace, key, value, created_ms, updated_ms, expires_ms)
        VALUES (?1, ?2, ?3, ?4, ?4, ?5)
        ON CONFLICT (namespace, key) DO UPDATE SET value = ?3, updated_ms = ?4, expires_ms = ?5";
    connection.prepare_cached(put)?.execute(params![
        entry.namespace,
        entry.key,
        entry.value,
        entry.now,
        entry.expires
    ])?;
    Ok(())
}

fn remove(connection: &Connection, path: &[u8], key: &str) -> Result<bool, TransactionError> {
    forget(connection, signed(now_ms()))?;
    let delete = "DELETE FROM memories WHERE namespace = ?1 AND key = ?2";
    let count = connection
        .prepare_cached(delete)?
        .execute(params![path, key])?;
    Ok(count > 0)
}

/// Reads rows until the page is full. It filters here and not in SQL: a filter means the same in every backend.
fn page(
    connection: &Connection,
    query: &Query,
) -> Result<Result<Page, MemoryError>, TransactionError> {
    let first = path(&query.prefix);
    let beyond = end_of_prefix(&first);
    let (from, key) = match &query.after {
        Some(after) if path(&after.namespace) >= first => {
            (path(&after.namespace), Some(after.key.as_str()))
        }
        _ => (first, None),
    };
    let select = "SELECT namespace, key, value, created_ms, updated_ms, expires_ms FROM memories
        WHERE namespace >= ?1 AND namespace < ?2 AND (?3 IS NULL OR (namespace, key) > (?1, ?3))
            AND (expires_ms IS NULL OR expires_ms > ?4)
        ORDER BY namespace, key";
    let mut select = connection.prepare_cached(select)?;
    let rows = select.query_map(params![from, beyond, key, signed(now_ms())], |row| {
        Ok((
            row.get::<_, Vec<u8>>(0)?,
            row.get::<_, String>(1)?,
            read_stored(row, 2)?,
        ))
    })?;
    let mut failed = None;
    let rows = rows.map_while(|row| row.map_err(|error| failed = Some(error)).ok());
    let entries = rows.map(|(path, key, found)| found.entry(names(&path), key));
    let page = Page::collect(query, entries);
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(page),
    }
}

fn read_stored(row: &Row<'_>, column: usize) -> rusqlite::Result<Stored> {
    let expires: Option<i64> = row.get(column + 3)?;
    Ok(Stored {
        value: row.get(column)?,
        created_ms: read_integer(row, column + 1)?,
        updated_ms: read_integer(row, column + 2)?,
        expires_ms: expires.map(i64::unsigned_abs),
    })
}
