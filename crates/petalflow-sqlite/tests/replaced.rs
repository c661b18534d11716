//! A database file that is moved, deleted or replaced while it is open.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{BOTH, Synchronous, append, newest, unavailable};

const THREAD: &str = "essay-42";
const SAYS: &str = "was deleted, moved or replaced";

/// A store with one checkpoint.
async fn with_one_checkpoint(path: &Path, synchronous: Synchronous) -> SqliteStore {
    let options = SqliteStore::options(path).synchronous(synchronous);
    let store = options.open().await.expect("it opens");
    append(&store, THREAD, 1, 100).await.expect("it is written");
    store
}

/// Checks that the store neither writes to a file without a path nor reads another file.
async fn assert_refused(store: &SqliteStore, path: &Path) {
    unavailable(append(store, THREAD, 2, 100).await, path, SAYS);
    unavailable(append(store, THREAD, 2, 100_000).await, path, SAYS);
    unavailable(store.threads(ThreadQuery::default()).await, path, SAYS);
    unavailable(store.claim(THREAD, "me").await, path, SAYS);
}

#[tokio::test]
async fn a_file_that_is_moved_is_an_error_until_it_is_back() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let (path, away) = (folder.path().join("a.db"), folder.path().join("away.db"));
        let store = with_one_checkpoint(&path, synchronous).await;
        fs::rename(&path, &away).expect("it can be moved");
        assert_refused(&store, &path).await;
        fs::rename(&away, &path).expect("it can be moved back");
        append(&store, THREAD, 2, 100).await.expect("it is back");
        assert_eq!(newest(&store, THREAD).await, Some(2));
    }
}

#[tokio::test]
async fn a_file_that_is_deleted_or_replaced_is_an_error_until_the_store_is_opened_again() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("a.db");
        let store = with_one_checkpoint(&path, synchronous).await;
        for file in fs::read_dir(folder.path()).expect("it can be listed") {
            fs::remove_file(file.expect("it is there").path()).expect("it can be removed");
        }
        assert_refused(&store, &path).await;
        // Another database at the same path.
        let other = with_one_checkpoint(&path, synchronous).await;
        assert_refused(&store, &path).await;
        append(&other, THREAD, 2, 100).await.expect("it is another");
        assert_eq!(newest(&other, THREAD).await, Some(2));
    }
}
