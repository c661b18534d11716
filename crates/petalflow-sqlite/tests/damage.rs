//! Damaged files are errors, and are never read in part.

use petalflow::checkpoint::{
    Address, Store, StoreError, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use petalflow::error::message_with_sources;
use petalflow::prelude::*;
use petalflow::thread::StoredThreads;
use petalflow_sqlite::{SqliteStore, Synchronous};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, checkpoint, newest, wait_until_closed};

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
    bytes[24 * 1024..].fill(0xaa);
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
    for row in ["log", "records WHERE name = 'once/count'"] {
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

/// The damage that a list, or a read of the thread, must report. Each begins with the store as it was.
const SILENT: &[(&str, bool)] = &[
    ("UPDATE log SET reach = reach + 1 WHERE id >> 32 = 1", true),
    (
        "UPDATE log SET checkpoints = checkpoints + 1 WHERE id >> 32 = 1",
        false,
    ),
    ("UPDATE log SET size = size + 1 WHERE id >> 32 = 1", false),
    (
        "UPDATE log SET size = 9223372036854775807 WHERE id >> 32 = 1",
        true,
    ),
    ("UPDATE log SET checkpoints = -1 WHERE id >> 32 = 1", true),
    (
        "UPDATE log SET created_ms = created_ms + 1 WHERE id >> 32 = 1",
        false,
    ),
    ("UPDATE log SET id = id + 1 WHERE id >> 32 = 1", true),
    (
        "DELETE FROM log WHERE id = (SELECT max(id) FROM log WHERE id >> 32 = 1)",
        false,
    ),
    (
        "DELETE FROM log WHERE id = (SELECT min(id) FROM log WHERE id >> 32 = 1)",
        false,
    ),
    ("DELETE FROM log WHERE id >> 32 = 1", true),
    (
        "UPDATE addresses SET number = 77 WHERE thread = 'essay-42'",
        true,
    ),
    (
        "UPDATE addresses SET first = first + 1 WHERE thread = 'essay-42'",
        true,
    ),
    (
        "UPDATE addresses SET first = 1 << 40 WHERE thread = 'essay-42'",
        true,
    ),
    (
        "UPDATE addresses SET thread = 'essay-43' WHERE thread = 'essay-42'",
        true,
    ),
    (
        "UPDATE addresses SET namespace = 'inner' WHERE thread = 'essay-42'",
        false,
    ),
    ("DELETE FROM addresses WHERE thread = 'essay-42'", true),
];

#[tokio::test]
async fn a_lost_row_of_whole_checkpoints_is_noticed_by_the_status() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    for seq in 1..=3 {
        // A row that is full has no part of the next checkpoint.
        append(&store, THREAD, seq, 2_000)
            .await
            .expect("it is written");
    }
    store
        .describe(THREAD, FINISHED, None)
        .await
        .expect("it is written");
    let by_hand = Connection::open(&path).expect("it opens");
    let damage = "DELETE FROM log WHERE id = (SELECT max(id) FROM log)";
    by_hand.execute(damage, ()).expect("it is written");
    is_damage(store.read(Address::root(THREAD), None).await, damage);
}

#[tokio::test]
async fn a_damaged_layout_is_not_an_error_of_sqlite() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    drop(store_with_rows(&path).await);
    let by_hand = Connection::open(&path).expect("it opens");
    let damage = "ALTER TABLE addresses RENAME COLUMN number TO numbes";
    by_hand.execute(damage, ()).expect("it is written");
    let store = SqliteStore::open(&path).await.expect("it opens");
    is_damage(store.read(Address::root(THREAD), None).await, damage);
}

const FINISHED: ThreadChange<'_> = ThreadChange::Status {
    flow: "Write",
    status: ThreadStatus::Finished,
    due_ms: None,
};

/// A store with a thread of several rows, whose status is listed.
async fn store_with_rows(path: &std::path::Path) -> SqliteStore {
    let store = SqliteStore::open(path).await.expect("it opens");
    for seq in 1..=20 {
        append(&store, THREAD, seq, 150)
            .await
            .expect("it is written");
    }
    store
        .describe(THREAD, FINISHED, None)
        .await
        .expect("it is written");
    store
}

/// The thread is listed as damaged.
#[track_caller]
fn is_listed(listed: Result<Vec<ThreadInfo>, StoreError>, damage: &str) {
    let is_damaged = |info: &ThreadInfo| info.id == THREAD && info.damage.is_some();
    assert!(
        matches!(&listed, Ok(listed) if listed.iter().any(is_damaged)),
        "{damage}: {listed:?}"
    );
}

#[track_caller]
fn is_damage<T: std::fmt::Debug>(result: Result<T, StoreError>, damage: &str) {
    assert!(
        matches!(&result, Err(StoreError::Damaged { thread, .. }) if thread == THREAD),
        "{damage}: {result:?}"
    );
}

#[tokio::test]
async fn rows_that_do_not_fit_together_are_damage() {
    for (damage, listed) in SILENT {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let store = store_with_rows(&path).await;
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute(damage, ()).expect("it is written");
        let address = Address::root(THREAD);
        let history = store.history(address, None, 1_000).await;
        is_damage(history, damage);
        if *listed {
            is_listed(store.threads(ThreadQuery::default()).await, damage);
            let finished = ThreadQuery {
                status: Some(ThreadStatus::Finished),
                ..ThreadQuery::default()
            };
            is_listed(store.threads(finished).await, damage);
        }
    }
}

/// What is found of a store, of the thread and of the store itself.
async fn verified(store: &SqliteStore) -> Vec<String> {
    let mut found = store.verify().await.expect("the store answers");
    let threads = StoredThreads::new(store);
    for info in store
        .threads(ThreadQuery::default())
        .await
        .expect("it lists")
    {
        found.extend(info.damage);
        found.extend(threads.verify(&info.id).await.expect("the store answers"));
    }
    found
}

#[tokio::test]
async fn f42_verifying_a_store_finds_each_damage() {
    let silent: Vec<&str> = SILENT.iter().map(|(damage, _)| *damage).collect();
    let others = [
        "UPDATE records SET bytes = x'00'",
        "UPDATE log SET bytes = zeroblob(length(bytes)) WHERE id = (SELECT min(id) FROM log)",
        "DELETE FROM threads WHERE thread = 'essay-42'",
        // Nothing lists the thread any more.
        "DELETE FROM addresses WHERE thread = 'essay-42'; DELETE FROM threads WHERE thread = 'essay-42'",
    ];
    for damage in [""].into_iter().chain(silent).chain(others) {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
        let store = options.open().await.expect("it opens");
        let thread = WriteEssay::new().store(&store).thread(THREAD);
        for turn in 0..20 {
            let topic = format!("petals and leaves {turn} ").repeat(10);
            thread.run(topic).await.expect_err("there is no room");
        }
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute_batch(damage).expect("it is written");
        let found = verified(&store).await;
        assert_eq!(found.is_empty(), damage.is_empty(), "{damage}: {found:?}");
    }
}

/// On every page, once, and the others too.
#[tokio::test]
async fn f42_a_thread_without_its_rows_does_not_vanish_from_a_list() {
    for damage in [
        "DELETE FROM log WHERE id >> 32 IN (SELECT number FROM addresses WHERE thread = 'essay-42')",
        "DELETE FROM addresses WHERE thread = 'essay-42'",
        "DELETE FROM log WHERE id >> 32 IN (SELECT number FROM addresses WHERE namespace = 'review')",
    ] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let store = store_with_rows(&path).await;
        let nested = Address {
            thread: THREAD,
            namespace: "review",
        };
        let first = checkpoint(1, 10);
        let appended = store.append(nested, &first, None, 0..0, None).await;
        appended.expect("it is written");
        let mut expected: Vec<String> = vec![THREAD.into()];
        for other in ["a", "essay-41", "essay-420", "z"] {
            append(&store, other, 1, 10).await.expect("it is written");
            expected.push(other.into());
        }
        expected.sort();
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute(damage, ()).expect("it is written");
        for limit in [1, 2, 3, 100] {
            let (mut found, mut after) = (Vec::new(), None::<String>);
            loop {
                let page = ThreadQuery {
                    after: after.as_deref(),
                    limit: Some(limit),
                    ..ThreadQuery::default()
                };
                let page = store.threads(page).await.expect("it is listed");
                let Some(last) = page.last() else { break };
                after = Some(last.id.clone());
                found.extend(page);
            }
            let damaged = found.iter().filter(|info| info.damage.is_some());
            let damaged: Vec<&str> = damaged.map(|info| &*info.id).collect();
            assert_eq!(damaged, [THREAD], "{damage}, {limit} at once");
            let found: Vec<&str> = found.iter().map(|info| &*info.id).collect();
            assert_eq!(found, expected, "{damage}, {limit} at once");
        }
        let elsewhere = ThreadQuery {
            prefix: "z",
            ..ThreadQuery::default()
        };
        let found = store.threads(elsewhere).await.expect("it is listed");
        assert_eq!(found.len(), 1, "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_end_of_a_log_is_not_continued() {
    for damage in [
        "UPDATE log SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE id = (SELECT max(id) FROM log)",
        "DELETE FROM log WHERE id = (SELECT max(id) FROM log)",
        "DELETE FROM log",
        "DELETE FROM addresses WHERE thread = 'essay-42'",
    ] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        drop(store_with_rows(&path).await);
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute(damage, ()).expect("it is written");
        // A store that has not appended to it yet.
        let store = SqliteStore::open(&path).await.expect("it opens");
        let address = Address::root(THREAD);
        is_damage(store.read(address, None).await, damage);
        for after in [None, Some(20)] {
            let next = checkpoint(21, 10);
            is_damage(
                store.append(address, &next, after, 0..0, None).await,
                damage,
            );
        }
        store.delete(THREAD, None).await.expect("it can be deleted");
        append(&store, THREAD, 1, 10).await.expect("it is new");
    }
}

#[tokio::test]
async fn a_new_thread_never_gets_the_rows_of_another() {
    for damage in [
        "UPDATE addresses SET number = 0 WHERE thread = ''",
        "UPDATE addresses SET number = -7 WHERE thread = ''",
        "UPDATE addresses SET number = 9223372036854775807 WHERE thread = ''",
        "DELETE FROM addresses WHERE thread = ''",
    ] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let store = store_with_rows(&path).await;
        // No row of the log begins where that of a new thread would.
        let address = Address::root(THREAD);
        store
            .prune(address, 15, 15, None)
            .await
            .expect("it is written");
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute(damage, ()).expect("it is written");
        let result = append(&store, "another", 1, 10).await;
        assert!(
            matches!(&result, Err(StoreError::Damaged { thread, .. }) if thread == "another"),
            "{damage}: {result:?}"
        );
        assert_eq!(newest(&store, THREAD).await, Some(20));
        append(&store, THREAD, 21, 10).await.expect("it continues");
    }
}

#[tokio::test]
async fn a_damaged_status_is_not_that_of_a_running_thread() {
    for damage in [
        "UPDATE threads SET status = 'finishee'",
        "UPDATE threads SET due_ms = -1",
        "UPDATE threads SET created_ms = -1",
        "UPDATE threads SET at = 21",
        "UPDATE threads SET status = NULL",
    ] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let store = store_with_rows(&path).await;
        let by_hand = Connection::open(&path).expect("it opens");
        by_hand.execute(damage, ()).expect("it is written");
        is_listed(store.threads(ThreadQuery::default()).await, damage);
    }
}

#[tokio::test]
async fn a_damaged_thread_does_not_hide_the_others() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = store_with_rows(&path).await;
    for thread in ["a", "z"] {
        append(&store, thread, 1, 10).await.expect("it is written");
    }
    let by_hand = Connection::open(&path).expect("it opens");
    let damage = "UPDATE threads SET status = 'lost' WHERE thread = 'essay-42'";
    by_hand.execute(damage, ()).expect("it is written");
    for status in [None, Some(ThreadStatus::Running)] {
        let page = ThreadQuery {
            status,
            limit: Some(2),
            ..ThreadQuery::default()
        };
        let first = store.threads(page).await.expect("others are listed");
        let rest = ThreadQuery {
            after: Some(&first[1].id),
            ..page
        };
        let rest = store.threads(rest).await.expect("others are listed");
        let all: Vec<_> = first.into_iter().chain(rest).collect();
        let ids: Vec<&str> = all.iter().map(|info| &*info.id).collect();
        assert_eq!(ids, ["a", THREAD, "z"]);
        let damage = all[1].damage.as_deref().expect("it is damaged");
        assert!(damage.contains("unknown status `lost`"), "{damage}");
        assert_eq!((&all[0].damage, &all[2].damage), (&None, &None));
    }
}

#[tokio::test]
async fn threads_beside_a_damaged_one_are_resumed() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let threads = WriteEssay::new().store(&store);
    let ids = ["a-first", THREAD, "z-last"];
    for id in ids {
        let run = threads.thread(id).run("petals".to_string()).await;
        assert!(run.is_err(), "the node fails each time");
    }
    let by_hand = Connection::open(&path).expect("it opens");
    let damage = "UPDATE log SET checkpoints = -1 WHERE id >> 32 = (SELECT number FROM addresses WHERE thread = ?1)";
    assert_eq!(by_hand.execute(damage, [THREAD]).expect("it is written"), 1);
    is_listed(store.threads(ThreadQuery::default()).await, damage);

    let resumed = threads.resume_all(ThreadQuery::default()).await;
    are_resumed(resumed.expect("it lists"), &ids);
    // Only the two others wait for a question that has expired.
    for id in ["a-first", "z-last"] {
        let due = ThreadChange::Status {
            flow: "WriteEssay",
            status: ThreadStatus::Waiting,
            due_ms: Some(1),
        };
        store.describe(id, due, None).await.expect("it is written");
    }
    let swept = threads.sweep().await.expect("it lists");
    are_resumed(swept, &["a-first", "z-last"]);
}

/// The damaged thread has its damage as its error. In the others, the node has run.
#[track_caller]
fn are_resumed<T>(resumed: Vec<(String, Result<T, petalflow::RunError>)>, ids: &[&str]) {
    let mut found = Vec::new();
    for (id, result) in resumed {
        let error = result.err().expect("the node fails each time");
        let message = message_with_sources(&error);
        let expected = if id == THREAD {
            "damaged"
        } else {
            "no room for 1 words"
        };
        assert!(message.contains(expected), "{id}: {message}");
        found.push(id);
    }
    found.sort_unstable();
    assert_eq!(found, ids);
}
