//! Opens connections to the database file.

use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::schema;
use crate::error::{DatabaseFile, TransactionError};
use crate::options::{SqliteOptions, Synchronous};

/// The size of a page.
const PAGE_BYTES: i32 = 1024;

/// The most bytes of a log that was moved into the database.
const LONGEST_LOG: i32 = 900_000;

/// The size of the statement cache: all statements of the store fit.
const CACHED_STATEMENTS: usize = 64;

/// Opens the connection that writes. Creates the file if it does not exist, and runs its migrations.
pub(crate) fn open_writer(
    options: &SqliteOptions,
    file: &DatabaseFile,
) -> Result<Connection, TransactionError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&file.path, flags)?;
    connection.busy_timeout(file.busy_timeout)?;
    schema::check(&connection, file, schema::MIGRATIONS)?;
    if connection.is_readonly(MAIN_DB)? {
        return Err(TransactionError::Refused(DatabaseFile::unavailable(
            format!(
                "`{}` cannot be written: give this user write access to the file and its folder",
                file.path.display()
            ),
            None,
        )));
    }
    // Has an effect on a new file only. A commit writes whole pages, and most checkpoints are small.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    // Has an effect on a new file only. The pages then record their owners, so that free pages can be given back.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    enable_write_ahead_log(&connection, file)?;
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // The writer thread checkpoints the log while no caller waits, so SQLite need not do it.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A log that has become longer is cut when it is started again.
    connection.pragma_update_and_check(None, "journal_size_limit", LONGEST_LOG, |_| Ok(()))?;
    schema::migrate(&connection, file, schema::MIGRATIONS)?;
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

/// Opens a connection that reads. It is opened for writing, so that it can repair the index of the log after a crash of another
/// process, and then restricted to queries.
pub(crate) fn open_reader(file: &DatabaseFile) -> Result<Connection, TransactionError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&file.path, flags)?;
    connection.busy_timeout(file.busy_timeout)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// Opens a database in memory, which has one connection.
pub(crate) fn open_memory(file: &DatabaseFile) -> Result<Connection, TransactionError> {
    let connection = Connection::open_in_memory()?;
    schema::migrate(&connection, file, schema::MIGRATIONS)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// Prepares each statement once. By default SQLite prepares some queries again for other values, in case another plan is better,
/// which takes longer than the query itself. Here all plans follow from the primary keys.
fn prepare_once(connection: &Connection) -> Result<(), TransactionError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(())
}

/// Switches to a write-ahead log, with which readers and the writer do not wait for each other, and a commit is one write and one
/// sync.
fn enable_write_ahead_log(
    connection: &Connection,
    file: &DatabaseFile,
) -> Result<(), TransactionError> {
    let started = Instant::now();
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode.map_err(TransactionError::from) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                return Err(TransactionError::Refused(DatabaseFile::unavailable(
                    format!(
                        "`{}` cannot have a write-ahead log (its journal mode is `{mode}`): put it on a local disk",
                        file.path.display()
                    ),
                    None,
                )));
            }
            // `busy_timeout` does not apply when two processes switch at the same time.
            Err(failure) if failure.is_busy() && started.elapsed() < file.busy_timeout => {
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
        let file = DatabaseFile::in_memory();
        let Ok(connection) = open_memory(&file) else {
            panic!("memory is there")
        };
        let newest = "SELECT first FROM addresses WHERE thread = ?1 AND namespace = ?2 ORDER BY first DESC LIMIT 1";
        let cached = || connection.prepare_cached(newest).expect("it is SQL");
        for _ in 0..5 {
            let exists = cached().exists(("t", "")).expect("it runs");
            assert!(!exists);
        }
        assert_eq!(cached().get_status(StatementStatus::RePrepare), 0);
    }
}
