//! The database file, and errors that name it and say what to do.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use petalflow::checkpoint::StoreError;
use petalflow::error::{is_out_of_files, message_with_sources};
use rusqlite::{ErrorCode, ffi};

/// Why an operation on the database failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError {
    /// The operation refused: the connection is intact, and the caller gets this error.
    Refused(StoreError),
    /// SQLite failed. The caller gets a [`StoreError`] that names the file and what to do.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        TransactionError::Sql(error)
    }
}

impl TransactionError {
    /// The same error again: several writes may wait for one transaction.
    pub(crate) fn copy(&self) -> Self {
        match self {
            TransactionError::Sql(rusqlite::Error::SqliteFailure(error, message)) => {
                TransactionError::Sql(rusqlite::Error::SqliteFailure(*error, message.clone()))
            }
            TransactionError::Sql(error) => {
                TransactionError::Refused(DatabaseFile::refused(error.to_string()))
            }
            TransactionError::Refused(StoreError::Unavailable(cause)) => {
                let message = message_with_sources(&**cause);
                TransactionError::Refused(StoreError::Unavailable(message.into()))
            }
            TransactionError::Refused(error) => {
                TransactionError::Refused(DatabaseFile::refused(error.to_string()))
            }
        }
    }

    /// The error for a thread whose stored data cannot be read.
    pub(crate) fn damaged(thread: &str, problem: &str) -> Self {
        TransactionError::Refused(StoreError::Damaged {
            thread: thread.into(),
            problem: format!("{problem}; restore it from a backup"),
        })
    }

    /// Whether another connection has locked the file.
    pub(crate) fn is_busy(&self) -> bool {
        let TransactionError::Sql(error) = self else {
            return false;
        };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }
}

/// The file of a store, and how long the store waits for locks on it: what errors name.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseFile {
    pub(crate) path: Arc<Path>,
    pub(crate) busy_timeout: Duration,
    /// The file that the path named when the store was opened. Not set for a database in memory.
    pub(crate) opened: Arc<OnceLock<FileId>>,
}

/// Identifies a file independent of its path. An open file keeps its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    #[cfg(unix)]
    number: (u64, u64),
}

impl FileId {
    pub(crate) fn of(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::metadata(path)?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            (file.dev(), file.ino())
        };
        // On other systems an open file can be neither removed nor replaced.
        let _ = file;
        Ok(FileId {
            #[cfg(unix)]
            number,
        })
    }
}

impl DatabaseFile {
    /// A database in memory.
    pub(crate) fn in_memory() -> Self {
        DatabaseFile {
            path: Path::new(":memory:").into(),
            busy_timeout: Duration::ZERO,
            opened: Arc::default(),
        }
    }

    /// Fails if the file is no longer at its path. SQLite itself would continue, and lose what it writes when the last
    /// connection closes.
    pub(crate) fn check_present(&self) -> Result<(), TransactionError> {
        let Some(opened) = self.opened.get() else {
            return Ok(());
        };
        let cause = match FileId::of(&self.path) {
            Ok(found) if found == *opened => return Ok(()),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        Err(TransactionError::Refused(DatabaseFile::unavailable(
            format!(
                "`{}` was deleted, moved or replaced while it was open: put the file back, or open the store again",
                self.path.display()
            ),
            cause,
        )))
    }

    /// The error of an operation. `thread` is the thread whose data it used, if it used the data of one thread.
    pub(crate) fn store_error(
        &self,
        failure: TransactionError,
        thread: Option<&str>,
    ) -> StoreError {
        let error = match failure {
            TransactionError::Refused(error) => return error,
            TransactionError::Sql(error) => error,
        };
        let path = self.path.display();
        let code = error.sqlite_error_code();
        let cannot_open = matches!(
            code,
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
        );
        if let Some(cause) = self.out_of_files().filter(|_| cannot_open) {
            return StoreError::unavailable(format!("`{path}` cannot be opened"), cause);
        }
        let message = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => format!(
                "`{path}` was locked by another process for more than {:?}: let it finish its transaction, or raise `busy_timeout`",
                self.busy_timeout
            ),
            Some(ErrorCode::DiskFull) => format!(
                "no space left for `{path}`: free space on its disk (or raise `max_bytes`) and try again; what was stored before is intact"
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => format!(
                "`{path}` cannot be written: give this user write access to the file and its folder"
            ),
            Some(ErrorCode::CannotOpen) => format!(
                "`{path}` cannot be opened: its folder must exist, and this user must be allowed to write there, since SQLite creates files beside \
                 the database"
            ),
            Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed) => format!(
                "reading or writing `{path}` failed: check its disk and try again; what was stored before is intact"
            ),
            Some(ErrorCode::OutOfMemory | ErrorCode::OperationInterrupted) => {
                format!("SQLite could not complete the operation on `{path}`: try again")
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return damaged(&error, thread, format!("`{path}` is damaged"));
            }
            // The statements keep all constraints, unless they compute with values that this store never writes.
            Some(ErrorCode::ConstraintViolation) => {
                return damaged(
                    &error,
                    thread,
                    format!("`{path}` holds a value that this store never writes"),
                );
            }
            _ if is_logic_error(&error) => {
                return damaged(
                    &error,
                    thread,
                    format!(
                        "a statement does not fit the tables of `{path}`, which are damaged or were changed"
                    ),
                );
            }
            None if is_conversion_error(&error) => {
                return damaged(
                    &error,
                    thread,
                    format!("`{path}` holds a value of the wrong type"),
                );
            }
            _ => {
                return StoreError::other(
                    format!("SQLite refused an operation on `{path}`"),
                    error,
                );
            }
        };
        StoreError::unavailable(message, error)
    }

    /// The error of opening a file at the moment, if no file descriptor is left. SQLite does not say why it could not open a file.
    fn out_of_files(&self) -> Option<std::io::Error> {
        // Another file than the database: closing a handle to that would end SQLite's locks.
        let folder = self.path.parent()?;
        let error = std::fs::File::open(folder).err()?;
        is_out_of_files(&error).then_some(error)
    }

    /// The store cannot be used at the moment.
    pub(crate) fn unavailable(message: String, cause: Option<std::io::Error>) -> StoreError {
        if let Some(cause) = cause.as_ref().filter(|cause| is_out_of_files(*cause))
            && let Some(number) = cause.raw_os_error()
        {
            return StoreError::unavailable(message, std::io::Error::from_raw_os_error(number));
        }
        let message = match cause {
            Some(cause) => format!("{message} ({cause})"),
            None => message,
        };
        StoreError::Unavailable(message.into())
    }

    /// The file, or a value, cannot be used at all.
    pub(crate) fn refused(message: String) -> StoreError {
        StoreError::Other(message.into())
    }
}

fn damaged(error: &rusqlite::Error, thread: Option<&str>, what: String) -> StoreError {
    let problem = format!("{what} ({error}): restore it from a backup");
    match thread {
        Some(thread) => StoreError::Damaged {
            thread: thread.into(),
            problem,
        },
        None => DatabaseFile::refused(problem),
    }
}

/// Whether SQLite cannot run a statement. The statements never change, so the tables did.
fn is_logic_error(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqlInputError { error, .. } => error.extended_code == ffi::SQLITE_ERROR,
        error => error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == ffi::SQLITE_ERROR),
    }
}

/// Whether a row holds a value that this store never writes.
pub(crate) fn is_conversion_error(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
