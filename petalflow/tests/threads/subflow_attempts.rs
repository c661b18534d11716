//! Attempts of sub-flows, and the states that they keep: alike with a store and without.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow::thread::{Durability, Retention};
use petalflow::{Launch, NodeError};

/// How often each node has run.
#[derive(Default)]
struct Calls {
    chosen: AtomicU32,
    fetched: AtomicU32,
}

#[state]
struct Pick {
    server: String,
    page: String,
}

#[node(Pick)]
async fn choose(calls: Managed<Calls>) -> PickServer {
    let first = calls.chosen.fetch_add(1, SeqCst) == 0;
    PickServer(if first { "dead" } else { "alive" }.into())
}

#[node(Pick)]
async fn fetch(server: &str, calls: Managed<Calls>) -> petalflow::Result<PickPage> {
    calls.fetched.fetch_add(1, SeqCst);
    match server {
        "dead" => Err("the server is dead".into()),
        _ => Ok(PickPage("page".into())),
    }
}

flow!(Fetch(Pick) { choose -> fetch });

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Doc {
    page: String,
}

flow! {
    Load(Doc) {
        START -> load;
        node load: Fetch { in: || PickInput {}, out: |pick: Pick| DocPage(pick.page) };
        with load { retry: 3 };
    }
}

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

/// The ends of a run without a store, and with one for each durability: as a text if it fails.
async fn ends<F: Flow + Clone>(
    launch: impl Fn() -> Launch<F>,
    input: impl Fn() -> <F::State as State>::Input,
) -> Vec<Result<F::State, String>>
where
    F::State: Storable,
{
    let error = |error: petalflow::RunError| error.to_string();
    let mut ends = vec![launch().run(input()).await.map_err(error)];
    for durability in DURABILITIES {
        let threads = launch().store(&InMemoryStore::new()).durability(durability);
        let threads = threads.retention(Retention::max_checkpoints(1));
        let end = threads.thread("t").run(input()).await;
        ends.push(end.map(|end| end.into_finished().unwrap()).map_err(error));
    }
    ends
}

#[tokio::test(start_paused = true)]
async fn f42_a_retry_of_a_sub_flow_begins_anew() {
    let calls: Arc<Mutex<Vec<Arc<Calls>>>> = Arc::default();
    let launch = || {
        let new = Arc::new(Calls::default());
        calls.lock().unwrap().push(Arc::clone(&new));
        Load::new().manage_with(new)
    };
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        assert_eq!(end.unwrap().page, "page", "case {case}");
    }
    for (case, calls) in calls.lock().unwrap().iter().enumerate() {
        let counts = (calls.chosen.load(SeqCst), calls.fetched.load(SeqCst));
        assert_eq!(counts, (2, 2), "case {case}");
    }
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct Which;

#[node(Pick)]
async fn asks(cx: Context, server: &str) -> petalflow::Result<PickPage> {
    Ok(PickPage(format!("{} of {server}", cx.ask(Which).await?)))
}

flow!(ChooseAndAsk(Pick) { choose -> asks });

flow! {
    LoadAsked(Doc) {
        START -> load;
        node load: ChooseAndAsk { in: || PickInput {}, out: |pick: Pick| DocPage(pick.page) };
        with load { retry: 3 };
    }
}

#[tokio::test]
async fn f42_a_pause_continues_the_attempt_of_a_sub_flow() {
    let calls = Arc::new(Calls::default());
    let launch = LoadAsked::new().manage_with(Arc::clone(&calls));
    let thread = launch.store(&InMemoryStore::new()).thread("t");
    assert_eq!(thread.run(()).await.unwrap().interrupts().len(), 1);
    let doc = thread.answer::<Which>("page".into()).await.unwrap();
    assert_eq!(doc.into_finished().unwrap().page, "page of dead");
    assert_eq!(calls.chosen.load(SeqCst), 1);
}

/// A counter that fails when it is told to, after it has counted.
#[state]
struct Count {
    #[key(input)]
    call: u32,
    #[key(sum)]
    n: u32,
    #[key(append)]
    calls: Vec<u32>,
}

#[node(Count)]
async fn count(call: &u32) -> (CountN, CountCalls) {
    (CountN(1), CountCalls(vec![*call]))
}

/// The calls whose first attempts fail, with the number of those attempts.
struct Failing(Mutex<std::collections::HashMap<u32, u32>>);

impl Failing {
    fn of<const N: usize>(calls: [(u32, u32); N]) -> Self {
        Failing(Mutex::new(calls.into()))
    }
}

#[node(Count)]
async fn may_fail(call: &u32, failing: Managed<Failing>) -> petalflow::Result<()> {
    let mut failing = failing.0.lock().unwrap();
    match failing.get_mut(call) {
        Some(attempts) if *attempts > 0 => {
            *attempts -= 1;
            Err(format!("call {call} fails").into())
        }
        _ => Ok(()),
    }
}

flow!(CountOne(Count) { count -> may_fail });

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(sum)]
    round: u32,
    #[key(append)]
    lines: Vec<String>,
}

fn line(count: &Count) -> LogLines {
    LogLines(vec![format!("{} {:?}", count.n, count.calls)])
}

#[node(Log)]
async fn next() -> LogRound {
    LogRound(1)
}

#[node(Log)]
async fn more(round: &u32) -> bool {
    *round < 4
}

flow! {
    Rounds(Log) {
        START -> next -> counter -> more -> match { true => next, false => END };
        node counter: CountOne { in: |round: &u32| *round, out: |count: Count| line(&count), keep: thread };
        with counter { retry: 2 };
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_kept_state_is_kept_in_a_loop_within_one_run() {
    let launch = || Rounds::new().manage(Failing::of([]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let lines = end.unwrap().lines;
        let kept = ["1 [1]", "2 [1, 2]", "3 [1, 2, 3]", "4 [1, 2, 3, 4]"];
        assert_eq!(lines, kept, "case {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_retry_begins_with_the_state_that_was_kept_before_the_call() {
    let launch = || Rounds::new().manage(Failing::of([(1, 1), (3, 1)]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let lines = end.unwrap().lines;
        let kept = ["1 [1]", "2 [1, 2]", "3 [1, 2, 3]", "4 [1, 2, 3, 4]"];
        assert_eq!(lines, kept, "case {case}");
    }
}

#[node(Log)]
async fn note(#[item] failure: &NodeError, round: &u32) -> LogLines {
    LogLines(vec![format!("{round}: {}", failure.message)])
}

flow! {
    CaughtRounds(Log) {
        START -> next -> counter -> more -> match { true => next, false => END };
        node counter: CountOne { in: |round: &u32| *round, out: |count: Count| line(&count), keep: thread };
        catch counter -> note;
        note -> more;
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_call_that_fails_leaves_nothing_in_the_kept_state() {
    let launch = || CaughtRounds::new().manage(Failing::of([(1, 1), (3, 1)]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let lines = end.unwrap().lines;
        assert_eq!(lines.len(), 4, "case {case}");
        assert!(
            lines[0].starts_with("1: ") && lines[2].starts_with("3: "),
            "{lines:?}"
        );
        assert_eq!(
            [&*lines[1], &lines[3]],
            ["1 [2]", "2 [2, 4]"],
            "case {case}"
        );
    }
}

#[state(volatile)]
struct Volatile {
    #[key(sum)]
    n: u32,
}

#[node(Volatile)]
async fn add() -> VolatileN {
    VolatileN(1)
}

flow!(AddOne(Volatile) { add });

flow! {
    KeepVolatile(Log) {
        START -> counter;
        node counter: AddOne { in: || (), out: |end: Volatile| LogLines(vec![end.n.to_string()]), keep: thread };
        counter -> next -> more -> match { true => counter, false => END };
    }
}

#[tokio::test]
async fn f42_a_state_that_cannot_be_stored_is_kept_within_a_run() {
    let log = KeepVolatile::run(()).await.unwrap();
    assert_eq!(log.lines, ["1", "2", "3", "4"]);
}

#[node(Log)]
async fn list() -> Each<u32> {
    Each(vec![1, 2])
}

flow! {
    Middle(Log) {
        counter;
        node counter: CountOne { in: || 7, out: |count: Count| line(&count), keep: thread };
    }
}

flow! {
    Listed(Log) {
        list -> each middle;
        node middle: Middle { in: |#[item] _number: &u32| (), out: |log: Log| LogLines(log.lines) };
    }
}

#[tokio::test]
async fn f42_a_state_that_would_be_kept_for_the_position_of_an_item_is_refused() {
    let launch = || Listed::new().manage(Failing::of([]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let error = end.unwrap_err();
        assert!(
            error.contains("PF028: the sub-flow `middle[0]/counter` keeps its state"),
            "case {case}: {error}"
        );
    }
}

flow! {
    Retried(Log) {
        middle;
        node middle: Middle { in: || (), out: |log: Log| LogLines(log.lines) };
        with middle { retry: 2 };
    }
}

flow! {
    Cached(Log) {
        outer;
        node outer: Around { in: || (), out: |log: Log| LogLines(log.lines) };
        with outer { cache: 1h };
    }
}

flow! {
    Around(Log) {
        middle;
        node middle: Middle { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_kept_state_inside_a_retried_or_a_cached_sub_flow_is_refused() {
    // The first attempt of the middle flow would count, and the second one once more.
    let launch = || Retried::new().manage(Failing::of([]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let error = end.unwrap_err();
        let expected = "PF028: the sub-flow `middle/counter` keeps its state, and a sub-flow around it is tried again";
        assert!(error.contains(expected), "case {case}: {error}");
    }
    // At any depth.
    let cache = petalflow::cache::InMemoryCache::new();
    let launch = || Cached::new().manage(Failing::of([])).cache(&cache);
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        let error = end.unwrap_err();
        let expected = "PF028: the sub-flow `outer/middle/counter` keeps its state, and a sub-flow around it is cached";
        assert!(error.contains(expected), "case {case}: {error}");
    }
    // Without the options it is kept.
    let launch = || Around::new().manage(Failing::of([]));
    for (case, end) in ends(launch, || ().into()).await.into_iter().enumerate() {
        assert_eq!(end.unwrap().lines, ["1 [7]"], "case {case}");
    }
}
