//! What a failure of the client means for a caller.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::checkpoint::StoreError;

/// A failure as the contract names it.
pub(super) fn store_error(error: Error) -> StoreError {
    match error.code() {
        Some(code) if is_passing(code) => StoreError::Unavailable(error.into()),
        Some(_) => StoreError::Other(error.into()),
        // No word from the server: the connection is at fault.
        None => StoreError::Unavailable(error.into()),
    }
}

/// A problem in our own words.
pub(super) fn problem(words: impl Into<String>) -> StoreError {
    StoreError::Other(words.into().into())
}

/// The server did not answer in time.
pub(super) fn too_slow(doing: &str) -> StoreError {
    StoreError::Unavailable(format!("PostgreSQL took too long {doing}").into())
}

/// Whether the server has refused the statement for a reason that may not hold the next time. As it says so itself, it has
/// not done anything.
pub(super) fn is_undone(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            // The line of a write was deleted between being found and being referred to.
            SqlState::FOREIGN_KEY_VIOLATION,
        ]
        .contains(code)
    })
}

/// Whether there has been no word from the server, so that nobody knows what it has done.
pub(super) fn is_lost(error: &Error) -> bool {
    error.code().is_none()
}

/// Whether the connection is of no more use.
pub(super) fn ends_connection(error: &Error) -> bool {
    error
        .code()
        .is_none_or(|code| code.code().starts_with("57P"))
}

/// States of a server that pass: going down or coming up, full, out of room, busy, a standby that takes no writes.
fn is_passing(code: &SqlState) -> bool {
    ["08", "40", "53", "57", "58"].contains(&code.code().get(..2).unwrap_or_default())
        || [
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::FOREIGN_KEY_VIOLATION,
        ]
        .contains(code)
}
