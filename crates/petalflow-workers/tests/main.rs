//! Workers that share a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use petalflow::prelude::*;
use petalflow::{BoxError, async_trait};
use petalflow_workers::{
    Backend, BackendError, InMemoryBackend, Mailbox, Share, TaskReport, Worker, WorkerError,
};
use tokio::sync::broadcast;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Crawl {
    #[key(input)]
    pages: Vec<u32>,
    #[key(append)]
    texts: Vec<String>,
    sum: usize,
}

/// Counts the attempts of each page, and fails while `broken` is set.
#[derive(Clone, Default)]
struct Site {
    fetched: Arc<Mutex<BTreeMap<u32, u32>>>,
    broken: Arc<AtomicU32>,
}

#[node(Crawl)]
async fn list(pages: &[u32]) -> Each<u32> {
    pages.iter().copied().collect()
}

#[node(Crawl)]
async fn fetch(#[item] page: &u32, site: Managed<Site>) -> petalflow::Result<CrawlTexts> {
    *site.fetched.lock().unwrap().entry(*page).or_default() += 1;
    tokio::task::yield_now().await;
    if site.broken.load(Ordering::SeqCst) == *page {
        return Err(format!("page {page} is gone").into());
    }
    Ok(CrawlTexts(vec![format!("page {page}")]))
}

#[node(Crawl)]
async fn total(texts: &[String]) -> CrawlSum {
    CrawlSum(texts.len())
}

flow!(CrawlAll(Crawl) { list -> each fetch -> total });

fn worker<B: Backend>(site: &Site, backend: B, share: Share) -> Worker<CrawlAll, B> {
    Worker::new(CrawlAll::new().manage(site.clone()), backend).share(share)
}

fn pages() -> Vec<u32> {
    (1..=10).collect()
}

#[tokio::test]
async fn g085_workers_share_the_tasks_of_a_run_and_all_have_its_result() {
    let alone = Site::default();
    let expected = CrawlAll::new().manage(alone).run(pages()).await.unwrap();
    let (site, backend) = (Site::default(), InMemoryBackend::new());
    let workers = [0, 1, 2].map(|index| worker(&site, backend.clone(), Share::new(index, 3)));
    let watcher = worker(&site, backend.clone(), Share::NONE);
    let (one, two, three, watched) = tokio::join!(
        workers[0].run("r", pages()),
        workers[1].run("r", pages()),
        workers[2].run("r", pages()),
        watcher.run("r", pages()),
    );
    for state in [one, two, three, watched] {
        assert_eq!(state.unwrap(), expected);
    }
    let fetched = site.fetched.lock().unwrap().clone();
    assert!(
        fetched.len() == 10 && fetched.values().all(|times| *times == 1),
        "{fetched:?}"
    );
}

#[tokio::test]
async fn g085_a_worker_that_begins_again_runs_no_node_again() {
    let (site, backend) = (Site::default(), InMemoryBackend::new());
    site.broken.store(4, Ordering::SeqCst);
    let alone = worker(&site, backend.clone(), Share::ALL);
    let error = alone.run("r", pages()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `fetch` failed in superstep 2: page 4 is gone"
    );
    // What `main` prints.
    assert_eq!(format!("{error:?}"), error.to_string());
    site.broken.store(0, Ordering::SeqCst);
    let again = worker(&site, backend.clone(), Share::ALL);
    assert_eq!(again.run("r", pages()).await.unwrap().sum, 10);
    let once_more = worker(&site, backend.clone(), Share::ALL);
    assert_eq!(once_more.run("r", pages()).await.unwrap().sum, 10);
    let fetched = site.fetched.lock().unwrap().clone();
    let finished_before = fetched.iter().filter(|(_, times)| **times == 1).count();
    assert!(
        finished_before >= 3 && fetched.values().all(|times| *times <= 2),
        "{fetched:?}"
    );
    backend.clear("r").await.unwrap();
    assert!(
        backend
            .receive(&Mailbox::new("r", 1), None)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn g085_a_failure_on_one_worker_ends_the_others() {
    let (site, backend) = (Site::default(), InMemoryBackend::new());
    site.broken.store(1, Ordering::SeqCst);
    let (one, two) = (
        worker(&site, backend.clone(), Share::new(0, 2)),
        worker(&site, backend.clone(), Share::new(1, 2)),
    );
    let (one, two) = tokio::join!(one.run("r", pages()), two.run("r", pages()));
    assert!(matches!(one, Err(WorkerError::Run(_))), "{one:?}");
    let Err(WorkerError::Elsewhere { node, message, .. }) = two else {
        panic!("{two:?}")
    };
    assert_eq!(node, "fetch");
    assert_eq!(
        message,
        "node `fetch` failed in superstep 2: page 1 is gone"
    );
}

#[tokio::test]
async fn g085_closing_the_backend_ends_workers_that_wait() {
    let (site, backend) = (Site::default(), InMemoryBackend::new());
    let waits = worker(&site, backend.clone(), Share::NONE);
    let close = async {
        tokio::task::yield_now().await;
        backend.close().await.unwrap();
    };
    let (waited, ()) = tokio::join!(waits.run("r", pages()), close);
    assert!(
        matches!(waited, Err(WorkerError::Backend(BackendError::Closed))),
        "{waited:?}"
    );
}

#[tokio::test]
async fn a_report_of_junk_is_an_error_and_one_of_no_task_is_ignored() {
    let (site, backend) = (Site::default(), InMemoryBackend::new());
    let mailbox = Mailbox::new("r", 1);
    backend
        .send(&mailbox, TaskReport::new(99, Ok(vec![])))
        .await
        .unwrap();
    backend
        .send(&mailbox, TaskReport::new(0, Ok(b"junk".to_vec())))
        .await
        .unwrap();
    let error = worker(&site, backend, Share::ALL)
        .run("r", pages())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("the result of node `list`"),
        "{error}"
    );
}

/// A backend over a bus that delivers each message to all subscribers in one order: each worker keeps what it has received.
struct Bus {
    publish: broadcast::Sender<(Mailbox, TaskReport)>,
    incoming: tokio::sync::Mutex<broadcast::Receiver<(Mailbox, TaskReport)>>,
    kept: InMemoryBackend,
}

impl Bus {
    fn new(publish: &broadcast::Sender<(Mailbox, TaskReport)>) -> Self {
        Bus {
            publish: publish.clone(),
            incoming: tokio::sync::Mutex::new(publish.subscribe()),
            kept: InMemoryBackend::new(),
        }
    }
}

#[async_trait]
impl Backend for Bus {
    async fn send(&self, to: &Mailbox, report: TaskReport) -> Result<(), BackendError> {
        let sent = self.publish.send((to.clone(), report));
        sent.map(drop)
            .map_err(|error| BackendError::Failed(BoxError::from(error.to_string())))
    }

    async fn receive(
        &self,
        from: &Mailbox,
        known_results: Option<usize>,
    ) -> Result<Vec<TaskReport>, BackendError> {
        let mut incoming = self.incoming.lock().await;
        loop {
            while let Ok((mailbox, report)) = incoming.try_recv() {
                self.kept.send(&mailbox, report).await?;
            }
            let reports = self.kept.receive(from, None).await?;
            let results = reports
                .iter()
                .filter(|report| report.result.is_ok())
                .count();
            if known_results
                .is_none_or(|known_results| results > known_results || results < reports.len())
            {
                return Ok(reports);
            }
            let received = incoming.recv().await;
            let (mailbox, report) = received.map_err(|error| BackendError::Failed(error.into()))?;
            self.kept.send(&mailbox, report).await?;
        }
    }

    async fn clear(&self, run: &str) -> Result<(), BackendError> {
        self.kept.clear(run).await
    }

    async fn close(&self) -> Result<(), BackendError> {
        self.kept.close().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g085_a_bus_is_a_backend() {
    let site = Site::default();
    let (bus, _) = broadcast::channel(1_000);
    // Before any of them begins, so that none misses a message.
    let backends = [Bus::new(&bus), Bus::new(&bus)];
    let mut runs = Vec::new();
    for (index, backend) in backends.into_iter().enumerate() {
        let worker = worker(&site, backend, Share::new(index, 2));
        runs.push(tokio::spawn(async move { worker.run("r", pages()).await }));
    }
    for run in runs {
        assert_eq!(run.await.unwrap().unwrap().sum, 10);
    }
    assert_eq!(site.fetched.lock().unwrap().len(), 10);
}
