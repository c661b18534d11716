//! Access to the database file of a [`SqliteStore`], for crates that store other data than threads.
//!
//! `petalflow-memory` stores its entries this way. The tables of all such crates are part of this crate's schema, so that one
//! version number describes the layout of the file.
//!
//! ```
//! use petalflow_sqlite::SqliteStore;
//! use petalflow_sqlite::database::{read_integer, sql_integer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let store = SqliteStore::in_memory()?;
//! let now = 1_750_000_000_000;
//! store
//!     .write_with(0, move |connection| {
//!         let put = "INSERT INTO memories (namespace, key, value, created_ms, updated_ms) VALUES (x'', 'k', '1', ?1, ?1)";
//!         connection.prepare_cached(put)?.execute([sql_integer(now)?])?;
//!         Ok(())
//!     })
//!     .await?;
//! let created = store
//!     .read_with(|connection| {
//!         let get = "SELECT created_ms FROM memories WHERE key = 'k'";
//!         Ok(connection.prepare_cached(get)?.query_row((), |row| read_integer(row, 0))?)
//!     })
//!     .await?;
//! assert_eq!(created, now);
//! # Ok(())
//! # }
//! ```

use petalflow::checkpoint::StoreError;
pub use rusqlite;
use rusqlite::Connection;

pub use crate::error::TransactionError;
pub use crate::integer::{read_integer, sql_integer};
use crate::store::SqliteStore;

impl SqliteStore {
    /// Runs `work` in a write transaction and commits it. An error rolls the transaction back.
    ///
    /// `bytes` is the approximate size of what `work` writes: large changes are made on the writer's thread. There `work` may
    /// run more than once, because several changes can share a transaction that fails as a whole.
    ///
    /// # Errors
    ///
    /// Those of `work`, and those of the transaction itself.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the database as before the call or as after it.
    pub async fn write_with<T: Send + 'static>(
        &self,
        bytes: usize,
        mut work: impl FnMut(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(result) = self.write_here(None, bytes, &mut work) {
            return result;
        }
        self.write_on_thread(None, work).await
    }

    /// Runs `work` on a connection that reads.
    ///
    /// # Errors
    ///
    /// Those of `work`, and [`Unavailable`](StoreError::Unavailable) if there is no connection.
    pub async fn read_with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_on_thread(None, work).await
    }
}
