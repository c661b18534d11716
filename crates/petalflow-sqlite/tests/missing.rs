//! Rows that were deleted while a thread waits.

use std::path::Path;
use std::sync::Arc;

use petalflow::checkpoint::{Address, Store, StoreError, ThreadQuery};
use petalflow_sqlite::SqliteStore;
use petalflow_test_servers::missing::{Seen, Waiting};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, wait_until_closed};

async fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(path).await.expect("it opens"))
}

/// The rows of a table that belong to the thread, or to none, and whether the loss of one must be noticed.
const ROWS: [(&str, &str, bool); 6] = [
    (
        "log",
        "id >> 32 IN (SELECT number FROM addresses WHERE thread = 'essay' AND namespace NOT LIKE '/%')",
        true,
    ),
    (
        "addresses",
        "thread IN ('essay', '') AND namespace NOT LIKE '/%'",
        true,
    ),
    ("records", "thread = 'essay'", true),
    ("counts", "thread = 'essay' AND writes > 0", true),
    ("threads", "thread IN ('essay', '')", true),
    ("labels", "thread = 'essay'", true),
];

/// Each row of each table is deleted in turn.
#[tokio::test]
async fn f42_each_row_that_is_deleted_is_noticed_or_harmless() {
    for (table, which, is_noticed) in ROWS {
        let mut row = 0;
        loop {
            let folder = TempDir::new().expect("a folder can be made");
            let path = folder.path().join("orders.db");
            let store = open(&path).await;
            let id = format!("essay {table} {row}");
            let waiting = Waiting::begin(&store, &id).await;
            drop(store);
            wait_until_closed(&path);
            let by_hand = Connection::open(&path).expect("it opens");
            let which = which.replace("'essay'", &format!("'{id}'"));
            let rows = format!("SELECT count(*) FROM {table} WHERE {which}");
            let count: i64 = by_hand
                .query_row(&rows, (), |row| row.get(0))
                .expect("it counts");
            assert!(count > 0, "{table} has rows of the thread");
            if row == count {
                break;
            }
            delete_nth(&by_hand, table, &which, row);
            drop(by_hand);
            let what = format!("row {row} of {table}");
            let seen = waiting.answer(&open(&path).await, &what).await;
            let noticed = matches!(seen, Seen::Noticed(_));
            assert_eq!(noticed, is_noticed, "{what}: {seen:?}");
            row += 1;
        }
    }
}

/// Deletes one row. The tables without rowids have their primary key first.
fn delete_nth(connection: &Connection, table: &str, which: &str, nth: i64) {
    let key = match table {
        "log" => "id",
        "addresses" => "thread, namespace, first",
        "records" => "thread, namespace, seq, task, name",
        "counts" => "thread, namespace",
        "labels" => "name, value, thread",
        _ => "thread",
    };
    let delete = format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {which} ORDER BY {key} LIMIT 1 OFFSET {nth})"
    );
    let deleted = connection.execute(&delete, ()).expect("it is deleted");
    assert_eq!(deleted, 1, "{delete}");
}

/// A claim that is lost is noticed by its owner only.
#[tokio::test]
async fn f42_a_deleted_claim_is_harmless() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("orders.db");
    let store = open(&path).await;
    let waiting = Waiting::begin(&store, "claimed").await;
    store.claim("claimed", "one").await.expect("it is free");
    let by_hand = Connection::open(&path).expect("it opens");
    let deleted = by_hand
        .execute("DELETE FROM claims", ())
        .expect("it is deleted");
    assert!(deleted > 0);
    let lost = store
        .write(Address::root("claimed"), 1, &[], Some("one"))
        .await;
    assert!(
        matches!(lost, Err(StoreError::ClaimLost { .. })),
        "{lost:?}"
    );
    assert_eq!(waiting.answer(&store, "claims").await, Seen::Harmless);
}

/// A file as version 0.1.0 made it, in which a thread waits.
#[tokio::test]
async fn f42_what_was_stored_before_is_counted_by_the_migration() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("orders.db");
    let store = open(&path).await;
    let waiting = Waiting::begin(&store, "older").await;
    append(
        &SqliteStore::open(&path).await.expect("it opens"),
        "undescribed",
        1,
        10,
    )
    .await
    .expect("it is written");
    drop(store);
    wait_until_closed(&path);
    let by_hand = Connection::open(&path).expect("it opens");
    let back = "DROP TABLE attributes; DROP INDEX threads_by_state; DROP INDEX threads_by_change; DROP INDEX threads_by_creation;
        ALTER TABLE threads DROP COLUMN updated_ms;
        ALTER TABLE log RENAME COLUMN reach TO span;
        ALTER TABLE records RENAME TO writes; DROP TABLE counts;
        ALTER TABLE threads DROP COLUMN segments; ALTER TABLE threads DROP COLUMN labels;
        UPDATE addresses SET first = 0 WHERE thread = ''; DELETE FROM threads WHERE thread = 'undescribed';
        PRAGMA user_version = 3";
    by_hand
        .execute_batch(back)
        .expect("it is the layout before");
    drop(by_hand);
    let store = open(&path).await;
    assert_eq!(store.verify().await.expect("it answers"), [""; 0]);
    let listed = store
        .threads(ThreadQuery::default())
        .await
        .expect("it lists");
    assert_eq!(listed.len(), 3);
    assert!(
        listed.iter().all(|info| info.damage.is_none()),
        "{listed:?}"
    );
    assert_eq!(store.incarnation("another").await.expect("it answers"), 1);
    let by_hand = Connection::open(&path).expect("it opens");
    by_hand
        .execute("DELETE FROM records WHERE name = 'once/pay'", ())
        .expect("it is deleted");
    let damage = store.verify().await.expect("it answers");
    assert_eq!(damage.len(), 2, "of the two threads: {damage:?}");
    assert!(matches!(
        waiting.answer(&store, "after the migration").await,
        Seen::Noticed(_)
    ));
}
