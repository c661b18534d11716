//! The lock file by which other processes know that this one is alive.
//!
//! A claim names its holder, a store that was opened; the holder keeps a lock on a file of its own beside the database for as
//! long as it lives. The operating system lets go of the lock when the process ends, in whatever way. So whoever gets the
//! lock knows that the holder is dead.
//!
//! All of this happens within write transactions of the database, of which there is one at a time over all processes. That
//! is what makes it safe: a holder that has made its file but not locked it yet, and one that looks for leftover files,
//! cannot meet.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::problem::{Failure, Place};

/// A store that was opened, as others see it.
pub(crate) struct Presence {
    /// Where the database really is: a link to it elsewhere has the same lock files.
    database: PathBuf,
    id: String,
    /// Made with the first claim, so that a store which claims nothing leaves no file.
    file: Mutex<Option<File>>,
}

impl Presence {
    /// Not announced yet.
    pub(crate) fn new(database: PathBuf) -> Self {
        let (nanoseconds, process) = (
            SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos()),
            std::process::id(),
        );
        // The standard library seeds each of these from the system's source of randomness.
        let id = RandomState::new().hash_one((nanoseconds, process));
        Presence {
            database,
            id: format!("{id:016x}"),
            file: Mutex::new(None),
        }
    }

    /// Makes the lock file if there is none, and gives the id that claims name. Within a write transaction.
    pub(crate) fn announce(&self) -> Result<&str, Failure> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            self.sweep();
            *file = Some(self.lock()?);
        }
        Ok(&self.id)
    }

    /// Whether the holder of a claim lives. Within a write transaction.
    pub(crate) fn is_alive(&self, holder: &str) -> Result<bool, Failure> {
        // It comes from a file that may have been tampered with, and becomes part of a path.
        if !is_id(holder) {
            return Ok(false);
        }
        let path = self.path_of(holder);
        let file = match open(&path) {
            Ok(file) => file,
            // A holder removes its file when it ends in peace.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            // Not knowing is no reason to grant.
            Err(error) => {
                return Err(refused(
                    format!(
                        "whether the owner of the thread is alive cannot be told: let this user read `{}`",
                        path.display()
                    ),
                    error,
                ));
            }
        };
        match file.try_lock() {
            Ok(()) => {
                // While the lock is held: nobody else looks at it, and nobody will be called so again. If it stays, a later
                // sweep takes it.
                let _ = std::fs::remove_file(&path);
                Ok(false)
            }
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(no_locks(&path, error)),
        }
    }

    /// Whether any claim may name this store.
    pub(crate) fn is_announced(&self) -> bool {
        self.file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// The id that claims name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    fn lock(&self) -> Result<File, Failure> {
        let path = self.path_of(&self.id);
        let made = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        let file = made.map_err(|error| {
            refused(
                format!(
                    "claims need a lock file: let this user make `{}`",
                    path.display()
                ),
                error,
            )
        })?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(no_locks(&path, ErrorKind::WouldBlock.into())),
            Err(TryLockError::Error(error)) => {
                let _ = std::fs::remove_file(&path);
                Err(no_locks(&path, error))
            }
        }
    }

    /// Removes what processes have left that died without a claim. What cannot be removed stays: it does no harm.
    fn sweep(&self) {
        let (Some(folder), Some(prefix)) = (self.database.parent(), self.prefix()) else {
            return;
        };
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let holder = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            // Asking removes the file of a dead one, and leaves alone what only begins like one.
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

impl Drop for Presence {
    fn drop(&mut self) {
        // Before the lock is given up with the file: who comes between finds no file, which says the same.
        if self.is_announced() {
            let _ = std::fs::remove_file(self.path_of(&self.id));
        }
    }
}

/// Whether this is an id as [`Presence::new`] makes them.
fn is_id(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 16 && text.bytes().all(is_hex)
}

/// Opens a lock file of whatever user; one that may only be read can be locked all the same.
fn open(path: &Path) -> std::io::Result<File> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
        result => result,
    }
}

fn no_locks(path: &Path, error: std::io::Error) -> Failure {
    refused(
        format!(
            "`{}` cannot be locked, and claims need that: keep the database on a local disk",
            path.display()
        ),
        error,
    )
}

fn refused(words: String, error: std::io::Error) -> Failure {
    Failure::Refused(Place::unavailable(words, Some(error)))
}
