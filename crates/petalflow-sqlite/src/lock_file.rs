//! The lock file by which other processes see that a store is open. This is why claims need no lease.
//!
//! A claim names its holder: a store that is open in some process. While it is open, the holder locks a file of its own beside
//! the database. The operating system releases the lock when the process ends, also if it is killed. A process that gets the lock
//! therefore knows that the holder is gone, and that its claims are void: nothing needs renewing, and no thread stays claimed
//! after a crash.
//!
//! All of this happens within write transactions of the database, of which there is one at a time over all processes. So a
//! holder that has created its file but not locked it yet never runs at the same time as a process that removes stale files.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::{DatabaseFile, TransactionError};

/// The lock file of a store that is open.
pub(crate) struct LockFile {
    /// The canonical path of the database: through a link to it elsewhere, the lock files are the same.
    database: PathBuf,
    id: String,
    /// Created with the first claim, so that a store without claims leaves no file.
    file: Mutex<Option<File>>,
}

impl LockFile {
    /// The file is not created yet.
    pub(crate) fn new(database: PathBuf) -> Self {
        let (nanoseconds, process) = (
            SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos()),
            std::process::id(),
        );
        // The standard library seeds each `RandomState` from the system's source of randomness.
        let id = RandomState::new().hash_one((nanoseconds, process));
        LockFile {
            database,
            id: format!("{id:016x}"),
            file: Mutex::new(None),
        }
    }

    /// Creates and locks the file if there is none, and returns the id by which claims name this store. Within a write
    /// transaction.
    pub(crate) fn acquire(&self) -> Result<&str, TransactionError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            self.remove_stale_files();
            *file = Some(self.create()?);
        }
        Ok(&self.id)
    }

    /// Whether the holder of a claim is still open. Within a write transaction.
    pub(crate) fn is_alive(&self, holder: &str) -> Result<bool, TransactionError> {
        // The id was read from the database, may have been tampered with, and becomes part of a path.
        if !is_id(holder) {
            return Ok(false);
        }
        let path = self.path_of(holder);
        let file = match open(&path) {
            Ok(file) => file,
            // A holder removes its file when it is closed.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            // The claim is not granted while its holder's state is unknown.
            Err(error) => {
                return Err(unavailable(
                    format!(
                        "cannot check whether the owner of the thread is alive: let this user read `{}`",
                        path.display()
                    ),
                    error,
                ));
            }
        };
        match file.try_lock() {
            Ok(()) => {
                // Removed under the lock: no other process checks it now, and no later holder gets this id. If removing
                // fails, a later call of `remove_stale_files` does it.
                let _ = std::fs::remove_file(&path);
                Ok(false)
            }
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(cannot_lock(&path, error)),
        }
    }

    /// Whether the file exists: whether claims may name this store.
    pub(crate) fn exists(&self) -> bool {
        self.file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// The id by which claims name this store.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    fn create(&self) -> Result<File, TransactionError> {
        let path = self.path_of(&self.id);
        let created = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        let file = created.map_err(|error| {
            unavailable(
                format!(
                    "claims need a lock file: let this user create `{}`",
                    path.display()
                ),
                error,
            )
        })?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(cannot_lock(&path, ErrorKind::WouldBlock.into())),
            Err(TryLockError::Error(error)) => {
                let _ = std::fs::remove_file(&path);
                Err(cannot_lock(&path, error))
            }
        }
    }

    /// Removes the files of processes that ended without closing their store. A file that cannot be removed does no harm.
    fn remove_stale_files(&self) {
        let (Some(folder), Some(prefix)) = (self.database.parent(), self.prefix()) else {
            return;
        };
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let holder = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            // `is_alive` removes the file of a dead holder, and ignores a file whose name only has the same prefix.
            if let Some(holder) = holder {
                let _ = self.is_alive(holder);
            }
        }
    }

    fn prefix(&self) -> Option<String> {
        Some(format!("{}-lock-", self.database.file_name()?.to_str()?))
    }

    fn path_of(&self, holder: &str) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push("-lock-");
        name.push(holder);
        name.into()
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Removed before the lock is released. A process that looks in between finds no file, which means the same.
        if self.exists() {
            let _ = std::fs::remove_file(self.path_of(&self.id));
        }
    }
}

/// Whether this is an id that [`LockFile::new`] can have made.
fn is_id(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 16 && text.bytes().all(is_hex)
}

/// Opens the lock file of any user. A file that can only be read can be locked as well.
fn open(path: &Path) -> std::io::Result<File> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
        result => result,
    }
}

fn cannot_lock(path: &Path, error: std::io::Error) -> TransactionError {
    unavailable(
        format!(
            "`{}` cannot be locked, which claims need: put the database on a local disk",
            path.display()
        ),
        error,
    )
}

fn unavailable(message: String, error: std::io::Error) -> TransactionError {
    TransactionError::Refused(DatabaseFile::unavailable(message, Some(error)))
}
