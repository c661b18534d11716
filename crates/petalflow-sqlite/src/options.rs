//! How a database file is opened and used.

use std::path::{Path, PathBuf};
use std::time::Duration;

use petalflow::checkpoint::StoreError;

use crate::SqliteStore;

/// What a call that has returned survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronous {
    /// Also a crash of the machine and a loss of power: each commit waits for the disk. It does so on a thread of its own,
    /// and what is appended meanwhile shares the next wait.
    #[default]
    Full,
    /// A crash of the process; one of the machine may take the last moments, never more and never half of an append. A
    /// hundred times faster, and done where it is called when nothing else is being written.
    Normal,
}

/// Settings of a [`SqliteStore`], made by [`SqliteStore::options`].
///
/// ```
/// use std::time::Duration;
///
/// use petalflow_sqlite::{SqliteStore, Synchronous};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let path = std::env::temp_dir().join(format!("petalflow-options-{}.db", std::process::id()));
/// let store = SqliteStore::options(&path)
///     .synchronous(Synchronous::Normal)
///     .busy_timeout(Duration::from_secs(1))
///     .read_connections(4)
///     .open()
///     .await?;
/// # drop(store);
/// # let _ = std::fs::remove_file(path);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open` is called"]
pub struct SqliteOptions {
    pub(crate) path: PathBuf,
    pub(crate) synchronous: Synchronous,
    pub(crate) busy_timeout: Duration,
    pub(crate) read_connections: usize,
    pub(crate) max_bytes: Option<u64>,
}

impl SqliteOptions {
    pub(crate) fn new(path: &Path) -> Self {
        SqliteOptions {
            path: path.into(),
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            read_connections: 2,
            max_bytes: None,
        }
    }

    /// What a call that has returned survives; [`Synchronous::Full`] unless said otherwise.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How long to wait for another process that is writing, or has locked the file, before a call fails; five seconds unless
    /// said otherwise.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many reads may go on at once, each on a thread and a connection of its own that are made when first needed; two
    /// unless said otherwise, at least one.
    pub fn read_connections(mut self, connections: usize) -> Self {
        self.read_connections = connections.max(1);
        self
    }

    /// The largest size of the database file; a call that would need more fails with [`StoreError::Unavailable`], as on a full
    /// disk. There is no limit unless said otherwise.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Opens the store, and makes the file if there is none.
    ///
    /// # Errors
    ///
    /// See [`SqliteStore::open`].
    ///
    /// # Cancel safety
    ///
    /// As [`SqliteStore::open`].
    pub async fn open(self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(self).await
    }
}
