//! Damaged keys are errors that name the thread, and nothing is read or changed in part.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::checkpoint::{
    Address, Store, StoreError, StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use petalflow::event::TaskId;
use petalflow_redis::RedisStore;
use petalflow_test_servers::fresh_name;
use petalflow_test_servers::missing::{Seen, Waiting};
use petalflow_test_servers::store_tests::{ESSAY, append, checkpoint};

use crate::{open, shared_server};

/// The keys that all threads of a shard have together.
const OF_SHARD: [&str; 6] = ["threads", "infos", "states", "labels", "deleted", "totals"];

/// The keys of the thread `essay` in the shard where it is.
struct Damaged {
    url: String,
    prefix: String,
    store: RedisStore,
}

impl Damaged {
    /// A thread with two checkpoints, a write, an event log, a status and labels.
    async fn new(url: &str) -> Self {
        let prefix = fresh_name("damage");
        let store = open(url, &prefix).await.unwrap();
        append(&store, 1, None).await.unwrap();
        append(&store, 2, Some(1)).await.unwrap();
        let events = Address {
            thread: "essay",
            namespace: "/events",
        };
        store
            .append(events, &checkpoint(1), None, 0..0, None)
            .await
            .unwrap();
        store
            .write(ESSAY, 2, &[write("result")], None)
            .await
            .unwrap();
        let status = ThreadChange::Status {
            flow: "Write",
            status: ThreadStatus::Waiting,
            due_ms: Some(7),
        };
        store.describe("essay", status, None).await.unwrap();
        let labels = BTreeMap::from([("user".to_string(), "ann".to_string())]);
        let labels = ThreadChange::Labels(&labels);
        store.describe("essay", labels, None).await.unwrap();
        Damaged {
            url: url.into(),
            prefix,
            store,
        }
    }

    /// Runs a command. Its second word is the name of a key of the thread or of its shard; `DEL` takes several.
    async fn damage(&self, words: &str) {
        let mut words: Vec<String> = words.split(' ').map(unescape).collect();
        let keys = if words[0] == "DEL" { words.len() } else { 2 };
        for key in &mut words[1..keys] {
            let of_shard = OF_SHARD.contains(&key.as_str());
            let thread = if of_shard { "" } else { ":essay" };
            // The shard of the thread is part of the layout.
            *key = format!("{}{{7}}:{key}{thread}", self.prefix);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        crate::command(&self.url, &words).await;
    }
}

/// `%` stands for NUL, and `N5` for the number 5 with all its digits.
fn unescape(word: &str) -> String {
    let mut text = String::new();
    let mut chars = word.chars();
    while let Some(char) = chars.next() {
        match char {
            '%' => text.push('\0'),
            'N' => {
                text.push_str(&"0".repeat(19));
                text.extend(chars.next());
            }
            char => text.push(char),
        }
    }
    text
}

fn write(name: &str) -> StoredWrite {
    StoredWrite {
        task: TaskId::from_bytes([7; 16]),
        name: name.into(),
        bytes: vec![1],
    }
}

/// The thread is listed as damaged, if it is known which one is.
#[track_caller]
fn is_listed(listed: Result<Vec<ThreadInfo>, StoreError>, thread: &str, damage: &str) {
    if thread == "?" {
        return is_damage(listed, thread, damage);
    }
    let is_damaged = |info: &ThreadInfo| info.id == thread && info.damage.is_some();
    assert!(
        matches!(&listed, Ok(listed) if listed.iter().filter(|info| is_damaged(info)).count() == 1),
        "{damage}: {listed:?}"
    );
}

#[track_caller]
fn is_damage<T: std::fmt::Debug>(result: Result<T, StoreError>, thread: &str, damage: &str) {
    assert!(
        matches!(&result, Err(StoreError::Damaged { thread: found, .. }) if found == thread),
        "{damage}: {result:?}"
    );
}

/// Each call that uses the thread.
async fn is_damaged(store: &RedisStore, damage: &str) {
    is_damage(store.read(ESSAY, None).await, "essay", damage);
    is_damage(store.history(ESSAY, None, 10).await, "essay", damage);
    is_damage(store.writes(ESSAY, 0..9).await, "essay", damage);
    is_damage(store.namespaces("essay").await, "essay", damage);
    is_damage(append(store, 3, Some(2)).await, "essay", damage);
    is_damage(append(store, 3, None).await, "essay", damage);
    let writes = [write("another")];
    is_damage(store.write(ESSAY, 2, &writes, None).await, "essay", damage);
    is_damage(store.prune(ESSAY, 2, 2, None).await, "essay", damage);
}

#[tokio::test]
async fn records_that_are_in_one_of_two_keys_are_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "DEL marks values",
        "HSET infos essay N3N3N3N1N2#N2",
        "HSET infos essay N3N3N3N1N2#",
        "HSET infos essay N3N3N3N1N2#N1#4",
        "DEL states",
        "DEL labels",
        "DEL threads infos",
        "SET totals x",
        "DEL seqs",
        "DEL bytes",
        "DEL marks",
        "DEL values",
        "ZREM seqs %N2N200000001700000000002",
        "ZADD seqs 0 %N3N3N3",
        "ZADD seqs 5 %N2N200000001700000000002",
        "HDEL bytes %N1",
        "HSET bytes %N3 x",
        "HDEL infos essay",
        "HSET infos essay N2N2N3N1N2",
        "HSET infos essay N3N3N3N1N1",
        "HSET infos essay N3",
        "HSET infos essay -",
        "ZADD marks 0 %N2another",
        "HSET values %N2another x",
        "SET seqs x",
        "SET bytes x",
        "SET marks x",
        "SET values x",
        "SET namespaces x",
        "SET infos x",
    ] {
        let thread = Damaged::new(&server.url).await;
        thread.damage(damage).await;
        is_damaged(&thread.store, damage).await;
        thread.damage("DEL infos").await;
        thread.store.delete("essay", None).await.unwrap();
        append(&thread.store, 1, None).await.unwrap();
    }
}

/// As an earlier version has stored it: the number of writes is stored with the next change.
#[tokio::test]
async fn f42_a_thread_of_the_layout_before_is_read_and_counted() {
    let Some(server) = shared_server() else {
        return;
    };
    let thread = Damaged::new(&server.url).await;
    let bytes = 3 * checkpoint(1).bytes.len();
    let info = format!(
        "{:020}{bytes:020}{:020}{:020}N2",
        3,
        checkpoint(2).created_ms,
        checkpoint(1).created_ms
    );
    thread.damage(&format!("HSET infos essay {info}")).await;
    let listed = thread.store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!((listed[0].checkpoints, &listed[0].damage), (3, &None));
    thread.damage("DEL marks values").await;
    let read = thread.store.read(ESSAY, None).await.unwrap().unwrap();
    assert!(read.writes.is_empty(), "the loss was before the count");
    append(&thread.store, 3, Some(2)).await.unwrap();
    thread
        .store
        .write(ESSAY, 3, &[write("result")], None)
        .await
        .unwrap();
    let damage = "DEL marks values";
    thread.damage(damage).await;
    is_damaged(&thread.store, damage).await;
}

#[tokio::test]
async fn damaged_namespaces_are_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "DEL namespaces",
        "ZREM namespaces /events",
        "ZADD namespaces 0 review",
        "ZADD namespaces 5 /events",
    ] {
        let thread = Damaged::new(&server.url).await;
        thread.damage(damage).await;
        let namespaces = thread.store.namespaces("essay").await;
        is_damage(namespaces, "essay", damage);
    }
}

#[tokio::test]
async fn a_damaged_list_is_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for (damage, named) in [
        ("DEL states", "essay"),
        ("DEL labels", "essay"),
        ("DEL threads infos", "?"),
        ("SET totals x", "?"),
        ("ZREM threads essay", "essay"),
        ("ZADD threads 5 essay", "essay"),
        ("ZADD threads 0 essay-2", "essay-2"),
        ("HDEL infos essay", "essay"),
        ("HSET infos essay x", "essay"),
        ("HSET states essay x", "essay"),
        ("HSET states essay N2%waitong%%Write", "essay"),
        ("HSET states essay N2%waiting%x%Write", "essay"),
        ("HSET states essay N3%waiting%%Write", "essay"),
        ("HSET labels essay user", "essay"),
        ("SET threads x", "?"),
        ("SET infos x", "?"),
        ("SET states x", "?"),
        ("SET labels x", "?"),
    ] {
        let thread = Damaged::new(&server.url).await;
        thread.damage(damage).await;
        let listed = thread.store.threads(ThreadQuery::default()).await;
        is_listed(listed, named, damage);
        let one = ThreadQuery {
            prefix: "essay",
            ..ThreadQuery::default()
        };
        is_listed(thread.store.threads(one).await, named, damage);
    }
}

#[tokio::test]
async fn a_damaged_thread_does_not_hide_the_others() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "ZREM threads essay",
        "ZADD threads 5 essay",
        "HDEL infos essay",
        "HSET infos essay x",
        "HSET labels essay user",
    ] {
        let thread = Damaged::new(&server.url).await;
        // Some for each shard.
        let ids: Vec<String> = (0..100).map(|index| format!("thread-{index:02}")).collect();
        for id in &ids {
            let address = Address::root(id);
            let first = checkpoint(1);
            let appended = thread.store.append(address, &first, None, 0..0, None);
            appended.await.unwrap();
        }
        thread.damage(damage).await;
        let mut expected = ids.clone();
        expected.insert(0, "essay".into());
        let running = Some(ThreadStatus::Running);
        for (limit, status) in [(1_000, None), (7, None), (1_000, running), (7, running)] {
            let (mut found, mut after) = (Vec::new(), None::<String>);
            loop {
                let page = ThreadQuery {
                    after: after.as_deref(),
                    limit: Some(limit),
                    status,
                    ..ThreadQuery::default()
                };
                let page = thread.store.threads(page).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.id.clone());
                found.extend(page);
            }
            let is_damaged = |info: &&ThreadInfo| info.damage.is_some();
            assert_eq!(found.iter().filter(is_damaged).count(), 1, "{damage}");
            let found: Vec<String> = found.into_iter().map(|info| info.id).collect();
            assert_eq!(found, expected, "{damage}");
        }
    }
}

#[tokio::test]
async fn a_delete_that_fails_removes_nothing() {
    let Some(server) = shared_server() else {
        return;
    };
    let thread = Damaged::new(&server.url).await;
    let damage = "SET labels x";
    thread.damage(damage).await;
    is_damage(thread.store.delete("essay", None).await, "essay", damage);
    thread.damage("DEL labels").await;
    thread.damage("HSET labels essay user%ann").await;
    let stored = thread.store.read(ESSAY, None).await.unwrap();
    assert_eq!(stored.unwrap().chain, [checkpoint(2)]);
    let listed = thread.store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
async fn a_claim_that_does_not_expire_is_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    let thread = Damaged::new(&server.url).await;
    let damage = "SET claim another";
    thread.damage(damage).await;
    is_damage(thread.store.claim("essay", "one").await, "essay", damage);
    let damage = "RPUSH claim another";
    thread.damage("DEL claim").await;
    thread.damage(damage).await;
    is_damage(thread.store.claim("essay", "one").await, "essay", damage);
}

#[tokio::test]
async fn a_layout_that_is_no_number_is_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    let prefix = fresh_name("layout");
    open(&server.url, &prefix).await.unwrap();
    crate::command(&server.url, &["SET", &format!("{prefix}layout"), "one"]).await;
    let error = open(&server.url, &prefix).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

/// A server that evicts keys removes one, or several between two calls.
#[tokio::test]
async fn f42_each_key_that_is_evicted_is_noticed_or_harmless() {
    let Some(server) = shared_server() else {
        return;
    };
    // What is noticed if it is the only one. The other keys are not needed, or are in another key too.
    let keys = [
        ("threads", true),
        ("infos", true),
        ("states", true),
        ("labels", true),
        ("deleted", false),
        ("totals", false),
        ("seqs", true),
        ("bytes", true),
        ("marks", true),
        ("values", true),
        ("namespaces", false),
        ("claim", false),
    ];
    for (index, (key, is_noticed)) in keys.into_iter().enumerate() {
        for (other, _) in &keys[index..] {
            if [key, other] == ["deleted", "totals"] {
                // Nothing else says how many threads were deleted.
                continue;
            }
            let prefix = fresh_name("evicted");
            let store: Arc<dyn Store> = Arc::new(open(&server.url, &prefix).await.unwrap());
            let waiting = Waiting::begin(&store, &format!("essay-{prefix}")).await;
            for key in [key, other] {
                for shard in 0..16 {
                    let of_shard = OF_SHARD.contains(&key);
                    let thread = if of_shard {
                        ""
                    } else {
                        &format!(":{}", waiting.id)
                    };
                    let key = format!("{prefix}{{{shard}}}:{key}{thread}");
                    crate::command(&server.url, &["DEL", &key]).await;
                }
            }
            let seen = waiting.answer(&store, &format!("{key} and {other}")).await;
            if key == *other {
                assert_eq!(
                    matches!(seen, Seen::Noticed(_)),
                    is_noticed,
                    "{key}: {seen:?}"
                );
            }
        }
    }
}

/// What was counted of a shard is compared when a thread begins in it, and counted anew when nothing of the old threads is left.
#[tokio::test]
async fn f42_a_shard_without_its_lists_is_damage_until_its_threads_are_deleted() {
    let Some(server) = shared_server() else {
        return;
    };
    let thread = Damaged::new(&server.url).await;
    let damage = "DEL threads infos states labels";
    thread.damage(damage).await;
    is_damaged(&thread.store, damage).await;
    thread.store.delete("essay", None).await.unwrap();
    append(&thread.store, 1, None).await.unwrap();
    thread.damage("DEL deleted").await;
    assert_eq!(thread.store.incarnation("essay").await.unwrap(), 1);
    thread.store.delete("essay", None).await.unwrap();
    assert_eq!(thread.store.incarnation("essay").await.unwrap(), 2);
}
