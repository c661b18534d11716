//! A full disk.

use futures_util::future::join_all;
use petalflow::checkpoint::{Address, Store};
use petalflow_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::{BOTH, append, newest, unavailable};

const THREAD: &str = "essay-42";

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_a_temporary_error() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path)
            .synchronous(synchronous)
            .max_bytes(200_000);
        let store = options.open().await.expect("it opens");
        let (mut last, mut failure) = (0, None);
        while failure.is_none() {
            match append(&store, THREAD, last + 1, 5_000).await {
                Ok(()) => last += 1,
                Err(error) => failure = Some(error),
            }
        }
        assert!(last > 10, "there was room for {last} only");
        unavailable(failure.map_or(Ok(()), Err), &path, "no space left");
        // The next call fails in the same way, and nothing is lost.
        let again = append(&store, THREAD, last + 1, 5_000).await;
        unavailable(again, &path, "no space left");
        let history = store.history(Address::root(THREAD), None, usize::MAX).await;
        let history = history.expect("it can be read");
        assert_eq!(
            history.len() as u64,
            last,
            "all acknowledged checkpoints are stored"
        );
        assert!(
            history
                .iter()
                .all(|checkpoint| checkpoint.bytes.len() == 5_000)
        );
        // After space is freed, the store works again.
        store
            .prune(Address::root(THREAD), last, last, None)
            .await
            .expect("removing needs little space");
        append(&store, THREAD, last + 1, 5_000)
            .await
            .expect("there is room again");
        assert_eq!(newest(&store, THREAD).await, Some(last + 1));
    }
}

#[tokio::test]
async fn a_write_that_fits_is_stored_beside_one_that_does_not() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path)
            .synchronous(synchronous)
            .max_bytes(500_000);
        let store = options.open().await.expect("it opens");
        let threads: Vec<String> = (0..30).map(|thread| format!("essay-{thread}")).collect();
        let sizes = (0..30).map(|index| if index % 5 == 2 { 2_000_000 } else { 500 });
        let appends = threads.iter().zip(sizes);
        let results = join_all(appends.map(|(thread, size)| append(&store, thread, 1, size))).await;
        for (index, (thread, result)) in threads.iter().zip(results).enumerate() {
            if index % 5 == 2 {
                unavailable(result, &path, "no space left");
                assert_eq!(newest(&store, thread).await, None);
            } else {
                result.expect("it fits");
                assert_eq!(newest(&store, thread).await, Some(1));
            }
        }
    }
}
