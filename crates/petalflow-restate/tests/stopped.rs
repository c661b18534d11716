//! Threads that a person stops, and nodes that run for too long.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow_restate::{Client, Endpoint, RestateFlow, RestateThread};

use crate::support::{PATIENCE, Server, http, until};

#[state]
struct Job {
    #[key(input)]
    pages: u32,
    #[key(append)]
    notes: Vec<String>,
}

/// How often nodes have begun, how often they were dropped, and how often an effect has happened.
#[derive(Default)]
struct Seen {
    begun: AtomicU32,
    dropped: AtomicU32,
    paid: AtomicU32,
}

#[derive(Clone, Default)]
struct Watch(std::sync::Arc<Seen>);

struct Dropped(Watch);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Pays, and then works until it is stopped the first time.
#[node(Job)]
async fn work(cx: Context, watch: Managed<Watch>) -> petalflow::Result<JobNotes> {
    let seen = &watch.0;
    let paid = cx.once("pay", async {
        Ok::<u32, petalflow::BoxError>(seen.paid.fetch_add(1, Ordering::SeqCst) + 1)
    });
    let paid = paid.await?;
    let dropped = Dropped(Watch::clone(&watch));
    if seen.begun.fetch_add(1, Ordering::SeqCst) == 0 {
        std::future::pending::<()>().await;
    }
    std::mem::forget(dropped);
    Ok(JobNotes(vec![format!("paid {paid}")]))
}

flow!(Working(Job) { work });

fn working(watch: &Watch) -> RestateFlow<Working> {
    RestateFlow::new(Working::new().manage(watch.clone()))
}

/// Serves the threads, and the nodes on the pool, each at an address of its own. Returns the addresses.
async fn serve<F: Flow<State: Storable>>(server: &Server, flow: &RestateFlow<F>) -> [String; 2] {
    let driver = Endpoint::new().threads(flow).unwrap();
    let host = Endpoint::new().nodes(flow, "pool").unwrap();
    let mut urls = Vec::new();
    for endpoint in [driver, host] {
        let bound = endpoint.bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", bound.address());
        tokio::spawn(bound.serve());
        server.admin().register(&url).await.unwrap();
        urls.push(url);
    }
    urls.try_into().expect("two")
}

async fn has_begun(watch: &Watch) {
    until("the node begins", async || {
        watch.0.begun.load(Ordering::SeqCst) == 1
    })
    .await;
}

async fn notes<F: Flow<State = Job>>(thread: &RestateThread<F>) -> Vec<String> {
    let snapshot = thread.snapshot().await.unwrap();
    snapshot.expect("it exists").state.notes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_cancel_stops_the_node_that_runs_and_keeps_its_effects() {
    for places in [false, true] {
        let Some(server) = Server::start().await else {
            return;
        };
        let watch = Watch::default();
        let mut flow = working(&watch);
        if places {
            flow = flow.place("work", "pool").unwrap();
        }
        serve(&server, &flow).await;
        let thread = Client::new(&flow, server.ingress()).thread("ann");
        thread.begin(1).await.unwrap();
        has_begun(&watch).await;

        let cancelled = tokio::time::timeout(PATIENCE, thread.cancel()).await;
        cancelled.expect("it is not waited for").unwrap();
        assert_eq!(thread.rest().await.unwrap().status, ThreadStatus::Held);
        until("the node is dropped", async || {
            watch.0.dropped.load(Ordering::SeqCst) == 1
        })
        .await;
        thread.resume(()).await.unwrap();
        assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Finished);
        assert_eq!(notes(&thread).await, ["paid 1"], "placed {places}");
        assert_eq!(watch.0.paid.load(Ordering::SeqCst), 1, "placed {places}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_superstep_that_was_killed_is_executed_again() {
    for places in [false, true] {
        let Some(server) = Server::start().await else {
            return;
        };
        let watch = Watch::default();
        let mut flow = working(&watch);
        if places {
            flow = flow.place("work", "pool").unwrap();
        }
        let [driver, _] = serve(&server, &flow).await;
        let thread = Client::new(&flow, server.ingress()).thread("ann");
        thread.begin(1).await.unwrap();
        has_begun(&watch).await;
        let running = server.admin().invocations(&driver).await.unwrap();
        let advancing = running
            .iter()
            .find(|invocation| invocation.handler == "advance")
            .expect("it runs");
        assert_eq!(advancing.thread.as_deref(), Some("ann"));
        let kill = format!("{}/invocations/{}/kill", server.admin_url(), advancing.id);
        let killed = http().patch(kill).send().await.unwrap();
        assert!(killed.status().is_success(), "{killed:?}");
        until("the node is dropped", async || {
            watch.0.dropped.load(Ordering::SeqCst) == 1
        })
        .await;
        // Nobody has begun another superstep. A listener does.
        let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
        assert_eq!(
            rest.expect("it does not wait for ever").unwrap().status,
            ThreadStatus::Finished
        );
        assert_eq!(watch.0.begun.load(Ordering::SeqCst), 2, "placed {places}");
    }
}

#[node(Job)]
async fn silent() -> JobNotes {
    std::future::pending().await
}

/// Takes longer than a silent node may take.
#[node(Job)]
async fn telling(cx: Context) -> JobNotes {
    let begun = Instant::now();
    while begun.elapsed() < (PATIENT_INACTIVITY + PATIENT_ABORT) * 5 / 4 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cx.heartbeat();
    }
    JobNotes(vec!["told".into()])
}

flow!(Silent(Job) { silent });
flow!(Telling(Job) { telling });

const INACTIVITY: Duration = Duration::from_millis(900);
const ABORT: Duration = Duration::from_millis(600);

/// The same for a node that tells something. A busy machine may hold what it tells back for a while.
const PATIENT_INACTIVITY: Duration = Duration::from_secs(4);
const PATIENT_ABORT: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_node_that_is_silent_for_too_long_fails_after_some_times_and_names_the_setting() {
    for places in [false, true] {
        let Some(server) = Server::start().await else {
            return;
        };
        let mut flow = RestateFlow::new(Silent::new()).timeouts(INACTIVITY, ABORT);
        if places {
            flow = flow.place("silent", "pool").unwrap();
        }
        serve(&server, &flow).await;
        let thread = Client::new(&flow, server.ingress()).thread("ann");
        thread.begin(1).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
        let rest = rest.expect("it is not begun again for ever").unwrap();
        assert_eq!(rest.status, ThreadStatus::Failed, "placed {places}");
        let failure = rest.failure.expect("it says why");
        assert!(
            failure.contains("without news, 3 times")
                && failure.contains("raise `RestateFlow::timeouts`"),
            "{failure}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_heartbeat_is_news() {
    for places in [false, true] {
        let Some(server) = Server::start().await else {
            return;
        };
        let mut flow = RestateFlow::new(Telling::new());
        flow = flow.timeouts(PATIENT_INACTIVITY, PATIENT_ABORT);
        if places {
            flow = flow.place("telling", "pool").unwrap();
        }
        serve(&server, &flow).await;
        let thread = Client::new(&flow, server.ingress()).thread("ann");
        thread.begin(1).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
        let rest = rest.expect("it ends").unwrap();
        assert_eq!(
            rest.status,
            ThreadStatus::Finished,
            "{rest:?}, placed {places}"
        );
        assert_eq!(notes(&thread).await, ["told"]);
    }
}
