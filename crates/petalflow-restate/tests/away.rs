//! Processes that are away, and messages that are too large.

use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::memory::InMemory;
use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow_restate::{
    Bodies, Client, Endpoint, RestateError, RestateFlow, RestateThread, RetryPolicy, Trouble,
};

use crate::support::{PATIENCE, Server, free_ports};

#[state]
struct Job {
    #[key(input)]
    text: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Job)]
async fn far() -> JobNotes {
    JobNotes(vec!["far".into()])
}

/// Fails with 40 MB of text.
#[node(Job)]
async fn broken() -> petalflow::Result<()> {
    Err("x".repeat(40_000_000).into())
}

flow!(Placed(Job) { far; with far { remote: "pool" } });
flow!(Broken(Job) { broken });

/// A driver, which stops when it is dropped.
struct Driver {
    stop: tokio::sync::oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

impl Driver {
    async fn stop(self) {
        drop(self.stop);
        self.serving.await.unwrap();
    }
}

async fn drive<F: Flow<State = Job>>(server: &Server, flow: &RestateFlow<F>) -> Driver {
    let driver = Endpoint::new().threads(flow).unwrap();
    let driver = driver.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", driver.address());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(driver.serve_until(async {
        let _ = stopped.await;
    }));
    server.admin().register(&url).await.unwrap();
    Driver { stop, serving }
}

/// A host that is registered, and stops at once. Returns its address.
pub(super) async fn host_away<F: Flow<State: Storable>>(
    server: &Server,
    flow: &RestateFlow<F>,
) -> String {
    let [port] = free_ports();
    let address = format!("127.0.0.1:{port}");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let host = Endpoint::new().nodes(flow, "pool").unwrap();
    let host = host.bind(&address).await.unwrap();
    let serving = tokio::spawn(host.serve_until(async {
        let _ = stopped.await;
    }));
    let url = format!("http://{address}");
    server.admin().register(&url).await.unwrap();
    drop(stop);
    serving.await.unwrap();
    address
}

pub(super) async fn host<F: Flow<State: Storable>>(flow: &RestateFlow<F>, address: &str) {
    let host = Endpoint::new().nodes(flow, "pool").unwrap();
    tokio::spawn(host.bind(address).await.unwrap().serve());
}

/// The trouble of a thread, once it has some of this kind.
async fn trouble(thread: &RestateThread<Placed>, is_paused: bool) -> Trouble {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let rest = thread.rest().await.unwrap();
        assert_eq!(rest.status, ThreadStatus::Running);
        match rest.trouble {
            Some(trouble) if trouble.is_paused == is_paused => return trouble,
            other => assert!(Instant::now() < deadline, "{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_thread_whose_host_is_away_says_so_and_can_be_stopped_and_goes_on() {
    let Some(server) = Server::start().await else {
        return;
    };
    // Restate does not try again by itself while the test runs.
    let retry = RetryPolicy {
        first: Duration::from_mins(30),
        longest: Duration::from_mins(30),
        ..RetryPolicy::default()
    };
    let flow = RestateFlow::new(Placed::new()).retry(retry);
    let _driver = drive(&server, &flow).await;
    let address = host_away(&server, &flow).await;
    let client = Client::new(&flow, server.ingress()).admin(&server.admin());
    let (ann, bob) = (client.thread("ann"), client.thread("bob"));
    for thread in [&ann, &bob] {
        thread.begin("text".to_string()).await.unwrap();
    }
    let found = trouble(&ann, false).await;
    assert_eq!(found.service, "petalflow_Nodes_Placed_pool");
    assert!(!found.cause.is_empty(), "{found}");
    let text = found.to_string();
    let start = "retrying: `petalflow_Nodes_Placed_pool` has failed ";
    assert!(text.starts_with(start), "{text}");

    let cancelled = tokio::time::timeout(PATIENCE, bob.cancel()).await;
    cancelled.expect("the host is not waited for").unwrap();
    assert_eq!(bob.rest().await.unwrap().status, ThreadStatus::Held);

    host(&flow, &address).await;
    // Restate tries again now.
    ann.resume(()).await.unwrap();
    assert_eq!(ann.wait().await.unwrap().status, ThreadStatus::Finished);
    bob.resume(()).await.unwrap();
    assert_eq!(bob.wait().await.unwrap().status, ThreadStatus::Finished);
    let notes = bob.snapshot().await.unwrap().unwrap().state.notes;
    assert_eq!(notes, ["far"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_what_restate_has_paused_is_told_resumed_and_cancelled() {
    let Some(server) = Server::start().await else {
        return;
    };
    let retry = RetryPolicy {
        attempts: Some(2),
        ..RetryPolicy::default()
    };
    let flow = RestateFlow::new(Placed::new()).retry(retry);
    let _driver = drive(&server, &flow).await;
    let address = host_away(&server, &flow).await;
    let client = Client::new(&flow, server.ingress()).admin(&server.admin());
    let (ann, bob) = (client.thread("ann"), client.thread("bob"));
    for thread in [&ann, &bob] {
        thread.begin("text".to_string()).await.unwrap();
    }
    let found = trouble(&ann, true).await;
    let start = "paused: `petalflow_Nodes_Placed_pool` has failed, the last time with: ";
    assert!(found.to_string().starts_with(start), "{found}");
    assert!(!found.cause.is_empty(), "{found}");
    trouble(&bob, true).await;
    bob.cancel().await.unwrap();
    assert_eq!(bob.rest().await.unwrap().status, ThreadStatus::Held);
    host(&flow, &address).await;
    ann.resume(()).await.unwrap();
    assert_eq!(ann.wait().await.unwrap().status, ThreadStatus::Finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_without_a_driver_a_call_fails_with_words() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Placed::new());
    // A busy machine may take longer to answer than the last calls below may.
    let patient = Client::new(&flow, server.ingress()).timeout(PATIENCE);
    let patient = patient.thread("ann");
    let refused = patient.rest().await.expect_err("there is no service");
    assert!(
        matches!(&refused, RestateError::NotServed(service) if service == "petalflow_Threads_Placed"),
        "{refused}"
    );

    let driver = drive(&server, &flow).await;
    patient.begin("text".to_string()).await.unwrap();
    driver.stop().await;
    let client = Client::new(&flow, server.ingress()).timeout(Duration::from_secs(1));
    let thread = client.thread("ann");
    let calls = [
        thread.rest().await.map(drop),
        thread.snapshot().await.map(drop),
        thread.cancel().await.map(drop),
        thread.wait().await.map(drop),
        thread.begin("text".to_string()).await,
        thread.delete().await,
    ];
    for call in calls {
        let refused = call.expect_err("no driver answers");
        assert!(
            matches!(&refused, RestateError::NoDriver { service, .. } if service == "petalflow_Threads_Placed"),
            "{refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_an_input_that_is_too_large_is_refused_with_the_limit() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Placed::new());
    let _driver = drive(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    let refused = thread.begin("x".repeat(40_000_000)).await;
    let refused = refused.expect_err("it is too large").to_string();
    assert!(
        refused.starts_with("what is to be stored has 41 MB, and Restate takes at most 32 MiB at once: set `RestateFlow::bodies`"),
        "{refused}"
    );
    assert!(matches!(thread.rest().await, Err(RestateError::Unknown(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_the_text_of_an_error_is_cut() {
    for has_bodies in [false, true] {
        let Some(server) = Server::start().await else {
            return;
        };
        let mut flow = RestateFlow::new(Broken::new());
        if has_bodies {
            flow = flow.bodies(Bodies::new(Arc::new(InMemory::new())));
        }
        let _driver = drive(&server, &flow).await;
        let thread = Client::new(&flow, server.ingress()).thread("ann");
        thread.begin("text".to_string()).await.unwrap();
        let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
        let rest = rest.expect("it is not repeated for ever").unwrap();
        assert_eq!(rest.status, ThreadStatus::Failed);
        let failure = rest.failure.expect("it says why");
        assert!(failure.len() < 20_000, "{}", failure.len());
        let expected = if has_bodies {
            "xxxx"
        } else {
            "Restate takes at most 32 MiB"
        };
        assert!(failure.contains(expected), "{failure}");
    }
}
