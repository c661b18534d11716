//! A file that was damaged is never half-read.

use petalflow::checkpoint::{Address, Store, StoreError};
use petalflow_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, closed, newest};

const THREAD: &str = "essay-42";

#[tokio::test]
async fn damaged_pages_are_an_error() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    for seq in 1..=100 {
        append(&store, THREAD, seq, 1_000)
            .await
            .expect("it is written");
    }
    drop(store);
    closed(&path);
    let mut bytes = std::fs::read(&path).expect("it can be read");
    // All but the first page, in which the layout is.
    bytes[4096..].fill(0xaa);
    std::fs::write(&path, bytes).expect("it can be written");
    let store = SqliteStore::open(&path)
        .await
        .expect("the layout is intact");
    let result = store.history(Address::root(THREAD), None, 1_000).await;
    assert!(
        matches!(&result, Err(StoreError::Damaged { thread, .. }) if thread == THREAD),
        "{result:?}"
    );
    let result = append(&store, THREAD, 101, 10).await;
    assert!(
        matches!(result, Err(StoreError::Damaged { .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_number_that_cannot_be_is_damage() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    append(&store, THREAD, 1, 10).await.expect("it is written");
    append(&store, "another", 1, 10)
        .await
        .expect("it is written");
    let by_hand = Connection::open(&path).expect("it opens");
    by_hand
        .execute(
            "UPDATE checkpoints SET created_ms = -1 WHERE thread = ?1",
            [THREAD],
        )
        .expect("it is written");
    let result = store.read(Address::root(THREAD), None).await;
    assert!(
        matches!(result, Err(StoreError::Damaged { .. })),
        "{result:?}"
    );
    assert_eq!(newest(&store, "another").await, Some(1));
}
