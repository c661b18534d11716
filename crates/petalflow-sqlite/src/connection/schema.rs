//! The layout of the database, and the migrations from older layouts.

use petalflow::checkpoint::StoreError;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::error::{DatabaseFile, TransactionError};

/// The application id of a file of this crate: `PFLG`, petalflow log.
pub(crate) const APPLICATION: i32 = 0x5046_4c47;

/// The application id of files with layouts that were never released: `PFCP`.
const UNRELEASED: i64 = 0x5046_4350;

/// The statements from layout 0, an empty file, to 1, and so on. `PRAGMA user_version` counts those that are done.
///
/// An entry that was released never changes. A new layout is a new entry.
pub(crate) const MIGRATIONS: &[&str] = &[
    // `log` describes the rows of the log. An append changes its last row, so it writes one page. Without rowids a table is one
    // tree in the order of its key. The row without a thread has the number that was given last. The text of all this is stored
    // in each file, so it has no word too many: the columns of a primary key without rowids are never null.
    "CREATE TABLE log (
        id INTEGER PRIMARY KEY,
        carried INTEGER NOT NULL,
        span INTEGER NOT NULL,
        checkpoints INTEGER NOT NULL,
        size INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE addresses (
        thread TEXT,
        namespace TEXT,
        first INTEGER,
        number INTEGER NOT NULL,
        PRIMARY KEY (thread, namespace, first)
    ) WITHOUT ROWID, STRICT;
    INSERT INTO addresses (thread, namespace, first, number) VALUES ('', '', 0, 0);
    CREATE TABLE writes (
        thread TEXT,
        namespace TEXT,
        seq INTEGER,
        task BLOB,
        name TEXT,
        bytes BLOB NOT NULL,
        PRIMARY KEY (thread, namespace, seq, task, name)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE claims (
        thread TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        holder TEXT NOT NULL
    ) WITHOUT ROWID, STRICT;",
    // Long-term memory (`petalflow-memory`). A namespace is encoded so that the order of its bytes is that of paths. A value is
    // JSON. The index covers only entries that expire, which most do not.
    "CREATE TABLE memories (
        namespace BLOB,
        key TEXT,
        value TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        PRIMARY KEY (namespace, key)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX memories_by_expiry ON memories (expires_ms) WHERE expires_ms IS NOT NULL;",
    // The descriptions of threads. `at` is the newest checkpoint when the status was set, and `created_ms` is
    // the time of the first one. A thread may have labels and no row, and the other way round.
    "CREATE TABLE threads (
        thread TEXT PRIMARY KEY,
        created_ms INTEGER,
        at INTEGER,
        status TEXT,
        flow TEXT,
        due_ms INTEGER
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX threads_by_status ON threads (status, due_ms);
    CREATE TABLE labels (
        name TEXT,
        value TEXT,
        thread TEXT,
        PRIMARY KEY (name, value, thread)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX labels_by_thread ON labels (thread);",
    // What the rows of a thread are compared with, so that a row that was deleted is missed. `counts` has the number of the writes of
    // an address and, of a sub-flow, its newest checkpoint; `threads` has the number of the segments and labels of a thread. `first` of
    // the row without a thread is the number of deleted threads. The table of the writes has a new name, so that a program of an
    // earlier version that is still running, which does not count, cannot change it. Null is zero.
    "ALTER TABLE writes RENAME TO records;
    CREATE TABLE counts (
        thread TEXT,
        namespace TEXT,
        writes INTEGER,
        newest INTEGER,
        PRIMARY KEY (thread, namespace)
    ) WITHOUT ROWID, STRICT;
    INSERT INTO counts (thread, namespace, writes) SELECT thread, namespace, count(*) FROM records GROUP BY thread, namespace;
    ALTER TABLE threads ADD COLUMN segments INTEGER;
    ALTER TABLE threads ADD COLUMN labels INTEGER;
    INSERT INTO threads (thread, created_ms)
        SELECT a.thread, min(c.created_ms) FROM addresses a JOIN log c ON c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
        WHERE a.thread <> '' GROUP BY a.thread
        ON CONFLICT DO UPDATE SET created_ms = ifnull(created_ms, excluded.created_ms);
    INSERT INTO threads (thread) SELECT DISTINCT thread FROM labels WHERE true ON CONFLICT DO NOTHING;
    UPDATE threads SET segments = (SELECT count(*) FROM addresses a WHERE a.thread = threads.thread),
        labels = (SELECT count(*) FROM labels l WHERE l.thread = threads.thread) WHERE thread <> '';
    UPDATE addresses SET first = ifnull((SELECT created_ms FROM threads WHERE thread = ''), 0) WHERE thread = '';",
    // The index of threads. `updated_ms` is the time of the newest checkpoint while no run is in progress: a run sets it to null
    // with its second checkpoint, so that its others change no index. While it is set, the status holds. `state` is the status that
    // holds. A column of `log` has a new name, so that a program of an earlier version that is still running, which does not know
    // the index, cannot append.
    "ALTER TABLE log RENAME COLUMN span TO reach;
    ALTER TABLE threads ADD COLUMN updated_ms INTEGER;
    ALTER TABLE threads ADD COLUMN state TEXT AS (CASE WHEN updated_ms IS NULL THEN 'running' ELSE ifnull(status, 'running') END);
    UPDATE threads SET updated_ms = (SELECT max((
            SELECT c.created_ms FROM log c WHERE c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
            ORDER BY c.id DESC LIMIT 1)) FROM addresses a WHERE a.thread = threads.thread AND NOT EXISTS (
                SELECT 1 FROM addresses b WHERE b.thread = a.thread AND b.namespace = a.namespace AND b.first > a.first))
        WHERE thread <> '' AND created_ms IS NOT NULL AND (status IS NULL OR at IS (
            SELECT first + (id & 0xffffffff) + reach FROM addresses a
                JOIN log ON id BETWEEN number << 32 AND (number << 32) + 0xffffffff
            WHERE a.thread = threads.thread AND namespace = '' ORDER BY id DESC LIMIT 1));
    CREATE INDEX threads_by_creation ON threads (created_ms);
    CREATE INDEX threads_by_change ON threads (updated_ms);
    CREATE INDEX threads_by_state ON threads (flow, state, created_ms, updated_ms);",
    // Lists and counts read the index of flows and statuses only. Of a generated column SQLite always reads the row too.
    "DROP INDEX threads_by_state;
    ALTER TABLE threads DROP COLUMN state;
    CREATE INDEX threads_by_state ON threads (flow, status, created_ms, updated_ms);",
    // The search attributes of threads. The order of the bytes of a value is that of the values of its type.
    "CREATE TABLE attributes (
        thread TEXT,
        name TEXT,
        value BLOB NOT NULL,
        PRIMARY KEY (thread, name)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX attributes_by_value ON attributes (name, value);",
];

/// Refuses the file of another program before anything is changed. Returns how many migrations have been done.
pub(crate) fn check(
    connection: &Connection,
    file: &DatabaseFile,
    migrations: &[&str],
) -> Result<usize, TransactionError> {
    // One snapshot, because another process may be creating the tables. Dropping it ends it.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    layout(&snapshot, file, migrations)
}

/// Runs the migrations that are missing: all or none, and once, however many processes try at the same time.
pub(crate) fn migrate(
    connection: &Connection,
    file: &DatabaseFile,
    migrations: &[&str],
) -> Result<(), TransactionError> {
    if check(connection, file, migrations)? == migrations.len() {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Again, now that no other process can change it.
    let done = layout(&transaction, file, migrations)?;
    for migration in &migrations[done..] {
        // SQLite stores the text of each statement in the file.
        let words: Vec<&str> = migration.split_whitespace().collect();
        transaction.execute_batch(&words.join(" "))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(
        None,
        "user_version",
        i64::try_from(migrations.len()).unwrap_or(i64::MAX),
    )?;
    transaction.commit()?;
    Ok(())
}

/// How many migrations have been done. Within a transaction.
fn layout(
    connection: &Connection,
    file: &DatabaseFile,
    migrations: &[&str],
) -> Result<usize, TransactionError> {
    let number = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
    let path = file.path.display();
    // The first read fixes the snapshot.
    let objects = number("SELECT count(*) FROM sqlite_schema")
        .map_err(|error| not_a_database(error, file))?;
    let application = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    let untouched = application == 0 && found == 0 && objects == 0;
    if application == UNRELEASED {
        return Err(TransactionError::Refused(DatabaseFile::refused(format!(
            "`{path}` was written by a version of petalflow that was never released, and this version cannot read it: name another file"
        ))));
    }
    if application != i64::from(APPLICATION) && !untouched {
        return Err(TransactionError::Refused(DatabaseFile::refused(format!(
            "`{path}` is a database of another program (application id {application}, {objects} tables and indices): name another file"
        ))));
    }
    match usize::try_from(found) {
        Ok(done) if done <= migrations.len() => Ok(done),
        _ => Err(TransactionError::Refused(StoreError::NewerLayout {
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: u32::try_from(migrations.len()).unwrap_or(u32::MAX),
        })),
    }
}

fn not_a_database(error: rusqlite::Error, file: &DatabaseFile) -> TransactionError {
    if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        return TransactionError::Refused(DatabaseFile::refused(format!(
            "`{}` is not a SQLite database: name another file",
            file.path.display()
        )));
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use rusqlite::Connection;

    use super::{DatabaseFile, MIGRATIONS, TransactionError, migrate};
    use petalflow::checkpoint::StoreError;

    fn file() -> DatabaseFile {
        DatabaseFile {
            opened: std::sync::Arc::default(),
            path: Path::new("essays.db").into(),
            busy_timeout: Duration::ZERO,
        }
    }

    fn version(connection: &Connection) -> i64 {
        connection
            .query_row("PRAGMA user_version", (), |row| row.get(0))
            .expect("every database has one")
    }

    #[test]
    fn migrations_run_once_each_and_in_order() {
        let connection = Connection::open_in_memory().expect("memory is there");
        let steps = [
            MIGRATIONS[0],
            "ALTER TABLE claims ADD COLUMN label TEXT NOT NULL DEFAULT 'none';",
            "CREATE INDEX labels ON claims (label);",
        ];
        for known in 1..=steps.len() {
            assert!(migrate(&connection, &file(), &steps[..known]).is_ok());
            assert!(migrate(&connection, &file(), &steps[..known]).is_ok());
            assert_eq!(version(&connection), i64::try_from(known).expect("small"));
        }
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let connection = Connection::open_in_memory().expect("memory is there");
        let steps = [
            MIGRATIONS[0],
            "CREATE TABLE notes (id INTEGER); CREATE TABLE notes (id INTEGER);",
        ];
        assert!(migrate(&connection, &file(), &steps[..1]).is_ok());
        assert!(migrate(&connection, &file(), &steps).is_err());
        assert_eq!(version(&connection), 1);
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'notes'";
        let notes: i64 = connection
            .query_row(tables, (), |row| row.get(0))
            .expect("it counts");
        assert_eq!(notes, 0);
    }

    #[test]
    fn a_newer_layout_is_refused() {
        let connection = Connection::open_in_memory().expect("memory is there");
        let newer = [MIGRATIONS[0], "CREATE TABLE notes (id INTEGER);"];
        assert!(migrate(&connection, &file(), &newer).is_ok());
        let refused = migrate(&connection, &file(), &newer[..1]);
        assert!(matches!(
            refused,
            Err(TransactionError::Refused(StoreError::NewerLayout {
                found: 2,
                known: 1
            }))
        ));
    }
}
