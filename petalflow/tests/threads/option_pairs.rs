//! Pairs of options of one node. The numbers are those of the table in `docs/reference/options.md`; pairs without a test here
//! are refused at compile time, or have one beside the option itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::cache::InMemoryCache;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Ask, Decision};
use petalflow::middleware::from_fn;
use petalflow::prelude::*;
use petalflow::thread::{Edit, Thread};
use petalflow::{Launch, NodeError};

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String, key = about)]
struct Which {
    about: String,
}

/// How often nodes and middleware have run.
#[derive(Default)]
struct Runs {
    node: AtomicU32,
    layer: AtomicU32,
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(input)]
    mode: String,
    #[key(append)]
    lines: Vec<String>,
}

/// Does what its mode says.
#[node(Log, cache = 1h, retry = [petalflow::policy::Retry::attempts(2).first(Duration::ZERO)], timeout = 1s)]
async fn work(mode: &str, cx: Context, runs: Managed<Runs>) -> petalflow::Result<LogLines> {
    let run = runs.node.fetch_add(1, SeqCst) + 1;
    let line = match mode {
        "ask" => cx.ask(Which { about: "it".into() }).await?,
        "fail" => return Err("it fails".into()),
        "fail once" if run == 1 => return Err("it fails once".into()),
        "hang" => std::future::pending().await,
        _ => format!("attempt {}", cx.attempt()),
    };
    Ok(LogLines(vec![line]))
}

#[node(Log)]
async fn handle(#[item] failure: &NodeError) -> LogLines {
    LogLines(vec![format!("{:?}", failure.kind)])
}

#[node(Log)]
async fn after() -> LogLines {
    LogLines(vec!["after".into()])
}

flow!(Work(Log) { work -> after });
flow!(Caught(Log) { work -> after; catch work -> handle; handle -> after; });
flow!(Approved(Log) { work -> after; interrupt before work; });
flow!(CaughtAndApproved(Log) { work -> after; catch work -> handle; handle -> after; interrupt after work; });

/// A launch with middleware that counts, a cache and a store, and its counts.
fn launched<F: Flow<State = Log> + Clone>(
    launch: Launch<F>,
    cache: &InMemoryCache,
) -> (impl Fn(&str) -> Thread<F> + use<F>, Arc<Runs>) {
    let runs = Arc::new(Runs::default());
    let counts = Arc::clone(&runs);
    let layer = from_fn::<Log, _>(move |call, next| {
        if call.node() == "work" {
            counts.layer.fetch_add(1, SeqCst);
        }
        next.run(call)
    });
    let launch = launch.middleware(layer).cache(cache);
    let threads = launch
        .manage_with(Arc::clone(&runs))
        .store(&InMemoryStore::new());
    (move |id: &str| threads.thread(id), runs)
}

impl Runs {
    /// How often the node and the middleware ran since the last call.
    fn take(&self) -> (u32, u32) {
        (self.node.swap(0, SeqCst), self.layer.swap(0, SeqCst))
    }
}

async fn lines<F: Flow<State = Log>>(thread: &Thread<F>, mode: &str) -> Vec<String> {
    let end = thread.run(mode.to_string()).await.unwrap();
    end.into_finished().unwrap().lines
}

#[tokio::test(start_paused = true)]
async fn f42_pairs_16_18_20_23_25_29_31_with_a_cache_a_retry_a_timeout_and_middleware() {
    let cache = InMemoryCache::new();
    let (thread, runs) = launched(Caught::new(), &cache);
    // 16, 23: the attempt that succeeds is cached, and middleware runs around both.
    assert_eq!(
        lines(&thread("1"), "fail once").await,
        ["attempt 2", "after"]
    );
    assert_eq!(runs.take(), (2, 2));
    // 18: of a cached result, neither the node nor middleware runs.
    assert_eq!(
        lines(&thread("2"), "fail once").await,
        ["attempt 2", "after"]
    );
    assert_eq!(runs.take(), (0, 0));
    // 25: `catch` follows the last attempt. 20: a failure is not cached.
    for id in ["3", "4"] {
        assert_eq!(lines(&thread(id), "fail").await, ["Error", "after"]);
        assert_eq!(runs.take(), (2, 2), "thread {id}");
    }
    // 22, 29: each attempt has its time, and the last failure is caught.
    let begun = tokio::time::Instant::now();
    assert_eq!(lines(&thread("5"), "hang").await, ["Timeout", "after"]);
    assert_eq!((begun.elapsed().as_secs(), runs.take()), (2, (2, 2)));
    // 19, 31, 34: an edit by the node is its result. Nothing runs around it, it is not cached, and its edges are taken.
    let edited = thread("6");
    assert_eq!(lines(&edited, "plain").await.len(), 2);
    assert_eq!(runs.take(), (1, 1));
    edited
        .update(Edit::new(LogLines(vec!["by hand".into()])).by("work"))
        .await
        .unwrap();
    let log = edited.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines[2..], ["by hand", "after"]);
    assert_eq!(lines(&thread("7"), "plain").await, ["attempt 1", "after"]);
    assert_eq!(runs.take(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn f42_pairs_24_28_an_edit_makes_no_attempt_and_takes_no_time() {
    // 24: all attempts have failed. 28: all attempts have taken too long.
    for (mode, seconds) in [("fail", 0), ("hang", 2)] {
        let (thread, runs) = launched(Work::new(), &InMemoryCache::new());
        let thread = thread("1");
        let begun = tokio::time::Instant::now();
        let failed = thread.run(mode.to_string()).await.unwrap_err();
        assert!(failed.to_string().contains("`work`"), "{mode}: {failed}");
        let elapsed = begun.elapsed().as_secs();
        assert_eq!((elapsed, runs.take()), (seconds, (2, 2)), "{mode}");
        thread
            .update(Edit::new(LogLines(vec!["by hand".into()])).by("work"))
            .await
            .unwrap();
        let begun = tokio::time::Instant::now();
        let log = thread.resume(()).await.unwrap().into_finished().unwrap();
        assert_eq!(log.lines, ["by hand", "after"], "{mode}");
        let elapsed = begun.elapsed();
        assert_eq!((elapsed, runs.take()), (Duration::ZERO, (0, 0)), "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_pairs_21_26_30_33_with_a_question() {
    let cache = InMemoryCache::new();
    let (thread, runs) = launched(Work::new(), &cache);
    for id in ["1", "2"] {
        let thread = thread(id);
        // 21: the answer of the first thread is not that of the second.
        let asked = thread.run("ask".to_string()).await.unwrap();
        assert_eq!(asked.interrupts().len(), 1, "thread {id}");
        // 30: a person takes longer than the node may.
        tokio::time::sleep(Duration::from_hours(1)).await;
        let end = thread.answer::<Which>(format!("for {id}")).await.unwrap();
        let lines = end.into_finished().unwrap().lines;
        assert_eq!(lines, [format!("for {id}"), "after".into()]);
        // 26, 33: asking takes no attempt, and middleware runs again with the node.
        assert_eq!(runs.take(), (2, 2), "thread {id}");
    }
    // 21: an approval is asked for, also if the result is cached.
    let (thread, runs) = launched(Approved::new(), &cache);
    for (id, ran) in [("3", (1, 1)), ("4", (0, 0))] {
        let thread = thread(id);
        assert_eq!(
            thread
                .run("plain".to_string())
                .await
                .unwrap()
                .interrupts()
                .len(),
            1
        );
        let end = thread.resume(Decision::approve()).await.unwrap();
        assert_eq!(end.into_finished().unwrap().lines.len(), 2);
        assert_eq!(runs.take(), ran, "thread {id}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_pairs_35_36_an_edit_and_a_catch_beside_an_interrupt() {
    let (thread, _) = launched(CaughtAndApproved::new(), &InMemoryCache::new());
    // 36: the run stops after a node whose failure is caught.
    let caught = thread("1");
    let stopped = caught.run("fail".to_string()).await.unwrap();
    assert_eq!(stopped.interrupts()[0].node, "work");
    let end = caught.resume(Decision::approve()).await.unwrap();
    assert_eq!(end.into_finished().unwrap().lines, ["Error", "after"]);
    // 35: an edit by the node is what its question waited for.
    let (thread, _) = launched(Work::new(), &InMemoryCache::new());
    let asked = thread("2");
    assert_eq!(
        asked
            .run("ask".to_string())
            .await
            .unwrap()
            .interrupts()
            .len(),
        1
    );
    asked
        .update(Edit::new(LogLines(vec!["by hand".into()])).by("work"))
        .await
        .unwrap();
    assert!(
        asked
            .snapshot()
            .await
            .unwrap()
            .unwrap()
            .interrupts
            .is_empty()
    );
    let end = asked.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(end.lines, ["by hand", "after"]);
}

#[node(Log)]
async fn list() -> Each<String> {
    Each(["a", "b", "c"].map(String::from).to_vec())
}

#[node(Log)]
async fn visit(#[item] item: &str, cx: Context) -> petalflow::Result<LogLines> {
    match item {
        "b" => cx
            .ask(Which { about: item.into() })
            .await
            .map(|answer| LogLines(vec![answer])),
        _ => Ok(LogLines(vec![item.into()])),
    }
}

flow!(Visit(Log) { list -> each visit -> after });

#[tokio::test]
async fn f42_pair_13_an_edit_by_a_node_that_runs_for_items_is_refused() {
    let thread = Visit::new().store(&InMemoryStore::new()).thread("t");
    assert_eq!(
        thread.run(String::new()).await.unwrap().interrupts().len(),
        1
    );
    let edit = Edit::new(LogLines(vec!["by hand".into()])).by("visit");
    let error = thread.update(edit).await.unwrap_err().to_string();
    assert!(
        error.starts_with("node `visit` runs for items, and an edit by it"),
        "{error}"
    );
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let finished = snapshot.tasks.iter().filter(|task| task.finished).count();
    assert_eq!(
        (finished, snapshot.interrupts.len()),
        (2, 1),
        "nothing was dropped"
    );
    let end = thread
        .answer::<Which>("B".into())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(end.lines, ["a", "B", "c", "after"]);
}

#[derive(Route)]
enum Way {
    Left,
    Right,
}

#[node(Log)]
async fn pick(mode: &str) -> Way {
    if mode == "right" {
        Way::Right
    } else {
        Way::Left
    }
}

#[node(Log)]
async fn left() -> LogLines {
    LogLines(vec!["left".into()])
}

#[node(Log)]
async fn right() -> LogLines {
    LogLines(vec!["right".into()])
}

flow!(Pick(Log) { pick -> match { Left => left, Right => right } });

#[tokio::test]
async fn f42_middleware_that_leaves_out_a_choice_fails_the_node() {
    let skips = from_fn::<Log, _>(|call, next| match call.node() {
        "pick" => Box::pin(async { Ok(()) }),
        _ => next.run(call),
    });
    let error = Pick::new()
        .middleware(skips)
        .run(String::new())
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("middleware did not run node `pick`, which chooses a route"),
        "{error}"
    );
    let chooses = from_fn::<Log, _>(|call, next| match call.node() {
        "pick" => {
            call.effects.choose(1);
            Box::pin(async { Ok(()) })
        }
        _ => next.run(call),
    });
    let log = Pick::new()
        .middleware(chooses)
        .run(String::new())
        .await
        .unwrap();
    assert_eq!(log.lines, ["right"]);
}

#[state]
struct Count {
    #[key(sum)]
    n: u32,
}

#[node(Count)]
async fn count() -> CountN {
    CountN(1)
}

flow!(CountOne(Count) { count });

flow! {
    Keep(Log) {
        counter -> after;
        node counter: CountOne { in: || (), out: |count: Count| LogLines(vec![count.n.to_string()]), keep: thread };
    }
}

#[tokio::test]
async fn f42_pairs_5_6_a_kept_state_knows_only_calls_that_were_made() {
    let skip = Arc::new(AtomicU32::new(0));
    let skipped = Arc::clone(&skip);
    let layer = from_fn::<Log, _>(move |call, next| match call.node() {
        "counter" if skipped.load(SeqCst) == 1 => Box::pin(async { Ok(()) }),
        _ => next.run(call),
    });
    let thread = Keep::new()
        .middleware(layer)
        .store(&InMemoryStore::new())
        .thread("t");
    assert_eq!(lines(&thread, "").await, ["1", "after"]);
    // 5: middleware that does not run the sub-flow makes no call.
    skip.store(1, SeqCst);
    assert_eq!(lines(&thread, "").await.len(), 3);
    skip.store(0, SeqCst);
    // 6: nor does an edit by the sub-flow.
    thread
        .update(Edit::new(LogLines(vec!["by hand".into()])).by("counter"))
        .await
        .unwrap();
    thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(lines(&thread, "").await[5..], ["2", "after"]);
}

/// Items that fail, and that take too long, in their first attempts.
#[node(Log, retry = [petalflow::policy::Retry::attempts(2).first(Duration::ZERO)], timeout = 1s)]
async fn try_item(#[item] item: &str, cx: Context) -> petalflow::Result<LogLines> {
    match (item, cx.attempt()) {
        ("b", 1) => return Err("it fails once".into()),
        ("c", 1) => std::future::pending().await,
        _ => {}
    }
    Ok(LogLines(vec![format!("{item}: attempt {}", cx.attempt())]))
}

flow!(TryAll(Log) { list -> each try_item });

#[tokio::test(start_paused = true)]
async fn f42_pairs_10_11_12_each_item_has_its_own_attempts_time_and_middleware() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let calls = Arc::clone(&seen);
    let layer = from_fn::<Log, _>(move |call, next| {
        if let Some(index) = call.context().index() {
            calls.lock().unwrap().push((index, call.attempt()));
        }
        next.run(call)
    });
    let log = TryAll::new()
        .middleware(layer)
        .run(String::new())
        .await
        .unwrap();
    assert_eq!(log.lines, ["a: attempt 1", "b: attempt 2", "c: attempt 2"]);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)]);
}

/// A cache that finds nothing, slowly.
#[derive(Clone)]
struct Slow;

#[petalflow::async_trait]
impl petalflow::cache::Cache for Slow {
    async fn get(&self, _: &[u8]) -> Option<Vec<u8>> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        None
    }

    async fn put(&self, _: &[u8], _: Vec<u8>, _: Duration) {
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f42_pairs_17_27_32_the_time_and_the_errors_of_what_is_around_a_node() {
    let launch = || Caught::new().manage(Runs::default());
    let input = || "plain".to_string();
    // 17: to look into a cache is no part of an attempt.
    let log = launch().cache(&Slow).run(input()).await.unwrap();
    assert_eq!(log.lines, ["attempt 1", "after"]);
    // 27: what middleware does is.
    let slow = from_fn::<Log, _>(|call, next| {
        Box::pin(async move {
            if call.node() == "work" {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            next.run(call).await
        })
    });
    let log = launch().middleware(slow).run(input()).await.unwrap();
    assert_eq!(log.lines, ["Timeout", "after"]);
    // 32: its error is that of the node.
    let fails = from_fn::<Log, _>(|call, next| match call.node() {
        "work" => Box::pin(async { Err("middleware fails".into()) }),
        _ => next.run(call),
    });
    let log = launch().middleware(fails).run(input()).await.unwrap();
    assert_eq!(log.lines, ["Error", "after"]);
}
