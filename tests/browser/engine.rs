//! Threads of an engine that do not go on, as a person sees and resumes them.

use std::sync::{Arc, Mutex, PoisonError};

use petalflow::async_trait;
use petalflow::checkpoint::{InMemoryStore, StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::prelude::*;
use petalflow::thread::{FollowedEvents, ThreadError};
use petalflow_server::{RemoteThreads, RemoteTrouble, ServedFlow, ThreadWork};
use serde_json::Value;

use crate::page::with_page;
use crate::served::builder;

#[state]
struct Crawl {
    #[key(input)]
    pages: u64,
}

#[node(Crawl)]
async fn fetch() {}

flow!(CrawlAll(Crawl) { fetch });

/// An engine with one thread, which never goes on.
#[derive(Clone)]
struct Stuck {
    engine: ThreadEngine<CrawlAll>,
    records: ThreadRecords,
    trouble: Arc<Mutex<Option<RemoteTrouble>>>,
}

const THREAD: &str = "crawls:one";

impl Stuck {
    async fn new(trouble: RemoteTrouble) -> Self {
        let engine = ThreadEngine::new(CrawlAll::new());
        let mut records = ThreadRecords::default();
        let begun = engine.begin(THREAD, &records, 3).await;
        records.apply(&begun.expect("it begins"));
        Stuck {
            engine,
            records,
            trouble: Arc::new(Mutex::new(Some(trouble))),
        }
    }

    fn set(&self, trouble: Option<RemoteTrouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    fn listed(&self, thread: &str) -> Option<ThreadInfo> {
        let info = self.records.info(thread).expect("the records are whole");
        info.filter(|_| thread == THREAD)
    }
}

fn busy(thread: &str) -> ThreadError {
    ThreadError::Busy {
        thread: thread.into(),
    }
}

#[async_trait]
impl RemoteThreads<CrawlAll> for Stuck {
    async fn read(&self, thread: &str, work: ThreadWork<CrawlAll>) -> Result<(), ThreadError> {
        let read = self
            .engine
            .edit(thread, &self.records, async |thread| work(thread).await);
        let failed = |error: petalflow::engine::RecordsError| StoreError::Other(error.into());
        read.await.map(drop).map_err(|error| failed(error).into())
    }

    async fn edit(&self, thread: &str, _: ThreadWork<CrawlAll>) -> Result<(), ThreadError> {
        Err(busy(thread))
    }

    async fn make(
        &self,
        thread: &str,
        _: &str,
        _: ThreadWork<CrawlAll>,
    ) -> Result<(), ThreadError> {
        Err(busy(thread))
    }

    async fn wait(&self, _: &str) -> Result<Option<String>, ThreadError> {
        std::future::pending().await
    }

    async fn cancel(&self, thread: &str) -> Result<ThreadStatus, ThreadError> {
        Err(busy(thread))
    }

    async fn hold(&self, thread: &str) -> Result<(), ThreadError> {
        Err(busy(thread))
    }

    async fn send(
        &self,
        thread: &str,
        _: &str,
        _: Value,
        _: Option<String>,
    ) -> Result<(), ThreadError> {
        Err(busy(thread))
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        Err(busy(thread))
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        Ok(self.listed(thread))
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        let all = self.listed(THREAD).into_iter();
        Ok(query.page(all.filter(|info| query.covers(info)).collect()))
    }

    fn follow(&self, _: &str, _: u64) -> FollowedEvents {
        FollowedEvents::new(futures_util::stream::pending())
    }

    async fn trouble(&self, _: &str) -> Result<Option<RemoteTrouble>, ThreadError> {
        Ok(self
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }

    async fn try_again(&self, _: &str) -> Result<bool, ThreadError> {
        self.set(None);
        Ok(true)
    }
}

fn trouble(is_paused: bool) -> RemoteTrouble {
    RemoteTrouble {
        service: "crawlers".into(),
        attempts: 3,
        is_paused,
        error: "connection refused".into(),
        // Far enough that its words do not change.
        next_ms: (!is_paused).then_some(4_102_444_800_000),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_thread_that_its_engine_repeats_or_has_paused_says_so_and_is_resumed() {
    let stuck = Stuck::new(trouble(false)).await;
    let flow = ServedFlow::new(CrawlAll::new()).named("crawls");
    let server = builder(&InMemoryStore::new()).serve_remote(flow, stuck.clone());
    with_page(server, async |page| {
        page.go("#/threads").await;
        page.wait_for("named('crawls:one')").await;
        page.wait_for("seen('.badge[data-status=\"running\"]')[0]")
            .await;
        page.wait_for("words(seen('.badge[data-status=\"retrying\"]')[0]) === 'retrying'")
            .await;
        page.press("crawls:one").await;
        page.wait_for_text("crawlers has failed 3 times: connection refused. The next try is in ")
            .await;
        stuck.set(Some(trouble(true)));
        page.wait_for("words(seen('.badge[data-status=\"paused\"]')[0]) === 'paused'")
            .await;
        page.wait_for_text("It is tried again when the thread is resumed.")
            .await;
        page.press("Resume").await;
        page.wait_for("seen('.badge[data-status=\"paused\"]').length === 0")
            .await;
        let view = page.served.get("/threads/crawls:one").await;
        assert_eq!(view["status"], "running");
        assert_eq!(view["trouble"], Value::Null);
    })
    .await;
}
