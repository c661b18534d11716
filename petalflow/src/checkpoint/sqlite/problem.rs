//! What can go wrong with a database file, in words that name the file and the fix.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::checkpoint::StoreError;

/// How an operation on a connection ends if not well.
pub(crate) enum Failure {
    /// The operation says no; the connection is fine.
    Refused(StoreError),
    /// SQLite says no.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Sql(error)
    }
}

impl Failure {
    /// The same once more: many may wait for one transaction.
    pub(super) fn copy(&self) -> Self {
        match self {
            Failure::Sql(rusqlite::Error::SqliteFailure(error, words)) => {
                Failure::Sql(rusqlite::Error::SqliteFailure(*error, words.clone()))
            }
            Failure::Sql(error) => Failure::Refused(Place::refused(error.to_string())),
            Failure::Refused(StoreError::Unavailable(cause)) => {
                let words = crate::error::message_with_sources(&**cause);
                Failure::Refused(StoreError::Unavailable(words.into()))
            }
            Failure::Refused(error) => Failure::Refused(Place::refused(error.to_string())),
        }
    }

    /// Whether another connection had the file to itself.
    pub(super) fn is_busy(&self) -> bool {
        let Failure::Sql(error) = self else {
            return false;
        };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }
}

/// Where a store is and how patient it is: what errors have to name.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: Arc<Path>,
    pub(super) patience: Duration,
    /// Which file the path led to when the store was opened; unset for a database in memory.
    pub(super) file: Arc<OnceLock<FileId>>,
}

/// Tells a file from any other that may come to stand at its path. A file that is open keeps its number to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    #[cfg(unix)]
    number: (u64, u64),
}

impl FileId {
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::metadata(path)?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            (file.dev(), file.ino())
        };
        // Elsewhere a file that is open can be neither removed nor replaced.
        let _ = file;
        Ok(FileId {
            #[cfg(unix)]
            number,
        })
    }
}

impl Place {
    /// Refuses to go on with a file that is not at its path any more. SQLite would: what it then writes is gone when the last
    /// connection closes.
    pub(super) fn is_there(&self) -> Result<(), Failure> {
        let Some(opened) = self.file.get() else {
            return Ok(());
        };
        let cause = match FileId::of(&self.path) {
            Ok(found) if found == *opened => return Ok(()),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        Err(Failure::Refused(Place::unavailable(
            format!(
                "`{}` was deleted, moved or replaced while it was open: put the file back, or open the store again",
                self.path.display()
            ),
            cause,
        )))
    }

    /// The error of an operation, for the thread that it was about, if it was about one.
    pub(super) fn explain(&self, failure: Failure, thread: Option<&str>) -> StoreError {
        let error = match failure {
            Failure::Refused(error) => return error,
            Failure::Sql(error) => error,
        };
        let path = self.path.display();
        let words = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => format!(
                "`{path}` was locked by another process for more than {:?}: let it finish its transaction, or raise `busy_timeout`",
                self.patience
            ),
            Some(ErrorCode::DiskFull) => format!(
                "there is no room left for `{path}`: free space on its disk (or raise `max_bytes`) and try again; what was stored before is intact"
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => format!(
                "`{path}` cannot be written: give this user write access to the file and its folder"
            ),
            Some(ErrorCode::CannotOpen) => format!(
                "`{path}` cannot be opened: its folder must exist, and this user must be allowed to write there, since SQLite keeps files beside the \
                 database"
            ),
            Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed) => format!(
                "reading or writing `{path}` failed: check its disk and try again; what was stored before is intact"
            ),
            Some(ErrorCode::OutOfMemory | ErrorCode::OperationInterrupted) => {
                format!("SQLite could not go on with `{path}`: try again")
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return damaged(&error, thread, format!("`{path}` is damaged"));
            }
            None if is_of_values(&error) => {
                return damaged(
                    &error,
                    thread,
                    format!("`{path}` holds a value of the wrong kind"),
                );
            }
            _ => {
                return other(
                    format!("SQLite refused what it was asked for `{path}`"),
                    error,
                );
            }
        };
        StoreError::unavailable(words, error)
    }

    /// The store cannot be used for a reason of ours.
    pub(super) fn unavailable(words: String, cause: Option<std::io::Error>) -> StoreError {
        let words = match cause {
            Some(cause) => format!("{words} ({cause})"),
            None => words,
        };
        StoreError::Unavailable(words.into())
    }

    /// The file is not what it was taken for.
    pub(super) fn refused(words: String) -> StoreError {
        StoreError::Other(words.into())
    }
}

fn damaged(error: &rusqlite::Error, thread: Option<&str>, what: String) -> StoreError {
    let problem = format!("{what} ({error}): restore it from a backup");
    match thread {
        Some(thread) => StoreError::Damaged {
            thread: thread.into(),
            problem,
        },
        None => Place::refused(problem),
    }
}

fn other(words: String, error: rusqlite::Error) -> StoreError {
    StoreError::other(words, error)
}

/// Whether a row holds what this store would not have put there.
fn is_of_values(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
