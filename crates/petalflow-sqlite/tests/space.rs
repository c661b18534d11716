//! The size of the file: what is removed is used again, or given back.

use std::path::Path;

use petalflow::checkpoint::{Address, Store, ThreadQuery};
use petalflow::prelude::*;
use petalflow::thread::Retention;
use petalflow_sqlite::{SqliteStore, Synchronous};
use tempfile::TempDir;

use crate::{BOTH, append};

/// The size of the database file and of its log.
fn size(path: &Path) -> u64 {
    let log = path.with_extension("db-wal");
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    size(path) + size(&log)
}

#[tokio::test]
async fn free_pages_are_given_back() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path).synchronous(synchronous);
        let store = options.open().await.expect("it opens");
        let other = SqliteStore::open(&path).await.expect("it opens twice");
        for thread in 0..20 {
            for seq in 1..=10 {
                append(&store, &format!("essay-{thread}"), seq, 20_000)
                    .await
                    .expect("it is written");
            }
        }
        assert!(size(&path) > 4_000_000);
        let deleted: Vec<String> = (1..20).map(|thread| format!("essay-{thread}")).collect();
        let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
        store
            .delete_many(&deleted, None)
            .await
            .expect("they are deleted");
        store.reclaim().await.expect("space is given back");
        let left = size(&path);
        assert!(left < 400_000, "{synchronous:?}: {left}");
        let history = other.history(Address::root("essay-0"), None, 100).await;
        assert_eq!(history.expect("it can be read").len(), 10);
        append(&other, "essay-0", 11, 20_000)
            .await
            .expect("it is written");
        let threads = store.threads(ThreadQuery::default()).await;
        assert_eq!(threads.expect("it can be read")[0].checkpoints, 11);
    }
}

#[state]
struct Count {
    #[key(sum)]
    n: u64,
}

#[node(Count)]
async fn add(n: &u64) -> (CountN, bool) {
    (CountN(1), n + 1 < 10_000)
}

flow!(Add(Count) { START -> add; add -> match { true => add, false => END } });

#[tokio::test]
async fn a_long_run_with_retention_leaves_a_small_file() {
    let folder = TempDir::new().expect("a folder can be made");
    let mut sizes = Vec::new();
    for (name, retention) in [
        ("few.db", Retention::max_checkpoints(5)),
        ("all.db", Retention::ALL),
    ] {
        let path = folder.path().join(name);
        let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
        let store = options.open().await.expect("it opens");
        let launch = Add::new().limit(100_000).store(&store);
        let thread = launch.retention(retention).thread("t");
        let run = thread.run(()).await.expect("it runs");
        assert_eq!(run.into_finished().expect("it ends").n, 10_000);
        store.reclaim().await.expect("the log is emptied");
        sizes.push(size(&path));
    }
    assert!(sizes[0] < 200_000 && sizes[1] > 3 * sizes[0], "{sizes:?}");
}
