//! The index of threads in a file of an earlier layout, and in one that lost part of it.

use petalflow::checkpoint::{
    Address, Store, StoredCheckpoint, ThreadChange, ThreadInfo, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
use petalflow::prelude::*;
use petalflow_sqlite::SqliteStore;
use petalflow_test_servers::frequent;
use rusqlite::Connection;

use crate::wait_until_closed;

#[state]
struct Note {
    #[key(input)]
    text: String,
    length: usize,
}

#[node(Note)]
async fn measure(text: &str) -> petalflow::Result<NoteLength> {
    if text.is_empty() {
        return Err("there is no text".into());
    }
    Ok(NoteLength(text.len()))
}

#[node(Note)]
async fn publish(length: &usize) {
    assert!(*length > 0);
}

flow!(Measure(Note) { measure -> publish; interrupt before publish; });

const ORDERS: [ThreadOrder; 5] = [
    ThreadOrder::Id,
    ThreadOrder::CreatedNewest,
    ThreadOrder::CreatedOldest,
    ThreadOrder::UpdatedNewest,
    ThreadOrder::UpdatedOldest,
];

async fn lists(store: &SqliteStore) -> Vec<Vec<ThreadInfo>> {
    let mut lists = Vec::new();
    for order in ORDERS {
        let query = ThreadQuery {
            order,
            ..ThreadQuery::default()
        };
        lists.push(store.threads(query).await.expect("they are listed"));
    }
    lists
}

#[tokio::test]
async fn f43_a_file_of_a_layout_before_gets_the_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let threads = Measure::new().store(&store);
    for (id, text) in [("one", "some"), ("two", ""), ("three", "more")] {
        let run = threads.thread(id).run(text.to_string()).await;
        assert_eq!(run.is_err(), text.is_empty());
    }
    let (before, counted) = (lists(&store).await, threads.counts(ThreadQuery::default()));
    let counted = counted.await.expect("they are counted");
    assert_eq!(counted.iter().map(|count| count.threads).sum::<u64>(), 3);
    drop((threads, store));
    let layouts = [
        "DROP TABLE attributes; ALTER TABLE threads ADD COLUMN state TEXT AS (
                CASE WHEN updated_ms IS NULL THEN 'running' ELSE ifnull(status, 'running') END);
            DROP INDEX threads_by_state;
            CREATE INDEX threads_by_state ON threads (flow, state, created_ms, updated_ms);
            PRAGMA user_version = 5",
        "DROP TABLE attributes; DROP INDEX threads_by_state; DROP INDEX threads_by_change; DROP INDEX threads_by_creation;
            ALTER TABLE threads DROP COLUMN updated_ms;
            ALTER TABLE log RENAME COLUMN reach TO span; PRAGMA user_version = 4",
    ];
    for layout in layouts {
        wait_until_closed(&path);
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand
            .execute_batch(layout)
            .expect("it is a layout before");
        drop(by_hand);
        let store = SqliteStore::open(&path).await.expect("it is migrated");
        assert_eq!(lists(&store).await, before);
        let after = store.thread_counts(ThreadQuery::default()).await;
        assert_eq!(after.expect("they are counted"), counted);
        assert_eq!(store.verify().await.expect("it answers"), [""; 0]);
    }
}

#[tokio::test]
async fn f43_a_time_that_is_not_that_of_the_newest_checkpoint_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let threads = Measure::new().store(&store);
    let run = threads.thread("one").run("some".to_string()).await;
    assert!(run.is_ok());
    let by_hand = Connection::open(&path).expect("it opens");
    let change = "UPDATE threads SET updated_ms = updated_ms + 1 WHERE thread = 'one'";
    assert_eq!(by_hand.execute(change, ()).expect("it is changed"), 1);
    for list in lists(&store).await {
        let problem = list[0].damage.as_deref().unwrap_or_default();
        assert!(problem.contains("another time"), "{list:?}");
    }
}

/// Appends a checkpoint that fills a row.
async fn append(store: &SqliteStore, namespace: &str, seq: u64, created_ms: u64) {
    let address = Address {
        thread: "one",
        namespace,
    };
    let checkpoint = StoredCheckpoint {
        seq,
        base: seq,
        created_ms,
        bytes: vec![7; 2_000],
    };
    let after = Some(seq - 1).filter(|after| *after > 0);
    let appended = store.append(address, &checkpoint, after, 0..0, None).await;
    appended.expect("it is appended");
}

#[tokio::test]
async fn f43_the_last_rows_of_a_thread_have_the_time_of_its_change() {
    let store = SqliteStore::in_memory().expect("it opens");
    let check = async |updated_ms: u64, status: ThreadStatus| {
        for list in lists(&store).await {
            let found = (&list[0].damage, list[0].updated_ms, list[0].status);
            assert_eq!(found, (&None, updated_ms, status));
        }
    };
    append(&store, "", 1, 5_000).await;
    check(5_000, ThreadStatus::Running).await;
    // The clock went back. Only the last row is read.
    append(&store, "", 2, 1_000).await;
    check(1_000, ThreadStatus::Running).await;
    let finished = ThreadChange::Status {
        flow: "Measure",
        status: ThreadStatus::Finished,
        due_ms: None,
    };
    let set = store.describe("one", finished, None).await;
    set.expect("it is set");
    check(1_000, ThreadStatus::Finished).await;
    for (seq, created_ms) in [(1, 9_000), (2, 7_000), (3, 8_000), (4, 8_000)] {
        append(&store, "review", seq, created_ms).await;
        check(created_ms, ThreadStatus::Finished).await;
    }
    let nested = Address {
        thread: "one",
        namespace: "review",
    };
    let pruned = store.prune(nested, 5, 5, None).await;
    pruned.expect("it is pruned");
    check(1_000, ThreadStatus::Finished).await;
}

#[tokio::test]
async fn f43_frequent_and_rare_conditions_list_and_count_the_same() {
    let store = SqliteStore::in_memory().expect("it opens");
    frequent::conditions_list_and_count_the_same(&store).await;
}
