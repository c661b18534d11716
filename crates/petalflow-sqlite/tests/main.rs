//! `SqliteStore`: the contract, and the behaviour of database files.

mod approvers;
mod crash;
mod damage;
mod frequent_status;
mod grouping;
mod index;
mod killed_operations;
mod locks;
mod log;
mod missing;
mod open_files;
mod opening;
mod replaced;
mod room;
mod sizes;
mod space;

use std::path::Path;

use petalflow::checkpoint::{Address, Store, StoreError, StoredCheckpoint};
use petalflow::error::message_with_sources;
use petalflow_sqlite::{SqliteStore, Synchronous};
use petalflow_testing::{StoreUnderTest, store_contract};
use tempfile::TempDir;

store_contract! {
    full, async || open_in_file(Synchronous::Full).await
}

store_contract! {
    normal, async || open_in_file(Synchronous::Normal).await
}

store_contract! {
    memory, async || {
        let store = SqliteStore::in_memory()?;
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}

const BOTH: [Synchronous; 2] = [Synchronous::Full, Synchronous::Normal];

/// A store in a new file, and another on the same file.
async fn open_in_file(synchronous: Synchronous) -> Result<StoreUnderTest, petalflow::BoxError> {
    let folder = TempDir::new()?;
    let path = folder.path().join("essays.db");
    let open = || SqliteStore::options(&path).synchronous(synchronous).open();
    Ok(StoreUnderTest::new(open().await?)
        .with_other(open().await?)
        .with_guard(folder))
}

/// A checkpoint with `size` bytes.
fn checkpoint(seq: u64, size: usize) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: seq,
        bytes: vec![u8::try_from(seq % 251).expect("small"); size],
    }
}

async fn append(
    store: &SqliteStore,
    thread: &str,
    seq: u64,
    size: usize,
) -> Result<(), StoreError> {
    let after = seq.checked_sub(1).filter(|after| *after > 0);
    store
        .append(
            Address::root(thread),
            &checkpoint(seq, size),
            after,
            0..0,
            None,
        )
        .await
}

async fn newest(store: &SqliteStore, thread: &str) -> Option<u64> {
    let stored = store.read(Address::root(thread), None).await;
    Some(stored.expect("it can be read")?.chain.last()?.seq)
}

/// Checks that the store is not available, and that the error names the file and contains this text.
#[track_caller]
fn unavailable<T: std::fmt::Debug>(result: Result<T, StoreError>, path: &Path, says: &str) {
    match result {
        Err(error @ StoreError::Unavailable(_)) => {
            let words = message_with_sources(&error);
            assert!(
                words.contains(says) && words.contains(&path.display().to_string()),
                "the error names the file and contains {says:?}: {words}"
            );
        }
        other => panic!("expected an unavailable store ({says}), found {other:?}"),
    }
}

/// Waits until the last connection is closed, which removes the write-ahead log.
fn wait_until_closed(path: &Path) {
    petalflow_test_support::wait_until_gone(&path.with_extension("db-wal"));
}
