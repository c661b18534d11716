//! Threads that an engine runs, beside those in the store of the server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::async_trait;
use petalflow::checkpoint::{InMemoryStore, StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{FollowedEvents, ThreadError};
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{RemoteThreads, ServedFlow, Server, ThreadWork};
use serde_json::{Value, json};
use tokio::sync::{Mutex, watch};

use crate::kit::{call, get};

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayPay {}

#[state]
struct Refund {
    #[key(input)]
    cents: u64,
    paid: bool,
}

#[node(Refund)]
async fn check(cents: &u64) {
    if *cents == 99 {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[node(Refund)]
async fn pay(cx: Context) -> petalflow::Result<RefundPaid> {
    Ok(RefundPaid(cx.ask(MayPay {}).await?))
}

flow!(PayRefund(Refund) { check -> pay });

/// An engine in this process: a map of records, and a task for each thread that runs.
#[derive(Clone)]
struct Engine {
    engine: ThreadEngine<PayRefund>,
    threads: Arc<Mutex<BTreeMap<String, ThreadRecords>>>,
    /// Sent whenever a thread has changed.
    changed: watch::Sender<()>,
    /// The threads that were cancelled.
    cancelled: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    fn new() -> Self {
        Engine {
            engine: ThreadEngine::new(PayRefund::new()),
            threads: Arc::default(),
            changed: watch::Sender::new(()),
            cancelled: Arc::default(),
        }
    }

    async fn records(&self, thread: &str) -> ThreadRecords {
        self.threads
            .lock()
            .await
            .get(thread)
            .cloned()
            .unwrap_or_default()
    }

    async fn runs(&self, thread: &str) -> bool {
        let records = self.records(thread).await;
        !records.is_empty() && records.status().unwrap().0 == ThreadStatus::Running
    }

    async fn run(self, thread: String) {
        for superstep in 0.. {
            let mut records = self.records(&thread).await;
            let mut pass = self.engine.advance(&thread, records.clone(), superstep, []);
            let mut goes_on = false;
            while let Some(batch) = pass.next().await {
                records.apply(&batch.changes);
                goes_on = batch.end.is_some_and(|end| end.continues());
            }
            self.threads.lock().await.insert(thread.clone(), records);
            self.changed.send_replace(());
            if !goes_on {
                return;
            }
        }
    }
}

#[async_trait]
impl RemoteThreads<PayRefund> for Engine {
    async fn read(&self, thread: &str, work: ThreadWork<PayRefund>) -> Result<(), ThreadError> {
        let records = self.records(thread).await;
        let read = self
            .engine
            .edit(thread, &records, async |thread| work(thread).await);
        read.await
            .map(drop)
            .map_err(|error| StoreError::Other(error.into()).into())
    }

    async fn edit(&self, thread: &str, work: ThreadWork<PayRefund>) -> Result<(), ThreadError> {
        if self.runs(thread).await {
            return Err(ThreadError::Busy {
                thread: thread.into(),
            });
        }
        let mut records = self.records(thread).await;
        let edited = self
            .engine
            .edit(thread, &records, async |thread| work(thread).await);
        let ((), changes) = edited.await.expect("the records are whole");
        if !changes.is_empty() {
            records.apply(&changes);
            self.threads.lock().await.insert(thread.into(), records);
            if self.runs(thread).await {
                tokio::spawn(self.clone().run(thread.into()));
            }
        }
        Ok(())
    }

    async fn wait(&self, thread: &str) -> Result<(), ThreadError> {
        let mut changed = self.changed.subscribe();
        while self.runs(thread).await {
            changed.changed().await.expect("the engine is here");
        }
        Ok(())
    }

    async fn cancel(&self, thread: &str) -> Result<(), ThreadError> {
        self.cancelled.lock().await.push(thread.into());
        Ok(())
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        self.threads.lock().await.remove(thread);
        Ok(())
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        let info = self.records(thread).await.info(thread);
        info.map_err(|error| StoreError::Other(error.into()).into())
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        let threads = self.threads.lock().await;
        let found = threads.iter().filter(|(id, _)| {
            id.starts_with(query.prefix) && query.after.is_none_or(|after| id.as_str() > after)
        });
        let found = found.filter_map(|(id, records)| records.info(id).ok().flatten());
        Ok(found.take(query.limit.unwrap_or(usize::MAX)).collect())
    }

    fn follow(&self, _: &str, _: u64) -> FollowedEvents {
        FollowedEvents::new(futures_util::stream::empty())
    }
}

fn server(engine: &Engine) -> Server {
    let remote = ServedFlow::new(PayRefund::new())
        .named("refunds")
        .question::<MayPay>();
    let local = ServedFlow::new(PayRefund::new()).named("others");
    Server::builder(&InMemoryStore::new())
        .serve_flow(local)
        .serve_remote(remote, engine.clone())
        .threads(TriggerAuth::None)
        .build()
        .expect("its settings are right")
}

async fn begin(server: &Server, flow: &str, id: &str, cents: u64) -> StatusCode {
    let body = json!({ "id": id, "input": { "cents": cents } });
    let path = format!("/flows/{flow}/threads");
    call(&server.router(), "POST", &path, body).await.status
}

async fn until(server: &Server, thread: &str, status: &str) -> Value {
    loop {
        let view = get(&server.router(), &format!("/threads/{thread}")).await;
        let view = if view.status == StatusCode::OK {
            view.json()
        } else {
            Value::Null
        };
        if view["status"] == status {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn threads_of_the_store_and_of_an_engine_are_one_list() {
    let engine = Engine::new();
    let server = server(&engine);
    for (flow, id) in [("refunds", "a"), ("others", "b"), ("refunds", "c")] {
        assert_eq!(begin(&server, flow, id, 1).await, StatusCode::ACCEPTED);
        until(&server, &format!("{flow}:{id}"), "waiting").await;
    }
    let ids = async |query: &str| {
        let listed = get(&server.router(), &format!("/threads{query}"))
            .await
            .json();
        let threads = listed["threads"].as_array().expect("a list").clone();
        let ids = threads.iter().filter_map(|thread| thread["id"].as_str());
        ids.map(String::from).collect::<Vec<String>>()
    };
    assert_eq!(ids("").await, ["others:b", "refunds:a", "refunds:c"]);
    assert_eq!(ids("?limit=2").await, ["others:b", "refunds:a"]);
    assert_eq!(ids("?limit=2&after=refunds:a").await, ["refunds:c"]);
    assert_eq!(ids("?flow=refunds").await, ["refunds:a", "refunds:c"]);
    assert_eq!(ids("?flow=others").await, ["others:b"]);
    assert_eq!(ids("?prefix=refunds:c").await, ["refunds:c"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_of_an_engines_thread_is_answered_once() {
    let engine = Engine::new();
    let server = server(&engine);
    begin(&server, "refunds", "a", 1).await;
    assert_eq!(
        begin(&server, "refunds", "a", 1).await,
        StatusCode::CONFLICT
    );
    let view = until(&server, "refunds:a", "waiting").await;
    let question = view["questions"][0]["id"].as_str().expect("it asks");
    let path = format!("/threads/refunds:a/answers/{question}");
    let answer = json!({ "answer": true });
    let status = call(&server.router(), "POST", &path, answer.clone())
        .await
        .status;
    assert_eq!(status, StatusCode::ACCEPTED);
    let view = until(&server, "refunds:a", "finished").await;
    assert_eq!(view["state"]["paid"], true);
    let status = call(&server.router(), "POST", &path, answer.clone())
        .await
        .status;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_leaves_the_runs_of_an_engine_alone() {
    let engine = Engine::new();
    let server = server(&engine);
    begin(&server, "refunds", "slow", 99).await;
    let begun = tokio::time::Instant::now();
    server.drain(Duration::from_secs(5)).await;
    assert!(begun.elapsed() <= Duration::from_millis(100));
    assert!(engine.runs("refunds:slow").await);
    assert!(engine.cancelled.lock().await.is_empty());
    assert_eq!(server.recover().await.unwrap(), 0);
    engine.wait("refunds:slow").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_person_cancels_the_run_of_an_engine() {
    let engine = Engine::new();
    let server = server(&engine);
    begin(&server, "refunds", "slow", 99).await;
    let path = "/threads/refunds:slow/cancel";
    let status = call(&server.router(), "POST", path, json!({})).await.status;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(*engine.cancelled.lock().await, ["refunds:slow"]);
    engine.wait("refunds:slow").await.unwrap();
    let status = call(&server.router(), "POST", path, json!({})).await.status;
    assert_eq!(status, StatusCode::CONFLICT, "it does not run");
    let status = call(
        &server.router(),
        "POST",
        "/threads/refunds:none/cancel",
        json!({}),
    )
    .await
    .status;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
