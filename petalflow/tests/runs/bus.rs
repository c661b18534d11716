//! Processes that share the tasks of a thread over a message bus: what a program writes around `ThreadEngine`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use petalflow::engine::{Batch, RecordChanges, TaskRequest, ThreadEngine, ThreadRecords};
use petalflow::event::TaskId;
use petalflow::prelude::*;
use petalflow::{BoxError, async_trait};

use super::engine::{advance, begun, snapshot};

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Crawl {
    #[key(input)]
    pages: Vec<u32>,
    #[key(append)]
    texts: Vec<String>,
    sum: usize,
}

/// How often each page was fetched.
#[derive(Clone, Default)]
struct Site(Arc<Mutex<BTreeMap<u32, u32>>>);

#[node(Crawl)]
async fn list(pages: &[u32]) -> Each<u32> {
    pages.iter().copied().collect()
}

#[node(Crawl)]
async fn fetch(#[item] page: &u32, site: Managed<Site>) -> CrawlTexts {
    *site.0.lock().unwrap().entry(*page).or_default() += 1;
    tokio::task::yield_now().await;
    CrawlTexts(vec![format!("page {page}")])
}

#[node(Crawl)]
async fn total(texts: &[String]) -> CrawlSum {
    CrawlSum(texts.len())
}

flow!(CrawlAll(Crawl) {
    list -> each fetch -> total;
    with fetch { remote: "crawlers" };
});

/// A message bus.
#[async_trait]
trait Bus: Send + Sync {
    async fn send(&self, topic: &str, message: Vec<u8>) -> Result<(), BoxError>;

    /// Waits for a message. `None` if the bus is closed.
    async fn receive(&self, topic: &str) -> Result<Option<Vec<u8>>, BoxError>;

    /// Removes the messages that nobody has received.
    async fn clear(&self, topic: &str) -> Result<(), BoxError>;

    async fn close(&self) -> Result<(), BoxError>;
}

#[derive(Default)]
struct InMemoryBus {
    topics: Mutex<BTreeMap<String, Vec<Vec<u8>>>>,
    is_closed: Mutex<bool>,
    changed: tokio::sync::Notify,
}

impl InMemoryBus {
    /// The newest message, so that tasks do not end in their order.
    fn newest(&self, topic: &str) -> Option<Vec<u8>> {
        self.topics.lock().unwrap().get_mut(topic)?.pop()
    }
}

#[async_trait]
impl Bus for InMemoryBus {
    async fn send(&self, topic: &str, message: Vec<u8>) -> Result<(), BoxError> {
        let mut topics = self.topics.lock().unwrap();
        topics.entry(topic.into()).or_default().push(message);
        drop(topics);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn receive(&self, topic: &str) -> Result<Option<Vec<u8>>, BoxError> {
        loop {
            let changed = self.changed.notified();
            if let Some(message) = self.newest(topic) {
                return Ok(Some(message));
            }
            if *self.is_closed.lock().unwrap() {
                return Ok(None);
            }
            changed.await;
        }
    }

    async fn clear(&self, topic: &str) -> Result<(), BoxError> {
        self.topics.lock().unwrap().remove(topic);
        Ok(())
    }

    async fn close(&self) -> Result<(), BoxError> {
        *self.is_closed.lock().unwrap() = true;
        self.changed.notify_waiters();
        Ok(())
    }
}

fn engine(site: &Site) -> ThreadEngine<CrawlAll> {
    ThreadEngine::new(CrawlAll::new().manage(site.clone()))
}

/// The id of the task and what it needs, as one message.
fn request_message(task: TaskId, needed: &ThreadRecords) -> Vec<u8> {
    [&task.to_bytes()[..], &needed.to_bytes()].concat()
}

fn read_request(message: &[u8]) -> (TaskId, ThreadRecords) {
    let (task, needed) = message.split_at(16);
    let task = TaskId::from_bytes(task.try_into().unwrap());
    (task, ThreadRecords::from_bytes(needed).unwrap())
}

/// The batches of one task, as one message.
async fn run_request(engine: &ThreadEngine<CrawlAll>, message: &[u8]) -> Vec<u8> {
    let (task, needed) = read_request(message);
    let mut pass = engine.run_task("t", needed, 1, task);
    let mut changes = RecordChanges::default();
    while let Some(batch) = pass.next().await {
        changes.0.extend(batch.of_task().changes.0);
    }
    let batch = Batch {
        changes,
        ..Batch::default()
    };
    batch.to_bytes()
}

/// A process that runs tasks until the bus is closed.
async fn host(bus: Arc<dyn Bus>, site: Site) -> usize {
    let engine = engine(&site);
    let mut tasks = 0;
    while let Some(message) = bus.receive("crawlers").await.unwrap() {
        let result = run_request(&engine, &message).await;
        bus.send("results", result).await.unwrap();
        tasks += 1;
    }
    tasks
}

async fn send_requests(
    bus: &dyn Bus,
    engine: &ThreadEngine<CrawlAll>,
    records: &ThreadRecords,
    requests: &[TaskRequest],
) {
    for request in requests {
        let needed = engine.records_for(records, request);
        let message = request_message(request.task, &needed);
        bus.send(&request.pool, message).await.unwrap();
    }
}

async fn receive_result(bus: &dyn Bus, records: &mut ThreadRecords) {
    let message = bus.receive("results").await.unwrap().unwrap();
    let batch = Batch::from_bytes(&message).unwrap();
    records.apply_task(&batch.changes).unwrap();
}

#[tokio::test]
async fn g085_processes_share_the_tasks_of_a_superstep_over_a_bus() {
    let pages: Vec<u32> = (1..=10).collect();
    let alone = CrawlAll::new().manage(Site::default());
    let expected = alone.run(pages.clone()).await.unwrap();

    let (bus, site) = (Arc::new(InMemoryBus::default()), Site::default());
    let hosts = [0, 1, 2].map(|_| tokio::spawn(host(bus.clone(), site.clone())));
    let engine = engine(&site);
    let mut records = begun(&engine, pages).await;
    for used in 0.. {
        let (requests, end) = advance(&engine, &mut records, used).await;
        if requests.is_empty() {
            if !end.continues() {
                break;
            }
            continue;
        }
        send_requests(&*bus, &engine, &records, &requests).await;
        for _ in &requests {
            receive_result(&*bus, &mut records).await;
        }
        let (requests, end) = advance(&engine, &mut records, used).await;
        assert!(requests.is_empty() && end.continues());
    }
    assert_eq!(snapshot(&engine, &records).await.state, expected);
    assert!(site.0.lock().unwrap().values().all(|times| *times == 1));

    bus.close().await.unwrap();
    let mut tasks = 0;
    for host in hosts {
        tasks += host.await.unwrap();
    }
    assert_eq!(tasks, 10, "the hosts ran all tasks, and the engine none");
}

#[tokio::test]
async fn g085_what_a_lost_process_had_not_sent_runs_again_and_nothing_else_does() {
    let (bus, site) = (InMemoryBus::default(), Site::default());
    let engine = engine(&site);
    let mut records = begun(&engine, vec![1, 2, 3]).await;
    advance(&engine, &mut records, 0).await;
    let (requests, _) = advance(&engine, &mut records, 1).await;
    send_requests(&bus, &engine, &records, &requests).await;
    // Of one task the result arrives. One ran, and its process was lost. One was not received.
    for is_sent in [true, false] {
        let message = bus.receive("crawlers").await.unwrap().unwrap();
        let result = run_request(&engine, &message).await;
        if is_sent {
            bus.send("results", result).await.unwrap();
            receive_result(&bus, &mut records).await;
        }
    }
    bus.clear("crawlers").await.unwrap();

    let (again, end) = advance(&engine, &mut records, 1).await;
    assert_eq!((again.len(), end.committed), (2, false));
    send_requests(&bus, &engine, &records, &again).await;
    for _ in &again {
        let message = bus.receive("crawlers").await.unwrap().unwrap();
        let result = run_request(&engine, &message).await;
        bus.send("results", result).await.unwrap();
        receive_result(&bus, &mut records).await;
    }
    assert!(advance(&engine, &mut records, 1).await.1.continues());
    let state = snapshot(&engine, &records).await.state;
    assert_eq!(state.texts, ["page 1", "page 2", "page 3"]);
    let mut fetched: Vec<u32> = site.0.lock().unwrap().values().copied().collect();
    fetched.sort_unstable();
    assert_eq!(fetched, [1, 1, 2]);
}
