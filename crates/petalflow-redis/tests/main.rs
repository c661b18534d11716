//! The store in Redis.
#![cfg(unix)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use petalflow::checkpoint::{Address, Claim, Store, StoreError, StoredWrite, ThreadQuery};
use petalflow::event::TaskId;
use petalflow_redis::{RedisOptions, RedisStore};
use petalflow_test_servers::operations::Opened;
use petalflow_test_servers::store_tests::{
    ESSAY, ServerStore, append, busy_claim, checkpoint, is_away, is_back,
};
use petalflow_test_servers::{
    Found, Redis, found_or_skip, fresh_name, operation_tests, other_child_tests,
    other_process_tests,
};
use petalflow_test_support::{Need, skip};
use petalflow_testing::{StoreUnderTest, store_contract};

mod cut_replies;
mod damage;
#[cfg(feature = "tls")]
mod encrypted;
#[cfg(feature = "events")]
mod events;
mod stalled;

store_contract! {
    contract, async || {
        let server = match Redis::shared() {
            Ok(server) => server,
            Err(why) => {
                skip(Need::Installed, &why);
                return Ok(StoreUnderTest::skipped(why));
            }
        };
        let prefix = fresh_name("contract");
        let store = open(&server.url, &prefix).await?;
        Ok(StoreUnderTest::new(store).with_other(open(&server.url, &prefix).await?))
    }
}

/// How long claims last in these tests.
const LASTS: Duration = Duration::from_millis(1500);

/// How the shared tests open a store.
struct Server;

impl ServerStore for Server {
    type Store = RedisStore;
    const FREE_WITHIN: Duration = LASTS.saturating_mul(2);

    fn server() -> Found<&'static str> {
        Redis::shared().map(|server| server.url.as_str())
    }

    async fn open(url: &str, prefix: &str) -> Result<RedisStore, StoreError> {
        let options = RedisOptions::new(url).prefix(prefix).claim_lasts(LASTS);
        RedisStore::connect_with(options).await
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

async fn open(url: &str, prefix: &str) -> Result<RedisStore, StoreError> {
    Server::open(url, prefix).await
}

/// The shared server. Without one, reports a skip.
fn shared_server() -> Option<&'static Redis> {
    found_or_skip(Redis::shared())
}

/// Runs a command on a connection of its own.
async fn command(url: &str, words: &[&str]) {
    let client = redis::Client::open(url).expect("the URL is valid");
    let mut connection = client
        .get_multiplexed_async_connection()
        .await
        .expect("the server accepts the connection");
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command
        .exec_async(&mut connection)
        .await
        .expect("the command works");
}

#[tokio::test]
async fn works_again_when_the_server_is_back() {
    let Some(server) = found_or_skip(Redis::start_own(&[])) else {
        return;
    };
    let store = open(&server.url, "outage").await.unwrap();
    let other = open(&server.url, "outage").await.unwrap();
    append(&store, 1, None).await.unwrap();

    server.stop();
    is_away(&store).await;

    server.start();
    is_back(&store, &other).await;
    assert_eq!(store.claim("other", "one").await.unwrap(), Claim::Granted);
    assert_eq!(
        other.claim("other", "two").await.unwrap(),
        busy_claim("one")
    );
}

#[tokio::test]
async fn closed_connections_are_opened_again() {
    let Some(server) = found_or_skip(Redis::start_own(&[])) else {
        return;
    };
    let store = open(&server.url, "cut").await.unwrap();
    append(&store, 1, None).await.unwrap();
    for seq in 2..20 {
        command(&server.url, &["CLIENT", "KILL", "TYPE", "normal"]).await;
        append(&store, seq, Some(seq - 1)).await.unwrap();
    }
}

/// A server in cluster mode refuses scripts whose keys are not all in the same slot.
#[tokio::test]
async fn keys_of_a_thread_are_in_one_slot_of_a_cluster() {
    let Some(server) = found_or_skip(Redis::start_own(&["--cluster-enabled", "yes"])) else {
        return;
    };
    let slots: Vec<String> = (0..16384).map(|slot: u32| slot.to_string()).collect();
    let mut add = vec!["CLUSTER", "ADDSLOTS"];
    add.extend(slots.iter().map(String::as_str));
    command(&server.url, &add).await;
    let begin = Instant::now();
    let store = loop {
        match open(&server.url, "cluster:").await {
            Ok(store) => break store,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };

    for index in 0..40 {
        let thread = format!("essay-{index}");
        let address = Address::root(&thread);
        let write = StoredWrite {
            task: TaskId::from_bytes([7; 16]),
            name: "result".into(),
            bytes: vec![1],
        };
        assert_eq!(store.claim(&thread, "one").await.unwrap(), Claim::Granted);
        store
            .append(address, &checkpoint(1), None, 0..0, None)
            .await
            .unwrap();
        store.write(address, 1, &[write], None).await.unwrap();
        store
            .append(address, &checkpoint(2), Some(1), 0..2, None)
            .await
            .unwrap();
        store.read(address, None).await.unwrap().unwrap();
        store.prune(address, 2, 2, None).await.unwrap();
        assert_eq!(store.namespaces(&thread).await.unwrap(), [""]);
        if index % 2 == 0 {
            store.delete(&thread, None).await.unwrap();
        }
        store.release(&thread, "one");
    }
    let threads = store.threads(ThreadQuery::default()).await.unwrap();
    assert_eq!(threads.len(), 20);
}

#[tokio::test]
async fn a_newer_layout_is_refused() {
    let Some(server) = shared_server() else {
        return;
    };
    let prefix = fresh_name("newer");
    open(&server.url, &prefix).await.unwrap();
    command(&server.url, &["SET", &format!("{prefix}layout"), "1000"]).await;
    let error = open(&server.url, &prefix).await.unwrap_err();
    assert!(
        matches!(error, StoreError::NewerLayout { found: 1000, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn f42_a_server_that_may_evict_keys_is_told() {
    let policy = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let Some(server) = found_or_skip(Redis::start_own(&policy)) else {
        return;
    };
    let notices = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&notices);
    let options = RedisOptions::new(&server.url)
        .on_notice(move |notice| told.lock().expect("no panic").push(notice.to_owned()));
    let connect = async || RedisStore::connect_with(options.clone()).await.map(drop);
    connect().await.expect("it may be used");
    command(
        &server.url,
        &["CONFIG", "SET", "maxmemory-policy", "noeviction"],
    )
    .await;
    connect().await.expect("it may be used");
    assert_eq!(
        *notices.lock().expect("no panic"),
        [
            "the Redis server has `maxmemory-policy allkeys-lru`, so it removes threads when its memory is full: set `maxmemory-policy noeviction`"
        ]
    );
}

#[tokio::test]
async fn missing_bytes_are_damage() {
    let Some(server) = shared_server() else {
        return;
    };
    let prefix = fresh_name("damaged");
    let store = open(&server.url, &prefix).await.unwrap();
    append(&store, 1, None).await.unwrap();
    // A server that evicts keys does the same. One of the shards is that of the thread `essay`.
    for shard in 0..16 {
        command(
            &server.url,
            &["DEL", &format!("{prefix}{{{shard}}}:bytes:essay")],
        )
        .await;
    }
    let error = store.read(ESSAY, None).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn a_url_that_cannot_be_read_is_not_shown() {
    let error = RedisStore::connect("redis://:secret@localhost:none")
        .await
        .unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("write redis://user:password@host/database") && !words.contains("secret"),
        "{words}"
    );
}
