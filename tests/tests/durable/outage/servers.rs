//! Servers that are stopped during a run and started again.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::thread::{Durability, ThreadError};
use petalflow_postgres::PostgresStore;
use petalflow_redis::RedisStore;
use petalflow_test_servers::{Postgres, Redis, found_or_skip};

use super::{Outage, Place, ROUNDS, assert_same_end, race, run_or_resume, run_without_outage};

const SIZE: (u64, usize) = (ROUNDS, 10);

/// Takes the server away in the middle of runs, with each durability and at each place, and gives it back.
async fn check_outages(
    name: &str,
    store: &(impl Store + Clone),
    stop: impl Fn() + Clone + Send + Sync + 'static,
    start: impl Fn(),
) {
    let unbroken = run_without_outage(SIZE).await;
    let interval = Durability::Interval(7.try_into().unwrap());
    for durability in [
        Durability::Sync,
        Durability::Async,
        interval,
        Durability::Exit,
    ] {
        for place in [Place::Recorded, Place::Superstep] {
            let id = format!("{durability:?} {place:?}");
            let thread = race(store, durability, Outage::at(place, stop.clone()), &id);
            let error = run_or_resume(&thread, SIZE).await.unwrap_err();
            let stored = matches!(error.thread_error(), Some(ThreadError::Store(_)));
            assert!(stored, "{id}: {error}");
            assert_says_what_to_do(name, &error.to_string());
            // Until then each operation fails with the reason.
            assert_says_what_to_do(name, &thread.resume(()).await.unwrap_err().to_string());
            assert_says_what_to_do(name, &thread.snapshot().await.unwrap_err().to_string());
            start();
            let end = run_or_resume(&thread, SIZE).await.unwrap();
            assert_same_end(&unbroken, &end);
            let stored = thread.snapshot().await.unwrap().unwrap();
            assert!(stored.is_finished());
            assert_same_end(&unbroken, &stored.state);
        }
    }
}

#[track_caller]
fn assert_says_what_to_do(name: &str, error: &str) {
    assert!(
        error.contains(name) && error.contains("try again") && error.contains("`resume`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_thread_in_postgres_continues_when_the_server_is_back() {
    let Some(server) = found_or_skip(Postgres::start_own()).map(Arc::new) else {
        return;
    };
    let store = PostgresStore::connect(&server.url).await.unwrap();
    let stopped = Arc::clone(&server);
    check_outages(
        "PostgreSQL",
        &store,
        move || stopped.stop(),
        || server.start(),
    )
    .await;
}

#[tokio::test]
async fn a_thread_in_redis_continues_when_the_server_is_back() {
    let Some(server) = found_or_skip(Redis::start_own(&[])).map(Arc::new) else {
        return;
    };
    let store = RedisStore::connect(&server.url).await.unwrap();
    let stopped = Arc::clone(&server);
    check_outages("Redis", &store, move || stopped.stop(), || server.start()).await;
}
