//! The tables, and the migrations from older layouts.

use petalflow::checkpoint::StoreError;
use petalflow::error::message_with_sources;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Transaction};

use crate::connection::Connection;
use crate::error::{problem, store_error};

/// The statements from each layout to the next, beginning with an empty schema. An entry that was released never changes.
const MIGRATIONS: &[&str] = &[
    // Ids are compared by bytes. The collation of the database must not matter.
    r#"
    CREATE TABLE lines (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        thread text COLLATE "C" NOT NULL,
        namespace text COLLATE "C" NOT NULL,
        newest bigint,
        UNIQUE (thread, namespace)
    );
    CREATE TABLE checkpoints (
        line bigint NOT NULL REFERENCES lines ON DELETE CASCADE,
        seq bigint NOT NULL,
        base bigint NOT NULL,
        created_ms bigint NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (line, seq)
    );
    CREATE TABLE writes (
        line bigint NOT NULL REFERENCES lines ON DELETE CASCADE,
        seq bigint NOT NULL,
        task bytea NOT NULL,
        name text COLLATE "C" NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (line, seq, task, name)
    );
    "#,
    r#"
    CREATE TABLE claims (
        thread text COLLATE "C" PRIMARY KEY,
        owner text COLLATE "C" NOT NULL,
        session bigint NOT NULL
    );
    "#,
    // The descriptions of threads. `begun_ms` is the time of the first checkpoint, which may be pruned, and
    // `status_at` the newest checkpoint when the status was set.
    r#"
    ALTER TABLE lines ADD COLUMN begun_ms bigint;
    CREATE TABLE threads (
        thread text COLLATE "C" PRIMARY KEY,
        status_at bigint,
        status text,
        flow text COLLATE "C",
        due_ms bigint,
        label_names text[] NOT NULL DEFAULT '{}',
        label_values text[] NOT NULL DEFAULT '{}'
    );
    CREATE INDEX threads_by_status ON threads (status);
    CREATE INDEX threads_by_due ON threads (due_ms) WHERE due_ms IS NOT NULL;
    CREATE INDEX threads_by_label ON threads USING gin (label_values);
    "#,
    // Long-term memory (`petalflow-memory`). `sort_key` is the namespace and the key, encoded so that its bytes sort like both. It
    // can be longer than an index allows, so entries are found by its hash, and listed by its first bytes. A value is JSON.
    // `version` is a new number for each value, so that a vector is never taken for that of a later value.
    r#"
    CREATE TABLE memories (
        id bytea PRIMARY KEY GENERATED ALWAYS AS (sha256(sort_key)) STORED,
        sort_key bytea NOT NULL,
        value text NOT NULL,
        version bigint GENERATED ALWAYS AS IDENTITY,
        created_ms bigint NOT NULL,
        updated_ms bigint NOT NULL,
        expires_ms bigint
    );
    CREATE INDEX memories_by_sort_key ON memories (substr(sort_key, 1, 1000));
    CREATE INDEX memories_by_expiry ON memories (expires_ms) WHERE expires_ms IS NOT NULL;
    CREATE TABLE memory_vectors (
        id bytea NOT NULL REFERENCES memories ON DELETE CASCADE,
        model text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        dimensions integer NOT NULL,
        vector real[] NOT NULL,
        PRIMARY KEY (id, model)
    );
    "#,
    // What the rows of a thread are compared with, so that a row that was deleted is missed: how many writes a line has, which
    // lines there are (a number of them would be one row, changed once for each), and, besides the row of `threads` without a thread, how many threads were deleted. Rows that are added are
    // counted by triggers, at the end of the statement; the statements of this store count what they remove. The table of the writes
    // has a new name, so that a program of an earlier version that is still running, which does not count, cannot change it.
    r#"
    ALTER TABLE writes RENAME TO task_writes;
    ALTER TABLE lines ADD COLUMN writes bigint NOT NULL DEFAULT 0;
    UPDATE lines SET writes = stored.writes
        FROM (SELECT line, count(*) AS writes FROM task_writes GROUP BY line) AS stored WHERE stored.line = lines.id;
    CREATE TABLE known_lines (
        thread text COLLATE "C" NOT NULL,
        namespace text COLLATE "C" NOT NULL,
        PRIMARY KEY (thread, namespace)
    );
    INSERT INTO known_lines (thread, namespace) SELECT thread, namespace FROM lines;
    INSERT INTO threads (thread) SELECT DISTINCT thread FROM lines ON CONFLICT DO NOTHING;
    ALTER TABLE layout ADD COLUMN deleted bigint NOT NULL DEFAULT 0;
    UPDATE layout SET deleted = COALESCE((SELECT due_ms FROM threads WHERE thread = ''), 0);
    CREATE FUNCTION count_writes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE lines SET writes = lines.writes + counted.writes
            FROM (SELECT line, count(*) AS writes FROM added GROUP BY line) AS counted WHERE counted.line = lines.id;
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_writes AFTER INSERT ON task_writes
        REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_writes();
    CREATE FUNCTION count_lines() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO known_lines (thread, namespace) SELECT thread, namespace FROM added;
        INSERT INTO threads (thread) SELECT DISTINCT thread FROM added ON CONFLICT DO NOTHING;
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_lines AFTER INSERT ON lines
        REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_lines();
    "#,
    // The index of threads. A line has the time of its newest checkpoint. `threads` has that of all lines while no run is in progress:
    // a run sets it to null with its second checkpoint, so that its others change no index. While it is set, the status holds. `state`
    // is the status that holds. A column has a new name, so that a program of an earlier version that is still running, which does not
    // know the index, cannot append.
    //
    // The index is right also if a status is set while a checkpoint is appended: the former holds the lock of the thread alone, and the
    // latter shares it with others. Each statement of a function sees what was committed before it, unlike the statement that calls it.
    r#"
    ALTER TABLE checkpoints RENAME COLUMN base TO chain_from;
    ALTER TABLE lines ADD COLUMN updated_ms bigint;
    UPDATE lines SET updated_ms = stored.created_ms
        FROM checkpoints AS stored WHERE stored.line = lines.id AND stored.seq = lines.newest;
    ALTER TABLE threads ADD COLUMN created_ms bigint, ADD COLUMN updated_ms bigint,
        ADD COLUMN state text COLLATE "C" GENERATED ALWAYS AS (
            CASE WHEN updated_ms IS NULL THEN 'running' ELSE COALESCE(status, 'running') END
        ) STORED;
    UPDATE threads SET created_ms = known.created_ms,
        updated_ms = CASE WHEN status IS NULL OR status_at IS NOT DISTINCT FROM known.newest THEN known.updated_ms END
        FROM (
            SELECT thread, max(updated_ms) AS updated_ms, max(newest) FILTER (WHERE namespace = '') AS newest,
                min(COALESCE(begun_ms, (SELECT min(created_ms) FROM checkpoints WHERE line = lines.id))) AS created_ms
            FROM lines GROUP BY thread HAVING count(updated_ms) > 0
        ) AS known WHERE known.thread = threads.thread;
    ALTER TABLE lines DROP COLUMN begun_ms;
    CREATE INDEX threads_by_creation ON threads (created_ms, thread);
    CREATE INDEX threads_by_change ON threads (updated_ms, thread);
    CREATE INDEX threads_by_state ON threads (flow, state, created_ms);
    CREATE FUNCTION thread_lock(locked text) RETURNS bigint LANGUAGE sql STABLE AS $$
        SELECT hashtextextended(current_schema() || '/' || locked, 0)
    $$;
    CREATE FUNCTION index_line() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.newest IS NULL THEN
            -- Its checkpoints were removed. A status is that of a checkpoint which is stored.
            PERFORM FROM threads WHERE thread = NEW.thread FOR UPDATE;
            UPDATE threads SET
                status_at = CASE WHEN NEW.namespace <> '' THEN status_at END,
                status = CASE WHEN NEW.namespace <> '' THEN status END,
                due_ms = CASE WHEN NEW.namespace <> '' THEN due_ms END,
                created_ms = CASE WHEN others.latest IS NOT NULL THEN created_ms END,
                updated_ms = CASE WHEN updated_ms IS NOT NULL THEN others.latest END
            FROM (SELECT max(own.updated_ms) AS latest FROM lines AS own WHERE own.thread = NEW.thread) AS others
            WHERE thread = NEW.thread;
        ELSIF OLD.newest IS NULL THEN
            -- Its first one. A thread that rests stays in the index, unless the checkpoint ends its status.
            INSERT INTO threads AS known (thread, created_ms, updated_ms) VALUES (NEW.thread, NEW.updated_ms, NEW.updated_ms)
            ON CONFLICT (thread) DO UPDATE SET
                created_ms = LEAST(known.created_ms, excluded.created_ms),
                updated_ms = CASE WHEN known.status IS NOT NULL AND NEW.namespace = ''
                        OR known.created_ms IS NOT NULL AND (known.updated_ms IS NULL OR known.status IS NULL)
                    THEN NULL ELSE GREATEST(known.updated_ms, excluded.updated_ms) END
            WHERE known.created_ms IS NULL OR known.created_ms > excluded.created_ms OR known.updated_ms IS NOT NULL;
        ELSIF NEW.namespace = '' THEN
            -- It ends the status.
            UPDATE threads SET updated_ms = NULL WHERE thread = NEW.thread AND updated_ms IS NOT NULL;
        ELSE
            PERFORM FROM threads WHERE thread = NEW.thread AND updated_ms IS NOT NULL FOR UPDATE;
            IF FOUND THEN
                UPDATE threads SET updated_ms = CASE WHEN status IS NOT NULL
                    THEN (SELECT max(own.updated_ms) FROM lines AS own WHERE own.thread = NEW.thread) END
                WHERE thread = NEW.thread;
            END IF;
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER index_new_line AFTER INSERT ON lines
        FOR EACH ROW WHEN (NEW.newest IS NOT NULL) EXECUTE FUNCTION index_line();
    CREATE TRIGGER index_line AFTER UPDATE OF newest ON lines
        FOR EACH ROW WHEN (NEW.newest IS DISTINCT FROM OLD.newest) EXECUTE FUNCTION index_line();
    CREATE FUNCTION set_status(described text, new_status text, new_flow text, new_due_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(thread_lock(described));
        INSERT INTO threads (thread) VALUES (described) ON CONFLICT (thread) DO NOTHING;
        PERFORM FROM threads WHERE thread = described FOR UPDATE;
        UPDATE threads SET status = new_status, flow = new_flow, due_ms = new_due_ms,
            status_at = (SELECT own.newest FROM lines AS own WHERE own.thread = described AND own.namespace = ''),
            updated_ms = (SELECT max(own.updated_ms) FROM lines AS own WHERE own.thread = described)
        WHERE thread = described;
    END $$;
    "#,
    // The search attributes of threads. The order of the bytes of a value is that of the values of its type.
    r#"
    CREATE TABLE attributes (
        thread text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        value bytea NOT NULL,
        PRIMARY KEY (thread, name)
    );
    CREATE INDEX attributes_by_value ON attributes (name, value, thread);
    "#,
];

/// The version of the layout that this crate writes.
pub(crate) fn current() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Creates the tables, or migrates them. Several processes may do so at once.
///
/// # Errors
///
/// [`NewerLayout`](StoreError::NewerLayout) if a newer version of this library has made them.
pub(crate) async fn prepare(connection: &mut Connection, schema: &str) -> Result<(), StoreError> {
    check_encoding(connection).await?;
    // First without the lock: most often nothing is to be done, and the user may not have the right to do it.
    let exists = connection
        .client()
        .query_typed("SELECT to_regclass('layout') IS NOT NULL", &[])
        .await
        .map_err(store_error)?;
    if exists.first().is_some_and(|row| row.get(0)) {
        let found = version(
            &connection
                .client()
                .query_typed(VERSION, &[])
                .await
                .map_err(store_error)?,
        )?;
        if is_current(found)? {
            return Ok(());
        }
    }
    let transaction = connection
        .client_mut()
        .transaction()
        .await
        .map_err(store_error)?;
    lock(&transaction, schema).await.map_err(store_error)?;
    let found = version(
        &transaction
            .query_typed(VERSION, &[])
            .await
            .map_err(store_error)?,
    )?;
    if !is_current(found)? {
        for migration in &MIGRATIONS[found as usize..] {
            transaction
                .batch_execute(migration)
                .await
                .map_err(|error| migration_error(error, found))?;
        }
        let current = i64::from(current());
        transaction
            .execute("UPDATE layout SET version = $1", &[&current])
            .await
            .map_err(store_error)?;
    }
    transaction.commit().await.map_err(store_error)
}

/// The error of a migration. Only a wrong version lets it create what exists.
fn migration_error(error: Error, found: u32) -> StoreError {
    match error.code() {
        Some(&(SqlState::DUPLICATE_TABLE | SqlState::DUPLICATE_COLUMN)) => problem(format!(
            "the table `layout` is damaged: its version is {found}, and the other tables are newer ({}); restore it from a backup",
            message_with_sources(&error)
        )),
        _ => store_error(error),
    }
}

const VERSION: &str = "SELECT version FROM layout";

/// Waits until no other process migrates this schema, and creates the table that holds the version of its layout.
async fn lock(transaction: &Transaction<'_>, schema: &str) -> Result<(), Error> {
    transaction
        .execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('petalflow layout of ' || $1::text, 0))",
            &[&schema],
        )
        .await?;
    // Checked first, because even IF NOT EXISTS needs the right to create schemas.
    let exists = transaction
        .query(
            "SELECT FROM pg_namespace WHERE nspname = $1::text",
            &[&schema],
        )
        .await?;
    if exists.is_empty() {
        let schema = schema.replace('"', "\"\"");
        transaction
            .batch_execute(&format!("CREATE SCHEMA \"{schema}\""))
            .await?;
    }
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS layout (
                version bigint NOT NULL,
                single boolean PRIMARY KEY DEFAULT true CHECK (single)
            );
            INSERT INTO layout (version) VALUES (0) ON CONFLICT DO NOTHING",
        )
        .await
}

fn version(rows: &[tokio_postgres::Row]) -> Result<u32, StoreError> {
    let Some(row) = rows.first() else {
        return Ok(0);
    };
    let version: Option<i64> = row.try_get(0).map_err(store_error)?;
    let version = version.filter(|version| *version >= 0).ok_or_else(|| {
        problem("the table `layout` is damaged: its version is not a number from 0; restore it from a backup")
    })?;
    Ok(u32::try_from(version).unwrap_or(u32::MAX))
}

fn is_current(found: u32) -> Result<bool, StoreError> {
    if found > current() {
        return Err(StoreError::NewerLayout {
            found,
            known: current(),
        });
    }
    Ok(found == current())
}

/// Ids are any text, which only UTF-8 can encode.
async fn check_encoding(connection: &Connection) -> Result<(), StoreError> {
    let rows = connection
        .client()
        .query_typed("SELECT current_setting('server_encoding')", &[])
        .await
        .map_err(store_error)?;
    match rows.first().map(|row| row.get::<_, String>(0)) {
        Some(encoding) if encoding != "UTF8" => Err(problem(format!(
            "the encoding of the database is {encoding}, which cannot hold all text: use a database with ENCODING 'UTF8'"
        ))),
        _ => Ok(()),
    }
}
