//! Threads whose supersteps the test drives.

use petalflow::Flow;
use petalflow::engine::{PassEnd, TaskRequest, ThreadEngine, ThreadRecords};
use petalflow::prelude::*;
use petalflow::state::{InputOf, Storable};
use petalflow::thread::Snapshot;

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

/// Makes the pass of the next superstep, and takes all that it hands out. Returns what it requested, and how it ended.
pub(super) async fn advance<F: Flow<State: Storable>>(
    engine: &ThreadEngine<F>,
    records: &mut ThreadRecords,
    used: u64,
) -> (Vec<TaskRequest>, PassEnd) {
    let (mut requests, mut end) = (Vec::new(), None);
    let mut pass = engine.advance("t", records.clone(), used, []);
    while let Some(batch) = pass.next().await {
        records.apply(&batch.changes);
        requests.extend(batch.requests);
        end = batch.end;
    }
    (requests, end.expect("the last batch has the end"))
}

/// The records of a thread that has stored its input.
pub(super) async fn begun<F: Flow<State: Storable>>(
    engine: &ThreadEngine<F>,
    input: impl InputOf<F::State>,
) -> ThreadRecords {
    let mut records = ThreadRecords::default();
    let changes = engine.begin("t", &records, input).await;
    records.apply(&changes.expect("the input is stored"));
    records
}

/// The newest snapshot of the thread.
pub(super) async fn snapshot<F: Flow<State: Storable>>(
    engine: &ThreadEngine<F>,
    records: &ThreadRecords,
) -> Snapshot<F::State> {
    let read = engine.edit("t", records, async |thread| thread.snapshot().await);
    let (snapshot, _) = read.await.expect("the records can be read");
    let snapshot = snapshot.expect("the thread can be read");
    snapshot.expect("the thread exists")
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
