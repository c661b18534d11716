//! Connections to the database file.

use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use crate::options::{SqliteOptions, Synchronous};
use crate::problem::{Failure, Place};
use crate::schema;

/// All statements of the store fit.
const STATEMENTS: usize = 48;

/// The connection that writes: it makes the file if there is none, and brings it up to date.
pub(crate) fn writer(options: &SqliteOptions, place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(place.patience)?;
    schema::check(&connection, place, schema::MIGRATIONS)?;
    if connection.is_readonly(MAIN_DB)? {
        return Err(Failure::Refused(Place::unavailable(
            format!(
                "`{}` cannot be written: give this user write access to the file and its folder",
                place.path.display()
            ),
            None,
        )));
    }
    write_ahead(&connection, place)?;
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // The writer thread moves the log into the file itself, at moments when nobody waits for it.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    schema::migrate(&connection, place, schema::MIGRATIONS)?;
    if let Some(bytes) = options.max_bytes {
        let page: u64 = connection.query_row("PRAGMA page_size", (), |row| {
            row.get::<_, i64>(0).map(i64::unsigned_abs)
        })?;
        let pages = i64::try_from(bytes / page.max(1)).unwrap_or(i64::MAX);
        connection.query_row(
            &format!("PRAGMA max_page_count = {}", pages.max(1)),
            (),
            |_| Ok(()),
        )?;
    }
    prepare_once(&connection)?;
    Ok(connection)
}

/// A connection that reads. It is opened for writing so that it can repair the index of the log after another process has
/// crashed, and then forbidden to write.
pub(crate) fn reader(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(place.patience)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// A database in memory, which has one connection only.
pub(crate) fn memory(place: &Place) -> Result<Connection, Failure> {
    let connection = Connection::open_in_memory()?;
    schema::migrate(&connection, place, schema::MIGRATIONS)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// Prepares each statement once. SQLite would prepare some queries, the one for the newest number among them, anew for other
/// values, in case another plan suits those better, which takes longer than the query itself; here all plans follow from the keys.
fn prepare_once(connection: &Connection) -> Result<(), Failure> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

/// Switches to a write-ahead log: readers and the writer do not wait for each other, and a commit is one write and one sync.
fn write_ahead(connection: &Connection, place: &Place) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode.map_err(Failure::from) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                return Err(Failure::Refused(Place::unavailable(
                    format!(
                        "`{}` cannot have a write-ahead log (its journal is `{mode}`): keep it on a local disk",
                        place.path.display()
                    ),
                    None,
                )));
            }
            // SQLite does not wait by itself when two processes switch at the same time.
            Err(failure) if failure.is_busy() && begun.elapsed() < place.patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(failure) => return Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_prepared_once_whatever_values_it_is_given() {
        let place = Place {
            path: std::path::Path::new(":memory:").into(),
            patience: Duration::ZERO,
            file: std::sync::Arc::default(),
        };
        let Ok(connection) = memory(&place) else {
            panic!("memory is there")
        };
        let newest = "SELECT seq FROM checkpoints WHERE thread = ?1 AND namespace = ?2 ORDER BY seq DESC LIMIT 1";
        let cached = || connection.prepare_cached(newest).expect("it is SQL");
        for _ in 0..5 {
            let exists = cached().exists(("t", "")).expect("it runs");
            assert!(!exists);
        }
        assert_eq!(cached().get_status(StatementStatus::RePrepare), 0);
    }
}
