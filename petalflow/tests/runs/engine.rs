//! Runs whose supersteps the test drives.

use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::engine::{Supersteps, ThreadEngine, ThreadRecords};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Crawl {
    #[key(input)]
    pages: Vec<u32>,
    #[key(append)]
    texts: Vec<String>,
    #[key(sum)]
    rounds: u64,
}

#[derive(Route)]
enum Next {
    Again,
    Stop,
}

#[node(Crawl)]
async fn list(pages: &[u32]) -> Each<u32> {
    pages.iter().copied().collect()
}

#[node(Crawl)]
async fn fetch(#[item] page: &u32, cx: Context) -> petalflow::Result<CrawlTexts> {
    if *page == 404 {
        return Err("not found".into());
    }
    Ok(CrawlTexts(vec![format!("{page} {:?}", cx.index())]))
}

#[node(Crawl)]
async fn count(rounds: &u64) -> (CrawlRounds, Next) {
    let next = if *rounds == 0 {
        Next::Again
    } else {
        Next::Stop
    };
    (CrawlRounds(1), next)
}

#[node(Crawl)]
async fn failed(#[item] error: &NodeError) -> CrawlTexts {
    CrawlTexts(vec![error.message.clone()])
}

flow! {
    CrawlAll(Crawl) {
        START -> list -> each fetch -> count;
        count -> match { Again => list, Stop => END };
        catch fetch -> failed;
        failed -> END;
    }
}

/// Runs the flow, each superstep in this order of its tasks. Returns the results of the tasks.
async fn journal(
    pages: Vec<u32>,
    order: impl Fn(usize) -> Vec<usize>,
) -> (Crawl, Vec<Vec<Vec<u8>>>) {
    let mut journal = Vec::new();
    let mut run = Supersteps::begin(CrawlAll::new(), "crawl", pages).unwrap();
    while !run.is_finished() {
        let tasks = run.tasks().len();
        let mut results = vec![Vec::new(); tasks];
        for task in order(tasks) {
            results[task] = run.run(task).await.unwrap();
        }
        run.commit(&results).unwrap();
        journal.push(results);
    }
    (run.into_state(), journal)
}

#[tokio::test]
async fn the_result_is_that_of_a_run_in_whatever_order_tasks_end() {
    let pages = vec![3, 1, 404, 2];
    let expected = CrawlAll::run(pages.clone()).await.unwrap();
    assert_eq!(expected.texts.len(), 8);
    let (forward, one) = journal(pages.clone(), |tasks| (0..tasks).collect()).await;
    let (backward, two) = journal(pages, |tasks| (0..tasks).rev().collect()).await;
    assert_eq!((&forward, &backward), (&expected, &expected));
    assert_eq!(one, two);
}

#[tokio::test]
async fn a_journal_rebuilds_the_run_without_its_nodes() {
    let (state, journal) = journal(vec![1, 2], |tasks| (0..tasks).collect()).await;
    let mut run = Supersteps::begin(CrawlAll::new(), "crawl", vec![1, 2]).unwrap();
    let mut ids = Vec::new();
    for results in &journal {
        ids.extend(run.tasks().map(|task| task.id));
        run.commit(results).unwrap();
    }
    assert!(run.is_finished());
    assert_eq!((run.state(), run.superstep()), (&state, 6));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8, "each task has an id of its own");
}

#[tokio::test]
async fn the_ids_of_tasks_are_those_of_the_run_s_name() {
    let ids = |name: &str| {
        let run = Supersteps::begin(CrawlAll::new(), name, vec![1]).unwrap();
        run.tasks().map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("one"), ids("one"));
    assert_ne!(ids("one"), ids("two"));
}

#[tokio::test]
async fn results_that_do_not_fit_are_refused_and_change_nothing() {
    let mut run = Supersteps::begin(CrawlAll::new(), "crawl", vec![1, 2]).unwrap();
    let good = run.run(0).await.unwrap();
    let refused = |error: petalflow::RunError| error.to_string();
    let none: [Vec<u8>; 0] = [];
    let text = refused(run.commit(&none).unwrap_err());
    assert!(
        text.ends_with("superstep 1 has 1 tasks, but 0 results were given; give one for each task"),
        "{text}"
    );
    let text = refused(run.commit(&[b"junk"]).unwrap_err());
    assert!(text.contains("the result of node `list`"), "{text}");
    for cut in 0..good.len() {
        assert!(
            run.commit(&[&good[..cut]]).is_err(),
            "{cut} bytes of {}",
            good.len()
        );
    }
    assert_eq!(run.superstep(), 0);
    run.commit(&[good]).unwrap();
    assert_eq!(run.tasks().len(), 2);
}

#[state]
struct Kept {
    #[key(untracked)]
    handle: u32,
}

#[node(Kept)]
async fn open() -> KeptHandle {
    KeptHandle(1)
}

flow!(Open(Kept) { open });

#[state]
struct Count {
    #[key(sum)]
    n: u64,
}

static CALLS: AtomicU32 = AtomicU32::new(0);

#[node(Count, retry = 2)]
async fn add() -> petalflow::Result<(CountN, bool)> {
    if CALLS.fetch_add(1, Ordering::SeqCst) == 0 {
        return Err("at first".into());
    }
    Ok((CountN(1), true))
}

flow!(Add(Count) { add -> match { true => add, false => END } });

#[tokio::test(start_paused = true)]
async fn retries_limits_and_untracked_keys() {
    let run = Supersteps::begin(Open::new(), "o", ()).unwrap();
    let text = run.run(0).await.unwrap_err().to_string();
    assert!(
        text.contains("node `open` writes key `handle`, which is `untracked`"),
        "{text}"
    );

    let mut run = Supersteps::begin(Add::new().limit(2), "a", ()).unwrap();
    for superstep in 1..=2 {
        let result = run.run(0).await.unwrap();
        let committed = run.commit(&[result]);
        assert_eq!(committed.is_ok(), superstep == 1);
        if let Err(error) = committed {
            assert!(
                matches!(error.kind(), RunErrorKind::Limit { limit: 2, .. }),
                "{error}"
            );
        }
    }
    assert_eq!((run.state().n, CALLS.load(Ordering::SeqCst)), (2, 3));
    assert!(Supersteps::begin(Add::new().limit(0), "a", ()).is_err());
}

#[node(Crawl)]
async fn fetch_remotely(#[item] page: &u32) -> CrawlTexts {
    CrawlTexts(vec![format!("page {page}")])
}

flow!(CrawlElsewhere(Crawl) {
    list -> each fetch_remotely;
    with fetch_remotely { remote: "crawlers" };
});

/// The pools of the tasks that the superstep after `list` requests.
async fn requested_pools(engine: ThreadEngine<CrawlElsewhere>) -> Vec<String> {
    let mut records = ThreadRecords::default();
    records.apply(&engine.begin("t", &records, vec![1, 2]).await.unwrap());
    let mut listed = engine.advance("t", records.clone(), 0, []);
    while let Some(batch) = listed.next().await {
        records.apply(&batch.changes);
    }
    let requests = engine.requests("t", &records, 1).await;
    let requests = requests.expect("all tasks are placed").into_iter();
    requests.map(|request| request.pool).collect()
}

#[tokio::test]
async fn a_remote_node_is_placed_on_its_pool_and_runs_locally_without_an_engine() {
    let engine = || ThreadEngine::new(CrawlElsewhere::new());
    assert_eq!(requested_pools(engine()).await, ["crawlers", "crawlers"]);
    let other = engine().place("fetch_remotely", "others").unwrap();
    assert_eq!(requested_pools(other).await, ["others", "others"]);
    let crawl = CrawlElsewhere::run(vec![1, 2]).await.unwrap();
    assert_eq!(crawl.texts, ["page 1", "page 2"]);
}

#[state]
struct Archive {
    #[key(input)]
    page: u32,
    #[key(input)]
    library: Vec<String>,
    #[key(append)]
    found: Vec<String>,
    #[key(sum)]
    round: u32,
}

#[node(Archive)]
async fn search(page: &u32, round: &u32) -> (ArchiveFound, ArchiveRound) {
    let found = format!("page {page} in round {round}: {}", "text ".repeat(2_000));
    (ArchiveFound(vec![found]), ArchiveRound(1))
}

#[node(Archive)]
async fn all(state: &Archive) -> ArchiveFound {
    ArchiveFound(vec![format!("{} books", state.library.len())])
}

#[node(Archive)]
async fn again(round: &u32) -> bool {
    *round < 3
}

flow!(SearchAll(Archive) {
    START -> search -> again -> match { true => search, false => all };
    all -> END;
    with search { remote: "searchers" };
    with all { remote: "searchers" };
});

/// What each request of a run needs, in bytes, with all keys and as it is sent; and the end of the run.
async fn requested_bytes(engine: ThreadEngine<SearchAll>) -> (Vec<(usize, usize)>, Vec<String>) {
    let (mut records, mut sizes) = (ThreadRecords::default(), Vec::new());
    let input = ArchiveInput {
        page: 7,
        library: vec!["a book".repeat(10_000)],
    };
    records.apply(&engine.begin("t", &records, input).await.unwrap());
    for used in 0.. {
        for request in engine
            .requests("t", &records, used)
            .await
            .into_iter()
            .flatten()
        {
            let whole = records.for_task(request.task).to_bytes().len();
            let needed = engine.records_for(&records, &request);
            sizes.push((whole, needed.to_bytes().len()));
            let mut task = engine.run_task("t", needed, used, request.task);
            while let Some(batch) = task.next().await {
                records.apply_task(&batch.of_task().changes).unwrap();
            }
        }
        let mut pass = engine.advance("t", records.clone(), used, []);
        let mut continues = false;
        while let Some(batch) = pass.next().await {
            records.apply(&batch.changes);
            continues = batch.end.is_some_and(|end| end.continues());
        }
        if !continues {
            break;
        }
    }
    let read = engine.edit("t", &records, async |thread| thread.snapshot().await);
    let state = read.await.unwrap().0.unwrap().expect("it exists").state;
    (sizes, state.found)
}

#[tokio::test]
async fn a_placed_node_gets_the_keys_that_it_reads() {
    let input = || ArchiveInput {
        page: 7,
        library: vec!["a book".repeat(10_000)],
    };
    let expected = SearchAll::run(input()).await.unwrap().found;
    let (sizes, found) = requested_bytes(ThreadEngine::new(SearchAll::new())).await;
    assert_eq!(found, expected);
    let [first, second, third, all] = sizes[..] else {
        panic!("{sizes:?}");
    };
    // The library travels, because an input without a default is needed to read a state. What was found does not.
    assert!(first.0 + 10_000 < second.0, "{sizes:?}");
    assert!(second.0 + 10_000 < third.0, "{sizes:?}");
    assert_eq!([second.1, third.1], [first.1; 2]);
    assert_eq!(all.0, all.1, "it reads the whole state");

    // Middleware may read the whole state.
    let launch = SearchAll::new().middleware(Plain);
    let (sizes, found) = requested_bytes(ThreadEngine::new(launch)).await;
    assert_eq!(found, expected);
    assert!(
        sizes.iter().all(|(whole, needed)| whole == needed),
        "{sizes:?}"
    );
}

struct Plain;

#[petalflow::async_trait]
impl<S: State> petalflow::middleware::Middleware<S> for Plain {
    async fn around(
        &self,
        call: petalflow::middleware::NodeCall<'_, S>,
        next: petalflow::middleware::Next<'_, S>,
    ) -> Result<(), petalflow::BoxError> {
        next.run(call).await
    }
}

/// Executes supersteps until the thread rests, and logs how it rests. Each pass of a superstep is made twice: what the first one has
/// handed out after its first batch is lost.
async fn logged(engine: &ThreadEngine<CrawlAll>, records: &mut ThreadRecords) {
    for used in 0.. {
        let requests = engine.requests("t", records, used).await;
        for request in requests.into_iter().flatten() {
            let needed = engine.records_for(records, &request);
            let mut task = engine.run_task("t", needed, used, request.task);
            while let Some(batch) = task.next().await {
                records.apply_task(&batch.of_task().changes).unwrap();
            }
        }
        let mut lost = engine.advance("t", records.clone(), used, []);
        let first = lost.next().await.unwrap();
        if first.end.is_none() {
            records.apply(&first.changes);
        }
        drop(lost);
        let mut pass = engine.advance("t", records.clone(), used, []);
        let mut continues = false;
        while let Some(batch) = pass.next().await {
            records.apply(&batch.changes);
            continues = batch.end.is_some_and(|end| end.continues());
        }
        if !continues {
            break;
        }
    }
    let end = engine.log_end("t", records, 7, None).await.unwrap();
    records.apply(&end);
}

#[tokio::test]
async fn the_log_has_each_event_of_a_turn_once_wherever_its_tasks_run() {
    let engines = [
        ThreadEngine::new(CrawlAll::new()),
        ThreadEngine::new(CrawlAll::new())
            .place("fetch", "pool")
            .unwrap(),
    ];
    for engine in engines {
        let engine = engine.event_log(1_000);
        let mut records = ThreadRecords::default();
        let mut after = 0;
        // In the first turn `count` goes back to `list` once.
        for (nodes, checkpoints) in [(8, 7), (4, 4)] {
            let begun = engine.begin("t", &records, vec![1, 2]).await.unwrap();
            records.apply(&begun);
            logged(&engine, &mut records).await;
            let read = engine.edit("t", &records, async |thread| {
                (thread.events_since(after).await, thread.last_event().await)
            });
            let ((events, last), changes) = read.await.unwrap();
            let events = events.unwrap();
            assert!(changes.is_empty());
            assert_eq!(events[0].number, after + 1);
            after = last.unwrap();
            assert_eq!(events.last().unwrap().number, after);
            let count = |kind| events.iter().filter(|event| event.kind == kind).count();
            assert_eq!((count("run_started"), count("finished")), (1, 1));
            assert_eq!(count("node_started"), nodes);
            assert_eq!(count("node_finished"), nodes);
            assert_eq!(count("checkpoint"), checkpoints);
            assert_eq!(events.last().unwrap().recorded_ms, 7);
        }
    }
}
