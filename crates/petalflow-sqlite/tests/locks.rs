//! Another program has the file to itself.

use std::time::Duration;

use petalflow::checkpoint::{Claim, Store};
use petalflow_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{BOTH, append, newest, unavailable};

const THREAD: &str = "essay-42";

#[tokio::test]
async fn a_lock_held_too_long_is_an_error_that_passes() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path)
            .synchronous(synchronous)
            .busy_timeout(Duration::from_millis(50));
        let store = options.open().await.expect("it opens");
        append(&store, THREAD, 1, 10).await.expect("it is free");
        let other = Connection::open(&path).expect("it opens");
        other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
        unavailable(
            append(&store, THREAD, 2, 10).await,
            &path,
            "locked by another process",
        );
        unavailable(
            store.claim(THREAD, "one").await,
            &path,
            "locked by another process",
        );
        assert_eq!(
            newest(&store, THREAD).await,
            Some(1),
            "reading needs no lock"
        );
        other.execute_batch("ROLLBACK").expect("it ends");
        append(&store, THREAD, 2, 10)
            .await
            .expect("it is free again");
        assert_eq!(
            store.claim(THREAD, "one").await.expect("it is free again"),
            Claim::Granted
        );
    }
}

#[tokio::test]
async fn a_lock_held_for_a_moment_is_waited_for() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path).synchronous(synchronous);
        let store = options.open().await.expect("it opens");
        let other = Connection::open(&path).expect("it opens");
        other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
        let release = tokio::task::spawn_blocking(move || {
            std::thread::sleep(Duration::from_millis(100));
            other.execute_batch("COMMIT").expect("it ends");
        });
        append(&store, THREAD, 1, 10).await.expect("it waits");
        release.await.expect("it does not panic");
    }
}

#[tokio::test]
async fn a_release_that_failed_is_repeated_before_the_next_claim() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path)
            .synchronous(synchronous)
            .busy_timeout(Duration::from_millis(50));
        let store = options.open().await.expect("it opens");
        let claimed = store.claim(THREAD, "one").await.expect("it is free");
        assert_eq!(claimed, Claim::Granted);
        let other = Connection::open(&path).expect("it opens");
        other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
        store.release(THREAD, "one");
        // Fails after the release has failed.
        unavailable(
            append(&store, THREAD, 1, 10).await,
            &path,
            "locked by another process",
        );
        other.execute_batch("ROLLBACK").expect("it ends");
        let claimed = store.claim(THREAD, "two").await.expect("it is free again");
        assert_eq!(claimed, Claim::Granted, "{synchronous:?}");
    }
}
