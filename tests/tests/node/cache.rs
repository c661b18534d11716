//! Results of nodes that need not run again.

use std::time::Duration;

use futures_util::StreamExt as _;
use petalflow::cache::InMemoryCache;
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::prelude::*;

use crate::support::{Log, LogXs, Trace, expect_finished, flow_and_graph, list, run_both};

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Page {
    #[key(input)]
    url: String,
    #[key(input)]
    by: String,
    #[key(default)]
    text: String,
    #[key(append)]
    log: Vec<String>,
}

fn page(url: &str, by: &str) -> PageInput {
    PageInput {
        url: url.into(),
        by: by.into(),
    }
}

#[node(Page, cache = 1h)]
async fn fetch(url: &str, trace: Managed<Trace>) -> (PageText, PageLog) {
    trace.record("fetch");
    (
        PageText(format!("text at {url}")),
        PageLog(list(["fetched"])),
    )
}

#[node(Page)]
async fn show(text: &str, by: &str) -> PageLog {
    PageLog(vec![format!("{by}: {text}")])
}

flow_and_graph!(Read(Page) { fetch -> show } nodes: fetch, show);

#[tokio::test(start_paused = true)]
async fn c98_a_hit_is_marked_and_the_node_ran_once() {
    run_both!(Read, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone()).cache(&InMemoryCache::new());
        let cached = async |input| {
            let events = launch.clone().run(input).events().updates();
            let cached = events.filter_map(async |event| match event.kind {
                EventKind::NodeFinished { cached, .. } => Some(cached),
                _ => None,
            });
            cached.collect::<Vec<_>>().await
        };
        assert_eq!(cached(page("a", "ann")).await, [false, false]);
        // What it does not read does not count.
        assert_eq!(cached(page("a", "bob")).await, [true, false]);
        assert_eq!(trace.count("fetch"), 1);
        let read = launch.clone().run(page("a", "cat")).await.unwrap();
        assert_eq!(read.log, ["fetched", "cat: text at a"]);
        assert_eq!(cached(page("b", "ann")).await, [false, false]);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(
            cached(page("a", "ann")).await,
            [false, false],
            "an hour has passed"
        );
        assert_eq!(trace.count("fetch"), 3);
        read
    });
}

#[tokio::test]
async fn without_a_cache_or_with_another_the_node_runs() {
    run_both!(Read, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone());
        for _ in 0..2 {
            launch.clone().run(page("a", "ann")).await.unwrap();
        }
        for _ in 0..2 {
            let cached = launch.clone().cache(&InMemoryCache::new());
            cached.run(page("a", "ann")).await.unwrap();
        }
        assert_eq!(trace.count("fetch"), 4);
    });
}

#[tokio::test]
async fn a_hit_on_a_thread_writes_like_a_run() {
    run_both!(Read, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone()).cache(&InMemoryCache::new());
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        for _ in 0..2 {
            expect_finished(thread.run(page("a", "ann"))).await;
        }
        assert_eq!(trace.count("fetch"), 1);
        let stored = thread.snapshot().await.unwrap().unwrap().state;
        assert_eq!(stored.log, ["fetched", "ann: text at a"].repeat(2));
        stored
    });
}

#[derive(Route)]
enum Way {
    Each(Vec<String>),
    Stop,
}

#[node(Log)]
async fn routes(xs: &[String], trace: Managed<Trace>) -> (LogXs, Way) {
    trace.record("routes");
    let way = if xs.is_empty() {
        Way::Stop
    } else {
        Way::Each(xs.to_vec())
    };
    (LogXs(list(["routed"])), way)
}

#[node(Log)]
async fn visit(#[item] page: &String, trace: Managed<Trace>) -> petalflow::Result<LogXs> {
    trace.record(format!("visit {page}"));
    if page == "bad" {
        return Err("no such page".into());
    }
    Ok(LogXs(vec![format!("visited {page}")]))
}

flow_and_graph! {
    Crawl(Log) {
        routes -> match { Each => each visit, Stop => END };
        with routes { cache: 1h };
        with visit { cache: 1h };
    }
    nodes:
        routes = |b| b.node(routes {}).with("routes", CACHED),
        visit = |b| b.node(visit {}).with("visit", CACHED)
}

const CACHED: petalflow::policy::Policy = petalflow::policy::Policy {
    cache: Some(Duration::from_hours(1)),
    ..petalflow::policy::Policy::NONE
};

#[tokio::test]
async fn cached_writes_routes_and_items_are_restored_per_item() {
    run_both!(Crawl, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone()).cache(&InMemoryCache::new());
        let crawl = async |pages| launch.clone().run(pages).await.map(|log| log.xs);
        let first = crawl(list(["a", "b"])).await.unwrap();
        assert_eq!(first, ["a", "b", "routed", "visited a", "visited b"]);
        assert_eq!(crawl(list(["a", "b"])).await.unwrap(), first);
        assert_eq!(trace.all(), ["routes", "visit a", "visit b"]);
        // `visit` reads nothing but its item.
        assert_eq!(
            crawl(list(["b", "c"])).await.unwrap()[3..],
            ["visited b", "visited c"]
        );
        assert_eq!(trace.all()[3..], ["routes", "visit c"]);
        assert_eq!(crawl(list([])).await.unwrap(), ["routed"]);
        // A failure is not a result.
        for _ in 0..2 {
            crawl(list(["bad"])).await.unwrap_err();
        }
        assert_eq!(trace.count("visit bad"), 2);
        first
    });
}

#[node(Page, cache = 1h)]
async fn whole(page: &Page, trace: Managed<Trace>) -> PageText {
    trace.record("whole");
    PageText(format!("{} by {}", page.url, page.by))
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Untracked {
    #[key(input)]
    given: String,
    #[key(untracked, sum)]
    n: u32,
}

#[node(Untracked, cache = 1h)]
async fn writes_untracked(given: &str, trace: Managed<Trace>) -> UntrackedN {
    trace.record(given);
    UntrackedN(1)
}

flow_and_graph!(Whole(Page) { whole } nodes: whole);
flow_and_graph!(Unkept(Untracked) { writes_untracked } nodes: writes_untracked);

#[tokio::test]
async fn a_node_that_reads_the_whole_state_is_cached_by_the_whole_state() {
    run_both!(Whole, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone()).cache(&InMemoryCache::new());
        for by in ["ann", "ann", "bob"] {
            let page = launch.clone().run(page("a", by)).await.unwrap();
            assert_eq!(page.text, format!("a by {by}"));
        }
        assert_eq!(trace.count("whole"), 2);
    });
}

#[tokio::test]
async fn results_that_cannot_be_stored_are_not_cached() {
    run_both!(Unkept, |launch| {
        let trace = Trace::default();
        let launch = launch.manage(trace.clone()).cache(&InMemoryCache::new());
        for _ in 0..2 {
            assert_eq!(launch.clone().run("x".to_string()).await.unwrap().n, 1);
        }
        assert_eq!(trace.count("x"), 2);
    });
}

#[tokio::test(start_paused = true)]
async fn a_full_cache_evicts_an_entry() {
    use petalflow::cache::Cache as _;
    let cache = InMemoryCache::with_limit(2);
    for (key, seconds) in [("a", 10), ("b", 30), ("c", 20)] {
        cache
            .put(key.as_bytes(), key.into(), Duration::from_secs(seconds))
            .await;
    }
    let known = async |key: &str| cache.get(key.as_bytes()).await.is_some();
    assert_eq!(
        (known("a").await, known("b").await, known("c").await),
        (false, true, true)
    );
    tokio::time::advance(Duration::from_secs(20)).await;
    assert_eq!((known("b").await, known("c").await), (true, false));
    cache.clear();
    assert!(!known("b").await);
    let none = InMemoryCache::with_limit(0);
    none.put(b"a", vec![], Duration::MAX).await;
    assert_eq!(none.get(b"a").await, None);
}
