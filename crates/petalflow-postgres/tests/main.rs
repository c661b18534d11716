//! The store in PostgreSQL.
#![cfg(unix)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use petalflow::checkpoint::{Claim, Store, StoreError, StoredWrite, ThreadQuery};
use petalflow::event::TaskId;
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_test_servers::operations::Opened;
use petalflow_test_servers::store_tests::{
    ESSAY, ServerStore, append, busy_claim, checkpoint, is_away, is_back, wait_for_claim,
};
use petalflow_test_servers::{
    Found, Postgres, found_or_skip, fresh_name, operation_tests, other_child_tests,
    other_process_tests,
};
use petalflow_test_support::{Need, skip};
use petalflow_testing::{StoreUnderTest, store_contract};

mod damage;
#[cfg(feature = "tls")]
mod encrypted;
mod index;
mod missing;
mod partition;

store_contract! {
    contract, async || {
        let server = match Postgres::shared() {
            Ok(server) => server,
            Err(why) => {
                skip(Need::Installed, &why);
                return Ok(StoreUnderTest::skipped(why));
            }
        };
        let schema = fresh_name("contract");
        let store = open(&server.url, &schema).await?;
        Ok(StoreUnderTest::new(store).with_other(open(&server.url, &schema).await?))
    }
}

/// How the shared tests open a store.
struct Server;

impl ServerStore for Server {
    type Store = PostgresStore;
    const FREE_WITHIN: Duration = Duration::from_secs(5);

    fn server() -> Found<&'static str> {
        Postgres::shared().map(|server| server.url.as_str())
    }

    async fn open(url: &str, schema: &str) -> Result<PostgresStore, StoreError> {
        let options = PostgresOptions::new(url).schema(schema).pool_size(4);
        PostgresStore::connect_with(options).await
    }
}

other_child_tests!(Server);
other_process_tests!(Server);

operation_tests!(operations, || Box::pin(async {
    let url = found_or_skip(Server::server())?;
    let store = open(url, &fresh_name("operations")).await;
    Some(Opened {
        store: Arc::new(store.expect("the server runs")),
        guard: Box::new(()),
    })
}));

async fn open(url: &str, schema: &str) -> Result<PostgresStore, StoreError> {
    Server::open(url, schema).await
}

/// The shared server. Without one, reports a skip.
fn shared_server() -> Option<&'static Postgres> {
    found_or_skip(Postgres::shared())
}

/// Runs statements on a connection of its own.
async fn sql(url: &str, statements: &str) {
    let (client, driver) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .expect("the server accepts the connection");
    tokio::spawn(driver);
    client
        .batch_execute(statements)
        .await
        .expect("the statements work");
}

#[tokio::test]
async fn works_again_when_the_server_is_back() {
    let Some(server) = found_or_skip(Postgres::start_own()) else {
        return;
    };
    let store = open(&server.url, "outage").await.unwrap();
    let other = open(&server.url, "outage").await.unwrap();
    append(&store, 1, None).await.unwrap();
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);

    server.stop();
    is_away(&store).await;

    server.start();
    is_back(&store, &other).await;
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    assert_eq!(
        other.claim("essay", "two").await.unwrap(),
        busy_claim("one")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_were_cut_are_replaced_before_anything_is_sent() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("cut");
    let url = format!("{}?application_name={schema}", server.url);
    let store = open(&url, &schema).await.unwrap();
    let other = open(&server.url, &schema).await.unwrap();
    append(&store, 1, None).await.unwrap();
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    for seq in 2..10 {
        let cut = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{schema}'"
        );
        sql(&server.url, &cut).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        append(&store, seq, Some(seq - 1)).await.unwrap();
    }
    // The session is open again too, with the key that its claims name.
    let begin = Instant::now();
    while session_count(&server.url, &schema).await == 0 {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "the session is not open again"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        other.claim("essay", "two").await.unwrap(),
        busy_claim("one")
    );
}

/// The version of the server, as in 150018.
async fn version(url: &str) -> i32 {
    let (client, driver) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .expect("the server accepts the connection");
    tokio::spawn(driver);
    let row = client
        .query_one("SELECT current_setting('server_version_num')::integer", &[])
        .await;
    row.expect("it has a version").get(0)
}

/// The number of locks that the sessions of this application hold.
async fn session_count(url: &str, application: &str) -> i64 {
    let (client, driver) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .expect("the server accepts the connection");
    tokio::spawn(driver);
    let count = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND application_name = $1";
    let row = client.query_one(count, &[&application]).await;
    row.expect("locks can be counted").get(0)
}

#[tokio::test]
async fn a_claim_ends_with_the_last_clone_of_its_store() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("clones");
    let store = open(&server.url, &schema).await.unwrap();
    let clone = store.clone();
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    drop(store);
    let other = open(&server.url, &schema).await.unwrap();
    assert_eq!(
        other.claim("essay", "two").await.unwrap(),
        busy_claim("one")
    );
    drop(clone);
    wait_for_claim(&other, Duration::from_secs(5)).await;
}

#[tokio::test]
async fn many_stores_can_connect_at_the_same_time() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("at \"once\"");
    let connecting: Vec<_> = (0..8)
        .map(|_| {
            let schema = schema.clone();
            tokio::spawn(async move { open(&server.url, &schema).await.map(drop) })
        })
        .collect();
    for connected in connecting {
        connected.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_older_layout_is_migrated() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("older");
    let store = open(&server.url, &schema).await.unwrap();
    append(&store, 1, None).await.unwrap();
    store
        .write(ESSAY, 1, &[write("result")], None)
        .await
        .unwrap();
    drop(store);
    // The second layout added claims, the third what is listed of threads, the fourth memories, the fifth the counts,
    // the sixth the index, the seventh search attributes.
    let back = format!(
        "DROP FUNCTION {schema}.index_line CASCADE; DROP FUNCTION {schema}.set_status; DROP FUNCTION {schema}.thread_lock;
        DROP TABLE {schema}.known_lines; DROP FUNCTION {schema}.count_writes CASCADE; DROP FUNCTION {schema}.count_lines CASCADE;
        ALTER TABLE {schema}.task_writes RENAME TO writes; ALTER TABLE {schema}.lines DROP COLUMN writes;
        ALTER TABLE {schema}.layout DROP COLUMN deleted; ALTER TABLE {schema}.lines DROP COLUMN updated_ms;
        ALTER TABLE {schema}.checkpoints RENAME COLUMN chain_from TO base;
        DROP TABLE {schema}.claims, {schema}.threads, {schema}.memories, {schema}.memory_vectors,
            {schema}.attributes;
        UPDATE {schema}.layout SET version = 1"
    );
    sql(&server.url, &back).await;

    let store = open(&server.url, &schema).await.unwrap();
    let read = store.read(ESSAY, None).await.unwrap().unwrap();
    assert_eq!(
        (read.chain, read.writes),
        (vec![checkpoint(1)], vec![write("result")])
    );
    assert_eq!(store.verify().await.unwrap(), [""; 0]);
    assert_eq!(store.claim("essay", "one").await.unwrap(), Claim::Granted);
    let listed = store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(listed[0].created_ms, checkpoint(1).created_ms);
}

#[tokio::test]
async fn a_newer_layout_is_refused() {
    let Some(server) = shared_server() else {
        return;
    };
    let schema = fresh_name("newer");
    open(&server.url, &schema).await.unwrap();
    sql(
        &server.url,
        &format!("UPDATE {schema}.layout SET version = 1000"),
    )
    .await;
    let error = open(&server.url, &schema).await.unwrap_err();
    assert!(
        matches!(error, StoreError::NewerLayout { found: 1000, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_database_that_cannot_hold_all_text_is_refused() {
    let Some(server) = shared_server() else {
        return;
    };
    if !server.is_own() {
        return skip(
            Need::Optional,
            "the server of PETALFLOW_TEST_POSTGRES may be in use: unset it to create a database on a server of our own",
        );
    }
    let database = fresh_name("ascii");
    let own_language = if version(&server.url).await < 150_000 {
        ""
    } else {
        "LOCALE_PROVIDER libc"
    };
    let create = format!(
        "CREATE DATABASE {database} TEMPLATE template0 ENCODING 'SQL_ASCII' {own_language} LC_COLLATE 'C' LC_CTYPE 'C'"
    );
    sql(&server.url, &create).await;
    let (host, _) = server.url.rsplit_once('/').unwrap();
    let url = format!("{host}/{database}");
    let error = open(&url, "petalflow").await.unwrap_err();
    let words = error.to_string();
    assert!(words.contains("SQL_ASCII"), "{words}");
}

#[tokio::test]
async fn a_url_that_cannot_be_read_is_not_shown() {
    let error = PostgresStore::connect("postgres://app:secret@localhost:none/app")
        .await
        .unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("write postgres://user:password@host/database") && !words.contains("secret"),
        "{words}"
    );
}

fn write(name: &str) -> StoredWrite {
    StoredWrite {
        task: TaskId::from_bytes([7; 16]),
        name: name.into(),
        bytes: vec![1],
    }
}
