//! Circuit breakers and rate limits around nodes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use petalflow::middleware::{CircuitBreaker, RateLimit, for_nodes};
use petalflow::prelude::*;
use tokio::time::Instant;

#[state]
struct Count {
    #[key(sum)]
    n: u64,
}

/// Fails this many times, and counts its calls.
struct Flaky {
    failures: u32,
    calls: AtomicU32,
}

#[node(Count)]
async fn fetch(flaky: Managed<Flaky>) -> petalflow::Result<CountN> {
    if flaky.calls.fetch_add(1, Ordering::SeqCst) < flaky.failures {
        return Err("busy".into());
    }
    Ok(CountN(1))
}

#[node(Count)]
async fn count() -> CountN {
    CountN(1)
}

flow!(Fetch(Count) { fetch });
flow!(Both(Count) { START -> fetch & count; });

fn flaky(failures: u32) -> Flaky {
    Flaky {
        failures,
        calls: AtomicU32::new(0),
    }
}

#[tokio::test(start_paused = true)]
async fn a_breaker_stops_running_a_node_that_keeps_failing_and_tries_it_again() {
    let tool = std::sync::Arc::new(flaky(3));
    let launch = Fetch::new()
        .manage_with(std::sync::Arc::clone(&tool))
        .middleware(CircuitBreaker::new(2, Duration::from_secs(30)));
    let mut messages = Vec::new();
    for _ in 0..3 {
        messages.push(launch.clone().run(()).await.err().unwrap().to_string());
    }
    assert_eq!(
        messages[1..],
        [
            "node `fetch` failed in superstep 1: busy",
            "node `fetch` failed in superstep 1: node `fetch` is not run for 30s, because its circuit breaker counted 2 failures in a row",
        ]
    );
    assert_eq!(
        tool.calls.load(Ordering::SeqCst),
        2,
        "the third was rejected"
    );
    tokio::time::sleep(Duration::from_secs(30)).await;
    // The test fails, so the next pause begins; after it the node works again.
    assert!(launch.clone().run(()).await.is_err());
    assert!(launch.clone().run(()).await.is_err());
    assert_eq!(tool.calls.load(Ordering::SeqCst), 3);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(launch.run(()).await.unwrap().n, 1);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_for_one_node_lets_the_others_run() {
    let launch = Both::new().manage(flaky(u32::MAX)).middleware(for_nodes(
        |node| node == "count",
        CircuitBreaker::new(1, Duration::from_secs(30)),
    ));
    for _ in 0..3 {
        let error = launch.clone().run(()).await.err().unwrap().to_string();
        assert_eq!(error, "node `fetch` failed in superstep 1: busy");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_spreads_the_attempts_of_all_runs() {
    let launch = Both::new()
        .manage(flaky(0))
        .middleware(RateLimit::new(2, Duration::from_secs(1)));
    let started = Instant::now();
    let (one, two) = tokio::join!(launch.clone().run(()), launch.run(()));
    assert_eq!((one.unwrap().n, two.unwrap().n), (2, 2));
    // Two at once, and then one every half second.
    assert_eq!(started.elapsed(), Duration::from_secs(1));
}
