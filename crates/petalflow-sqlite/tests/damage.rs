//! Damaged files are errors, and are never read in part.

use petalflow::checkpoint::{Address, Store, StoreError};
use petalflow::error::message_with_sources;
use petalflow::prelude::*;
use petalflow_sqlite::{SqliteStore, Synchronous};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, newest, wait_until_closed};

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
    wait_until_closed(&path);
    let mut bytes = std::fs::read(&path).expect("it can be read");
    // All pages but the first ones, which have the layout.
    bytes[16 * 1024..].fill(0xaa);
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
async fn an_impossible_number_is_damage() {
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
            "UPDATE log SET carried = -1 WHERE id >> 32 = (SELECT number FROM addresses WHERE thread = ?1)",
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

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    words: u64,
}

#[node(Essay)]
async fn count(cx: Context, topic: &str) -> petalflow::Result<EssayWords> {
    let words = topic.split(' ').count() as u64;
    let words = cx
        .once("count", async { Ok::<_, petalflow::BoxError>(words) })
        .await?;
    Err(format!("no room for {words} words").into())
}

flow!(WriteEssay(Essay) { count });

/// One bit of every byte of every stored payload of a thread.
#[tokio::test]
async fn a_changed_bit_is_damage() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
    let store = options.open().await.expect("it opens");
    let thread = WriteEssay::new().store(&store).thread(THREAD);
    let error = thread.run("petals and leaves".to_string()).await;
    let expected = "no room for 3 words";
    assert!(message_with_sources(&error.expect_err("it fails")).contains(expected));
    let by_hand = Connection::open(&path).expect("it opens");
    by_hand
        .pragma_update(None, "synchronous", "OFF")
        .expect("it can be set");
    for row in ["log", "writes WHERE name = 'once/count'"] {
        let (table, filter) = row.split_once(' ').unwrap_or((row, ""));
        let update = format!("UPDATE {table} SET bytes = ?1 {filter}");
        let replace = |bytes: &[u8]| by_hand.execute(&update, [bytes]).expect("it is written");
        let original: Vec<u8> = by_hand
            .query_one(&format!("SELECT bytes FROM {row}"), (), |row| row.get(0))
            .expect("there is one");
        for index in 0..original.len() {
            let mut damaged = original.clone();
            damaged[index] ^= 1 << (index % 8);
            assert_eq!(replace(&damaged), 1);
            let error = thread.resume(()).await.expect_err("it is damaged");
            let message = message_with_sources(&error);
            assert!(
                message.contains(THREAD) && !message.contains(expected),
                "byte {index} of {row}: {message}"
            );
        }
        replace(&original);
    }
    let error = thread.resume(()).await.expect_err("it fails as before");
    assert!(message_with_sources(&error).contains(expected));
}
