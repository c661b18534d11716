//! Runs that another executor than tokio polls.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::error::message_with_sources;
use petalflow::prelude::*;
use petalflow::thread::Durability;
use petalflow::{Launch, RunError};

#[state]
struct Doc {
    #[key(append)]
    log: Vec<String>,
}

static RUNS: AtomicU32 = AtomicU32::new(0);

#[node(Doc)]
async fn write() -> DocLog {
    RUNS.fetch_add(1, Ordering::Relaxed);
    DocLog(vec!["written".into()])
}

flow!(Plain(Doc) { write });
flow!(Retried(Doc) { write; with write { retry: 3 } });
flow!(Limited(Doc) { write; with write { timeout: 1s } });
flow!(Watched(Doc) { write; with write { idle: 1s } });

/// Polls a future that waits for nothing outside.
fn poll<T>(future: impl IntoFuture<Output = T>) -> T {
    let mut future = pin!(future.into_future());
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..100 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
    panic!("it waits for something outside")
}

fn refusal<F: Flow<State = Doc>>(launch: Launch<F>) -> String {
    let refused: Result<Doc, RunError> = poll(launch.run(()));
    message_with_sources(&refused.err().expect("it needs tokio"))
}

#[test]
fn f42_what_needs_tokio_is_refused_at_the_start_by_another_executor() {
    assert_eq!(poll(Plain::run(())).unwrap().log, ["written"]);
    let store = InMemoryStore::new();
    let stored = poll(Plain::new().store(&store).thread("a").run(()));
    assert_eq!(stored.unwrap().into_finished().unwrap().log, ["written"]);
    let before = RUNS.load(Ordering::Relaxed);

    let cases = [
        (refusal(Retried::new()), "node `write` has retries"),
        (refusal(Limited::new()), "node `write` has a timeout"),
        (refusal(Watched::new()), "node `write` has a timeout"),
        (
            refusal(Plain::new().timeout(Duration::from_secs(1))),
            "the run has a timeout",
        ),
    ];
    for (refusal, needs) in cases {
        let needs_tokio =
            format!("{needs}, which needs tokio, and no runtime of tokio polls the run");
        assert!(refusal.contains(&needs_tokio), "{refusal}");
    }
    let threads = Plain::new().store(&store).durability(Durability::Async);
    let refused = poll(threads.thread("b").run(()))
        .err()
        .expect("it needs tokio");
    let refused = refused.to_string();
    assert!(
        refused.contains("the thread is stored with `Durability::Async`, which needs tokio"),
        "{refused}"
    );
    assert_eq!(RUNS.load(Ordering::Relaxed), before, "no node has run");
}

#[node(Doc, blocking)]
fn read() -> DocLog {
    DocLog(vec!["read".into()])
}

#[node(Doc, spawn)]
async fn render() -> DocLog {
    DocLog(vec!["rendered".into()])
}

flow!(Read(Doc) { read });
flow!(Rendered(Doc) { render });

/// Whether a node is one of these is not known before it runs, because that is code in its body.
#[test]
fn f42_a_node_that_needs_tokio_fails_with_words_under_another_executor() {
    for (refusal, node, needs) in [
        (
            refusal(Read::new()),
            "read",
            "`blocking` code runs on a thread of its own",
        ),
        (refusal(Rendered::new()), "render", "`spawn` makes a task"),
    ] {
        let expected = format!(
            "{needs}, which needs tokio, and no runtime of tokio polls the run: run it in one"
        );
        assert!(refusal.contains(&format!("`{node}`")), "{refusal}");
        assert!(refusal.contains(&expected), "{refusal}");
        assert!(!refusal.contains("panic"), "{refusal}");
    }
    let tokio = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(
        tokio.block_on(Read::run(()).into_future()).unwrap().log,
        ["read"]
    );
    assert_eq!(
        tokio.block_on(Rendered::run(()).into_future()).unwrap().log,
        ["rendered"]
    );
}
