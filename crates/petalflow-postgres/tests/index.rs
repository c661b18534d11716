//! The index of threads: its migration, and statements at the same time.

use std::time::Duration;

use petalflow::checkpoint::{
    Address, Store, ThreadChange, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};
use petalflow_postgres::PostgresStore;
use petalflow_test_servers::store_tests::{append, checkpoint};
use petalflow_test_servers::{frequent, fresh_name};
use tokio::time::{sleep, timeout};

use super::{open, shared_server, sql};

#[tokio::test]
async fn f43_a_layout_without_an_index_gets_one() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("unindexed");
    let store = open(&server.url, &schema).await.unwrap();
    append(&store, 1, None).await.unwrap();
    let waits = ThreadChange::Status {
        flow: "Write",
        status: ThreadStatus::Waiting,
        due_ms: None,
    };
    store.describe("essay", waits, None).await.unwrap();
    let running = Address::root("running");
    for seq in 1..=2_u64 {
        let after = seq.checked_sub(1).filter(|after| *after > 0);
        let next = checkpoint(seq);
        store
            .append(running, &next, after, 0..0, None)
            .await
            .unwrap();
    }
    let lists = async |store: &PostgresStore| {
        let mut lists = Vec::new();
        for order in [
            ThreadOrder::Id,
            ThreadOrder::CreatedNewest,
            ThreadOrder::UpdatedOldest,
        ] {
            let query = ThreadQuery {
                order,
                ..ThreadQuery::default()
            };
            lists.push(store.threads(query).await.unwrap());
        }
        (
            lists,
            store.thread_counts(ThreadQuery::default()).await.unwrap(),
        )
    };
    let before = lists(&store).await;
    assert_eq!((before.0[0].len(), before.1.len()), (2, 2));
    drop(store);
    let back = format!(
        "DROP FUNCTION {schema}.index_line CASCADE; DROP FUNCTION {schema}.set_status; DROP FUNCTION {schema}.thread_lock;
        ALTER TABLE {schema}.lines ADD COLUMN begun_ms bigint;
        UPDATE {schema}.lines SET begun_ms = known.created_ms FROM {schema}.threads AS known WHERE known.thread = lines.thread;
        ALTER TABLE {schema}.threads DROP COLUMN state, DROP COLUMN created_ms, DROP COLUMN updated_ms;
        ALTER TABLE {schema}.lines DROP COLUMN updated_ms;
        ALTER TABLE {schema}.checkpoints RENAME COLUMN chain_from TO base;
        DROP INDEX IF EXISTS {schema}.threads_by_state; DROP TABLE {schema}.attributes;
        UPDATE {schema}.layout SET version = 5"
    );
    sql(&server.url, &back).await;
    let store = open(&server.url, &schema).await.unwrap();
    assert_eq!(lists(&store).await, before);
    assert_eq!(store.verify().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn f43_frequent_and_rare_conditions_list_and_count_the_same() {
    let Some(server) = shared_server() else {
        return;
    };
    let store = open(&server.url, &fresh_name("frequent")).await.unwrap();
    frequent::conditions_list_and_count_the_same(&store).await;
}

const WAITS: ThreadChange<'_> = ThreadChange::Status {
    flow: "Write",
    status: ThreadStatus::Waiting,
    due_ms: None,
};

/// Waits until as many sessions wait for locks of tables of the schema, or the task has ended.
async fn until_blocked<T>(
    client: &tokio_postgres::Client,
    schema: &str,
    sessions: i64,
    task: &tokio::task::JoinHandle<T>,
) {
    let blocked = "SELECT count(*) FROM pg_stat_activity AS waiting WHERE wait_event_type = 'Lock' AND EXISTS (
        SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE pg_locks.pid = waiting.pid AND nspname = $1)";
    let wait = async {
        while !task.is_finished() {
            let rows = client.query(blocked, &[&schema]).await.unwrap();
            if rows[0].get::<_, i64>(0) >= sessions {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_mins(1), wait).await.unwrap();
}

async fn with_status(store: &PostgresStore, status: ThreadStatus) -> Vec<ThreadInfo> {
    let status = Some(status);
    let query = ThreadQuery {
        status,
        ..ThreadQuery::default()
    };
    store.threads(query).await.unwrap()
}

/// A status is set without a claim while another process appends: the one waits for a row, and the other goes on.
#[tokio::test]
async fn f43_the_index_is_right_after_a_status_and_a_checkpoint_at_once() {
    let Some(server) = shared_server() else {
        return;
    };
    for first in ["status", "checkpoint"] {
        let schema = fresh_name("at_once");
        let store = open(&server.url, &schema).await.unwrap();
        append(&store, 1, None).await.unwrap();
        append(&store, 2, Some(1)).await.unwrap();
        let (mut client, driver) = tokio_postgres::connect(&server.url, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(driver);
        let (observer, driver) = tokio_postgres::connect(&server.url, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(driver);
        // Holds up the first one after it has read.
        let row = if first == "status" {
            format!("SELECT FROM {schema}.threads WHERE thread = 'essay' FOR UPDATE")
        } else {
            format!("SELECT FROM {schema}.lines WHERE thread = 'essay' FOR UPDATE")
        };
        let lock = client.transaction().await.unwrap();
        lock.batch_execute(&row).await.unwrap();
        let describe = || {
            let store = store.clone();
            tokio::spawn(async move { store.describe("essay", WAITS, None).await })
        };
        let next = || {
            let store = store.clone();
            tokio::spawn(async move { append(&store, 3, Some(2)).await })
        };
        let begin = |status: bool| if status { describe() } else { next() };
        let one = begin(first == "status");
        until_blocked(&observer, &schema, 1, &one).await;
        let other = begin(first != "status");
        until_blocked(&observer, &schema, 2, &other).await;
        lock.rollback().await.unwrap();
        one.await.unwrap().unwrap();
        other.await.unwrap().unwrap();
        let all = store.threads(ThreadQuery::default()).await.unwrap();
        assert_eq!(all.len(), 1, "{first} first");
        for status in [ThreadStatus::Waiting, ThreadStatus::Running] {
            let expected: Vec<_> = all
                .iter()
                .filter(|info| info.status == status)
                .cloned()
                .collect();
            let found = with_status(&store, status).await;
            assert_eq!(found, expected, "{first} first: the index has its status");
        }
        assert_eq!(store.verify().await.unwrap(), [""; 0], "{first} first");
    }
}

/// Many statuses and checkpoints of a thread and its sub-flows, from several connections and without a claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_the_index_is_right_after_many_changes_at_once() {
    let Some(server) = shared_server() else {
        return;
    };
    let store = open(&server.url, &fresh_name("many")).await.unwrap();
    append(&store, 1, None).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for namespace in ["", "review", "draft"] {
        let store = store.clone();
        tasks.spawn(async move {
            let address = Address {
                thread: "essay",
                namespace,
            };
            let begun = u64::from(namespace.is_empty());
            for seq in begun + 1..=begun + 40 {
                let after = seq.checked_sub(1).filter(|after| *after > 0);
                let mut next = checkpoint(seq);
                // The clock goes forth and back.
                next.created_ms = 1_000 + seq * 7 % 11;
                store
                    .append(address, &next, after, 0..0, None)
                    .await
                    .unwrap();
            }
        });
    }
    let describing = store.clone();
    tasks.spawn(async move {
        for _ in 0..40 {
            describing.describe("essay", WAITS, None).await.unwrap();
        }
    });
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_eq!(store.verify().await.unwrap(), [""; 0]);
    let all = store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(with_status(&store, all[0].status).await, all);
}
