//! The tables, and how those of an older version become those of this one.

use petalflow::checkpoint::StoreError;
use tokio_postgres::{Error, Transaction};

use crate::connection::Connection;
use crate::error::{problem, store_error};

/// How each layout comes from the one before; the first from nothing. A step that was released never changes.
const STEPS: &[&str] = &[
    // Ids are compared by bytes, whatever the database's language is.
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
];

/// The layout that this version writes.
pub(crate) fn current() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// Makes the tables, or brings them up to date. Several processes may do so at once.
///
/// # Errors
///
/// [`NewerLayout`](StoreError::NewerLayout) if a newer version of this library has made them.
pub(crate) async fn prepare(connection: &mut Connection, schema: &str) -> Result<(), StoreError> {
    check_encoding(connection).await?;
    // Without the lock first: most often there is nothing to do, and the user may not be allowed to do anything.
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
        );
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
    );
    if !is_current(found)? {
        for step in &STEPS[found as usize..] {
            transaction.batch_execute(step).await.map_err(store_error)?;
        }
        let current = i64::from(current());
        transaction
            .execute("UPDATE layout SET version = $1", &[&current])
            .await
            .map_err(store_error)?;
    }
    transaction.commit().await.map_err(store_error)
}

const VERSION: &str = "SELECT version FROM layout";

/// Waits until nobody else prepares this schema, and makes what says which layout it has.
async fn lock(transaction: &Transaction<'_>, schema: &str) -> Result<(), Error> {
    transaction
        .execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('petalflow layout of ' || $1::text, 0))",
            &[&schema],
        )
        .await?;
    // Asked first, because even IF NOT EXISTS takes the right to create schemas.
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

fn version(rows: &[tokio_postgres::Row]) -> u32 {
    let version = rows.first().map_or(0, |row| row.get::<_, i64>(0));
    u32::try_from(version).unwrap_or(u32::MAX)
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

/// Ids are any text, which only one encoding holds.
async fn check_encoding(connection: &Connection) -> Result<(), StoreError> {
    let rows = connection
        .client()
        .query_typed("SELECT current_setting('server_encoding')", &[])
        .await
        .map_err(store_error)?;
    match rows.first().map(|row| row.get::<_, String>(0)) {
        Some(encoding) if encoding != "UTF8" => Err(problem(format!(
            "the database is encoded in {encoding}, which does not hold all text: use one that was created with ENCODING 'UTF8'"
        ))),
        _ => Ok(()),
    }
}
