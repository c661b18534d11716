//! Damaged rows are errors that name the thread, and nothing is read or changed in part.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    Address, Store, StoreError, StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use petalflow::event::TaskId;
use petalflow_postgres::PostgresStore;
use petalflow_test_servers::fresh_name;
use petalflow_test_servers::store_tests::{ESSAY, append, checkpoint};

use crate::{open, shared_server, sql};

const EVENTS: Address<'_> = Address {
    thread: "essay",
    namespace: "/events",
};

const WAITING: ThreadChange<'_> = ThreadChange::Status {
    flow: "Write",
    status: ThreadStatus::Waiting,
    due_ms: Some(7),
};

/// A thread with two checkpoints, a write, an event log, a status and labels, after this damage. The constraints are removed
/// first, because damage on a disk does not keep them.
async fn damaged_store(url: &str, damage: &str) -> (PostgresStore, String) {
    let schema = fresh_name("damage");
    let store = open(url, &schema).await.unwrap();
    append(&store, 1, None).await.unwrap();
    append(&store, 2, Some(1)).await.unwrap();
    store
        .append(EVENTS, &checkpoint(1), None, 0..0, None)
        .await
        .unwrap();
    let write = StoredWrite {
        task: TaskId::from_bytes([7; 16]),
        name: "result".into(),
        bytes: vec![1],
    };
    store.write(ESSAY, 2, &[write], None).await.unwrap();
    store.describe("essay", WAITING, None).await.unwrap();
    let labels = BTreeMap::from([("user".to_string(), "ann".to_string())]);
    let labels = ThreadChange::Labels(&labels);
    store.describe("essay", labels, None).await.unwrap();
    let loose = "ALTER TABLE lines ALTER namespace DROP NOT NULL;
        ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_line_fkey, ALTER chain_from DROP NOT NULL, ALTER bytes DROP NOT NULL;
        ALTER TABLE task_writes ALTER bytes DROP NOT NULL;
        ALTER TABLE threads ALTER label_names DROP NOT NULL;
        ALTER TABLE claims ALTER owner DROP NOT NULL, ALTER session DROP NOT NULL;
        ALTER TABLE layout ALTER version DROP NOT NULL";
    // Nor does it run triggers.
    let quiet = "ALTER TABLE lines DISABLE TRIGGER index_line";
    let loud = "ALTER TABLE lines ENABLE TRIGGER index_line";
    let statements = format!("SET search_path = {schema}; {loose}; {quiet}; {damage}; {loud}");
    sql(url, &statements).await;
    (store, schema)
}

/// The thread is listed as damaged, and does not hide another one.
#[track_caller]
fn is_listed(listed: Result<Vec<ThreadInfo>, StoreError>, damage: &str) {
    let is_damaged = |info: &ThreadInfo| info.id == "essay" && info.damage.is_some();
    let is_other = |info: &ThreadInfo| info.id == "other" && info.damage.is_none();
    assert!(
        matches!(&listed, Ok(listed) if listed.iter().any(is_damaged) && listed.iter().any(is_other)),
        "{damage}: {listed:?}"
    );
}

#[track_caller]
fn is_damage<T: std::fmt::Debug>(result: Result<T, StoreError>, damage: &str) {
    assert!(
        matches!(&result, Err(StoreError::Damaged { thread, .. }) if thread == "essay"),
        "{damage}: {result:?}"
    );
}

#[tokio::test]
async fn a_line_that_does_not_fit_its_checkpoints_is_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "UPDATE lines SET newest = 1",
        "UPDATE lines SET newest = 3",
        "UPDATE lines SET newest = -2",
        "UPDATE lines SET newest = NULL",
        "DELETE FROM checkpoints",
        "DELETE FROM checkpoints WHERE seq = 2",
        "UPDATE checkpoints SET seq = 3 WHERE seq = 2",
        "UPDATE checkpoints SET line = line + 77",
        "DELETE FROM checkpoints WHERE seq = 2; UPDATE lines SET newest = 1 WHERE newest = 2",
        "DELETE FROM checkpoints; DELETE FROM lines",
    ] {
        let (store, _) = damaged_store(&server.url, damage).await;
        is_damage(store.read(ESSAY, None).await, damage);
        is_damage(store.read(ESSAY, Some(1)).await, damage);
        is_damage(store.history(ESSAY, None, 10).await, damage);
        store.delete("essay", None).await.unwrap();
        assert_eq!(store.read(ESSAY, None).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_damaged_line_is_not_continued() {
    let Some(server) = shared_server() else {
        return;
    };
    for (damage, after) in [
        ("UPDATE lines SET newest = NULL", None),
        ("UPDATE lines SET newest = NULL", Some(2)),
        ("UPDATE lines SET newest = 1", Some(1)),
        ("UPDATE lines SET newest = 1", Some(2)),
    ] {
        let (store, _) = damaged_store(&server.url, damage).await;
        for seq in [2, 3] {
            is_damage(append(&store, seq, after).await, damage);
        }
    }
}

#[tokio::test]
async fn values_that_are_never_written_are_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "UPDATE checkpoints SET chain_from = NULL",
        "UPDATE checkpoints SET chain_from = -1",
        "UPDATE checkpoints SET created_ms = -1",
        "UPDATE checkpoints SET bytes = NULL",
        "UPDATE task_writes SET bytes = NULL",
        "UPDATE task_writes SET task = 'short'",
    ] {
        let (store, _) = damaged_store(&server.url, damage).await;
        is_damage(store.read(ESSAY, None).await, damage);
    }
    let damage = "UPDATE lines SET namespace = NULL WHERE namespace <> ''";
    let (store, _) = damaged_store(&server.url, damage).await;
    is_damage(store.namespaces("essay").await, damage);
    let damage = "INSERT INTO claims (thread, owner, session) VALUES ('essay', 'one', NULL)";
    let (store, _) = damaged_store(&server.url, damage).await;
    is_damage(store.claim("essay", "two").await, damage);
    let damage = "INSERT INTO claims (thread, owner, session) VALUES ('essay', NULL, 7)";
    let (store, schema) = damaged_store(&server.url, damage).await;
    assert!(store.claim("other", "one").await.is_ok());
    // The claim of a session that is alive: that of this store.
    let own = format!(
        "UPDATE {schema}.claims SET session = (SELECT session FROM {schema}.claims WHERE thread = 'other')"
    );
    sql(&server.url, &own).await;
    is_damage(store.claim("essay", "two").await, damage);
}

#[tokio::test]
async fn a_damaged_description_is_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "UPDATE threads SET status = 'waitong'",
        "UPDATE threads SET status = NULL",
        "UPDATE threads SET status_at = 3",
        "UPDATE threads SET due_ms = -7",
        "UPDATE threads SET label_names = '{}'",
        "UPDATE threads SET label_names = '{NULL}'",
        "UPDATE threads SET label_names = '{{a,b},{c,d}}'",
        "UPDATE lines SET newest = 1",
        "UPDATE lines SET newest = NULL",
        "DELETE FROM checkpoints WHERE seq = 2",
        "UPDATE checkpoints SET created_ms = -1",
    ] {
        let (store, _) = damaged_store(&server.url, damage).await;
        let (other, first) = (Address::root("other"), checkpoint(1));
        let appended = store.append(other, &first, None, 0..0, None);
        appended.await.unwrap();
        store.describe("other", WAITING, None).await.unwrap();
        is_listed(store.threads(ThreadQuery::default()).await, damage);
        let waiting = ThreadQuery {
            status: Some(ThreadStatus::Waiting),
            ..ThreadQuery::default()
        };
        is_listed(store.threads(waiting).await, damage);
    }
}

#[tokio::test]
async fn a_damaged_layout_is_an_error() {
    let Some(server) = shared_server() else {
        return;
    };
    for damage in [
        "UPDATE layout SET version = NULL",
        "UPDATE layout SET version = -1",
        "UPDATE layout SET version = 2",
        "DELETE FROM layout",
    ] {
        let (_, schema) = damaged_store(&server.url, damage).await;
        let error = open(&server.url, &schema).await.unwrap_err();
        let words = error.to_string();
        assert!(words.contains("`layout` is damaged"), "{damage}: {words}");
    }
}

#[tokio::test]
async fn a_thread_without_checkpoints_can_begin_again() {
    let Some(server) = shared_server() else {
        return;
    };
    let (store, _) = damaged_store(&server.url, "").await;
    store.prune(ESSAY, 3, 3, None).await.unwrap();
    assert_eq!(store.read(ESSAY, None).await.unwrap(), None);
    let listed = store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(listed[0].status, ThreadStatus::Running);
    append(&store, 1, None).await.unwrap();
}
