//! What a failure of the client means for a caller.

use petalflow::checkpoint::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// A failure as the contract names it.
pub(crate) fn store_error(error: Error) -> StoreError {
    match error.code() {
        Some(code) if !is_passing(code) => {
            StoreError::other("PostgreSQL refused what it was asked", error)
        }
        code => StoreError::unavailable(words(code), error),
    }
}

/// What a failure that passes is, and what to do about it.
fn words(code: Option<&SqlState>) -> &'static str {
    match code {
        // No word from the server: the connection is at fault.
        None => {
            "PostgreSQL cannot be reached: see that the server runs and can be connected to, then try again (a run goes on with \
             `resume`); what was stored before is intact"
        }
        Some(code) if code.code().starts_with("57P") => {
            "PostgreSQL is going down or coming up: try again once it runs (a run goes on with `resume`); what was stored before \
             is intact"
        }
        Some(&SqlState::DISK_FULL) => {
            "PostgreSQL has no room left: free space on its disk, then try again (a run goes on with `resume`); what was stored \
             before is intact"
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => {
            "PostgreSQL has no connection left: raise its `max_connections`, or lower `PostgresOptions::pool_size`"
        }
        Some(&SqlState::QUERY_CANCELED) => {
            "PostgreSQL took too long: see what keeps it busy, or raise `PostgresOptions::statement_timeout`"
        }
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => {
            "PostgreSQL takes no writes here: connect to the primary server, and see that the database is not set to read only"
        }
        Some(_) => "PostgreSQL could not do it just now: try again (a run goes on with `resume`)",
    }
}

/// A problem in our own words.
pub(crate) fn problem(words: impl Into<String>) -> StoreError {
    StoreError::Other(words.into().into())
}

/// The server did not answer in time.
pub(crate) fn too_slow(doing: &str) -> StoreError {
    StoreError::Unavailable(
        format!(
            "PostgreSQL took too long {doing}: see that the server runs and what keeps it busy, then try again (a run goes on with `resume`)"
        )
        .into(),
    )
}

/// Whether the server has refused the statement for a reason that may not hold the next time. As it says so itself, it has
/// not done anything.
pub(crate) fn is_undone(error: &Error) -> bool {
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
pub(crate) fn is_lost(error: &Error) -> bool {
    error.code().is_none()
}

/// Whether the connection is of no more use.
pub(crate) fn ends_connection(error: &Error) -> bool {
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
