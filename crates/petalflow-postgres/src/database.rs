//! Access to the database of a [`PostgresStore`], for crates that store other data than threads.
//!
//! `petalflow-memory` stores its entries this way. The tables of all such crates are part of this crate's schema, so that one
//! version number describes the layout.
//!
//! ```no_run
//! use petalflow_postgres::PostgresStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let store = PostgresStore::connect("postgres://app:secret@localhost/app").await?;
//! let rows = store.read_with("SELECT count(*) FROM memories WHERE updated_ms > $1", &[&1_750_000_000_000_i64]).await?;
//! println!("{} new entries", rows[0].get::<_, i64>(0));
//! # Ok(())
//! # }
//! ```

use petalflow::checkpoint::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub use tokio_postgres;

use crate::error::UNKNOWN;
use crate::pool::Rerun;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Runs a statement that only reads, on some connection. It may run twice if the connection is lost.
    ///
    /// Each connection prepares a text once and keeps it, so a program has few different texts. Names of tables are found in the
    /// schema of the store.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](StoreError::Unavailable) if the server cannot be reached or cannot answer now, and
    /// [`Other`](StoreError::Other) if it refuses the statement.
    pub async fn read_with(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.pool()
            .query(UNKNOWN, Rerun::Harmless, sql, params)
            .await
    }

    /// Runs a statement that writes, as a transaction of its own. It runs a second time only if the first attempt certainly had no
    /// effect. Otherwise as [`read_with`](Self::read_with).
    ///
    /// # Errors
    ///
    /// Those of [`read_with`](Self::read_with).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the database as before the call or as after it.
    pub async fn write_with(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.pool().query(UNKNOWN, Rerun::Never, sql, params).await
    }
}
