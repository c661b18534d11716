//! The options of a database file.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a committed write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronous {
    /// A crash of the machine and a loss of power as well: each commit waits for the disk. It waits on a thread of its own, and
    /// the writes that arrive meanwhile share the next commit.
    #[default]
    Full,
    /// A crash of the process. A crash of the machine may lose the last writes, but no part of an append alone. A hundred times
    /// faster; a small write runs on the caller's thread when no other is in progress.
    Normal,
}

/// Settings of a [`SqliteStore`](crate::SqliteStore), made by [`SqliteStore::options`](crate::SqliteStore::options).
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

    /// What a committed write survives. The default is [`Synchronous::Full`].
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How long a call waits for another process that is writing, or has locked the file, before it fails. The default is five
    /// seconds.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many reads may run at once, each on a thread and a connection of its own, which are made when they are first
    /// needed. The default is two, the minimum one.
    pub fn read_connections(mut self, connections: usize) -> Self {
        self.read_connections = connections.max(1);
        self
    }

    /// The largest size of the database file. A call that needs more fails with
    /// [`StoreError::Unavailable`](petalflow::checkpoint::StoreError::Unavailable), as on a full disk. The default is no
    /// limit.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }
}
