//! Writes that wait for a transaction share the next one.

use std::path::Path;

use futures_util::future::join_all;
use petalflow::checkpoint::{Address, Store, StoreError};
use petalflow_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, checkpoint, newest};

/// The number of transactions in the log. In the frame of the last page of each, the size of the database is not zero.
fn commits(database: &Path) -> usize {
    let log = std::fs::read(database.with_extension("db-wal")).expect("the log is there");
    let page = u32::from_be_bytes(log[8..12].try_into().expect("four bytes")) as usize;
    let salt = &log[16..24];
    log[32..]
        .chunks_exact(24 + page)
        .take_while(|frame| &frame[8..16] == salt)
        .filter(|frame| frame[4..8] != [0; 4])
        .count()
}

#[tokio::test]
async fn appends_that_wait_share_a_commit() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let before = commits(&path);
    // Another program writes, so all appends have to wait.
    let other = Connection::open(&path).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let threads: Vec<String> = (0..64).map(|thread| format!("essay-{thread}")).collect();
    let appends = join_all(threads.iter().map(|thread| append(&store, thread, 1, 100)));
    let released = tokio::task::spawn_blocking(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        other.execute_batch("COMMIT").expect("it commits");
    });
    for result in appends.await {
        result.expect("it is written when the other program has finished");
    }
    released.await.expect("it does not panic");
    // The writer may have begun with the first few of them. The rest share a commit.
    let commits = commits(&path) - before;
    assert!(
        (1..=3).contains(&commits),
        "64 appends that waited took {commits} commits"
    );
    for thread in &threads {
        assert_eq!(newest(&store, thread).await, Some(1));
    }
}

#[tokio::test]
async fn a_write_that_fails_does_not_undo_the_others() {
    let folder = TempDir::new().expect("a folder can be made");
    let store = SqliteStore::open(folder.path().join("essays.db")).await;
    let store = store.expect("it opens");
    append(&store, "taken", 1, 10).await.expect("it is free");
    let wrong = checkpoint(9, 10);
    let threads: Vec<String> = (0..40).map(|thread| format!("essay-{thread}")).collect();
    let (mut results, mut expected) = (Vec::new(), Vec::new());
    for (index, thread) in threads.iter().enumerate() {
        // Every third is a conflict.
        let conflict = index % 3 == 1;
        expected.push(conflict);
        let (store, wrong) = (&store, &wrong);
        results.push(async move {
            if conflict {
                let address = Address::root("taken");
                return store.append(address, wrong, Some(8), 0..9, None).await;
            }
            append(store, thread, 1, 10).await
        });
    }
    let results = join_all(results).await;
    let conflicts = results
        .iter()
        .map(|result| matches!(result, Err(StoreError::Conflict { found: Some(1), .. })));
    assert!(conflicts.eq(expected.iter().copied()), "{results:?}");
    for (thread, conflict) in threads.iter().zip(expected) {
        assert_eq!(newest(&store, thread).await, (!conflict).then_some(1));
    }
}
