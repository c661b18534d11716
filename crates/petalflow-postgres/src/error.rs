//! Errors of the client as errors of the store contract, with what to do.

use petalflow::checkpoint::StoreError;
use petalflow::error::message_with_sources;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The error of the store contract for an error of the client.
pub(crate) fn store_error(error: Error) -> StoreError {
    match error.code() {
        Some(code) if !is_transient(code) => {
            StoreError::other("PostgreSQL refused a statement", error)
        }
        code => StoreError::unavailable(advice(code), error),
    }
}

/// The thread in an error that is about no thread, or about one whose id is not known.
pub(crate) const UNKNOWN: &str = "?";

/// The error of the store contract for an error of a statement that uses this thread.
pub(crate) fn statement_error(thread: &str, error: Error) -> StoreError {
    match error.code() {
        Some(code) if is_damage(code) => damaged(
            thread,
            &format!(
                "PostgreSQL cannot read it ({})",
                message_with_sources(&error)
            ),
        ),
        _ => store_error(error),
    }
}

/// Whether the server has found that a page, an index or a text is not what it has written: the errors of the class `XX`, an
/// invalid text, and a row that exists already although its line does not know it.
fn is_damage(code: &SqlState) -> bool {
    code.code().starts_with("XX")
        || [
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            SqlState::UNIQUE_VIOLATION,
        ]
        .contains(code)
}

pub(crate) fn damaged(thread: &str, problem: &str) -> StoreError {
    StoreError::Damaged {
        thread: thread.into(),
        problem: format!("{problem}; restore it from a backup"),
    }
}

/// What has failed, and what to do, for an error that may not occur the next time.
fn advice(code: Option<&SqlState>) -> &'static str {
    match code {
        // No answer from the server: the connection has failed.
        None => {
            "PostgreSQL cannot be reached: check that the server runs and accepts connections, then try again (continue a run with \
             `resume`); what was stored before is intact"
        }
        Some(code) if code.code().starts_with("57P") => {
            "PostgreSQL is shutting down or starting: try again once it runs (continue a run with `resume`); what was stored before \
             is intact"
        }
        Some(&SqlState::DISK_FULL) => {
            "PostgreSQL has no disk space left: free space on its disk, then try again (continue a run with `resume`); what was \
             stored before is intact"
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => {
            "PostgreSQL has no connection left: raise its `max_connections`, or lower `PostgresOptions::pool_size`"
        }
        Some(&SqlState::QUERY_CANCELED) => {
            "PostgreSQL took too long: check whether it is overloaded, or raise `PostgresOptions::statement_timeout`"
        }
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => {
            "PostgreSQL accepts no writes here: connect to the primary server, and check that the database is not set to read only"
        }
        Some(_) => {
            "PostgreSQL cannot run the statement at the moment: try again (continue a run with `resume`)"
        }
    }
}

/// An error of the store itself, without an error of the client.
pub(crate) fn problem(message: impl Into<String>) -> StoreError {
    StoreError::Other(message.into().into())
}

/// The server did not do something in time.
pub(crate) fn timed_out(operation: &str) -> StoreError {
    StoreError::Unavailable(
        format!(
            "PostgreSQL took too long to {operation}: check that the server runs and is not overloaded, then try again (continue a run with `resume`)"
        )
        .into(),
    )
}

/// Whether the server has refused the statement for a reason that may not hold the next time. Since the server answered, the
/// statement had no effect.
pub(crate) fn is_undone(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            // The address of a write was deleted after the statement had found it.
            SqlState::FOREIGN_KEY_VIOLATION,
        ]
        .contains(code)
    })
}

/// Whether the server has not answered, so that the effect of the statement is unknown.
pub(crate) fn is_lost(error: &Error) -> bool {
    error.code().is_none()
}

/// Whether the connection cannot be used any more.
pub(crate) fn ends_connection(error: &Error) -> bool {
    error
        .code()
        .is_none_or(|code| code.code().starts_with("57P"))
}

/// Whether the error may not occur the next time: the server is starting or stopping, full, out of space or busy, or it is a
/// standby that accepts no writes.
fn is_transient(code: &SqlState) -> bool {
    ["08", "40", "53", "57", "58"].contains(&code.code().get(..2).unwrap_or_default())
        || [
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::FOREIGN_KEY_VIOLATION,
        ]
        .contains(code)
}
