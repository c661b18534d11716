//! What services are called, how they are reached, and which version serves them.

use futures_util::future::select;
use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow_restate::{Admin, Client, Endpoint, RestateError, RestateFlow, RestateThread};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{Gate, Server, until};

#[state]
struct Job {
    #[key(input)]
    text: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Job)]
async fn note(text: &str) -> JobNotes {
    JobNotes(vec![text.to_string()])
}

#[node(Job)]
async fn work(gate: Managed<Gate>) -> JobNotes {
    gate.pass().await;
    JobNotes(vec!["worked".into()])
}

flow!(Noting(Job) { note });
flow!(Working(Job) { work });

/// Two versions of a flow, of which the second one has another name.
mod first {
    use super::{Job, note};
    petalflow::flow!(pub(super) Review(Job) { note });
}

mod renamed {
    use super::{Job, note};
    petalflow::flow! {
        #[flow(id = "Review")]
        pub(super) Inspect(Job) { note }
    }
}

/// Two versions of a flow that note which one has run.
mod old {
    use super::{Job, JobNotes};
    use petalflow::prelude::*;

    #[node(Job)]
    async fn say() -> JobNotes {
        JobNotes(vec!["old".into()])
    }

    flow!(pub(super) Saying(Job) { say });
}

mod new {
    use super::{Job, JobNotes};
    use petalflow::prelude::*;

    #[node(Job)]
    async fn say() -> JobNotes {
        JobNotes(vec!["new".into()])
    }

    flow!(pub(super) Saying(Job) { say });
}

/// Serves the threads at an address of their own, which it returns.
async fn serve<F: Flow<State: Storable>>(server: &Server, flow: &RestateFlow<F>) -> String {
    let driver = Endpoint::new().threads(flow).unwrap();
    let driver = driver.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    server.admin().register(&url).await.unwrap();
    url
}

async fn notes<F: Flow<State = Job>>(thread: &RestateThread<F>) -> Vec<String> {
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Finished);
    let snapshot = thread.snapshot().await.unwrap();
    snapshot.expect("it exists").state.notes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_renamed_flow_finds_its_threads_and_a_prefix_separates_programs() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(first::Review::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("first".to_string()).await.unwrap();
    assert_eq!(notes(&thread).await, ["first"]);

    let flow = RestateFlow::new(renamed::Inspect::new());
    assert_eq!(flow.threads_service(), "petalflow_Threads_Review");
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("second".to_string()).await.unwrap();
    assert_eq!(notes(&thread).await, ["first", "second"]);

    let other = RestateFlow::new(first::Review::new()).prefix("press_");
    assert_eq!(other.nodes_service("pool"), "press_Nodes_Review_pool");
    serve(&server, &other).await;
    let others = Client::new(&other, server.ingress()).thread("ann");
    assert!(matches!(others.rest().await, Err(RestateError::Unknown(_))));
    others.begin("other".to_string()).await.unwrap();
    assert_eq!(notes(&others).await, ["other"]);
    assert_eq!(notes(&thread).await, ["first", "second"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_an_input_with_a_key_begins_once() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gate = Gate::closed();
    let flow = RestateFlow::new(Working::new().manage(gate.clone()));
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    let begin = |key: &'static str| thread.begin_once(key, "text".to_string());
    // Both at once, and once more while it runs. The slower one may come behind the superstep, which the gate holds.
    let both = select(Box::pin(begin("request-1")), Box::pin(begin("request-1")));
    let (first, slower) = both.await.factor_first();
    first.unwrap();
    begin("request-1").await.unwrap();
    assert!(matches!(
        begin("request-2").await,
        Err(RestateError::Busy(_))
    ));
    gate.open();
    slower.await.unwrap();
    assert_eq!(notes(&thread).await, ["worked"]);
    begin("request-2").await.unwrap();
    assert_eq!(notes(&thread).await, ["worked", "worked"]);
    // A late repetition of the first one.
    begin("request-1").await.unwrap();
    assert_eq!(notes(&thread).await, ["worked", "worked"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_a_rollback_makes_an_earlier_address_the_newest() {
    let Some(server) = Server::start().await else {
        return;
    };
    let admin = server.admin();
    let old = RestateFlow::new(old::Saying::new());
    let old_url = serve(&server, &old).await;
    let thread = Client::new(&old, server.ingress()).thread("ann");
    thread.begin("text".to_string()).await.unwrap();
    assert_eq!(notes(&thread).await, ["old"]);
    serve(&server, &RestateFlow::new(new::Saying::new())).await;
    thread.begin("text".to_string()).await.unwrap();
    assert_eq!(notes(&thread).await, ["old", "new"]);
    // It stays as it is.
    admin.register(&old_url).await.unwrap();
    admin.roll_back(&old_url).await.unwrap();
    thread.begin("text".to_string()).await.unwrap();
    assert_eq!(notes(&thread).await, ["old", "new", "old"]);
    let unknown = admin.roll_back("http://127.0.0.1:1").await;
    assert!(
        matches!(unknown, Err(RestateError::NotRegistered(_))),
        "{unknown:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_what_still_runs_on_an_old_version_is_listed() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gate = Gate::closed();
    let flow = RestateFlow::new(Working::new().manage(gate.clone()));
    let old = serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("text".to_string()).await.unwrap();
    let admin = server.admin();
    // The call that has begun the thread may be listed for a moment too.
    until("only the superstep runs", async || {
        let running = admin.invocations(&old).await.unwrap();
        running.len() == 1 && running[0].handler == "advance"
    })
    .await;
    let new = serve(&server, &flow).await;
    let running = admin.invocations(&old).await.unwrap();
    assert_eq!(running.len(), 1, "{running:?}");
    assert_eq!(running[0].service, "petalflow_Threads_Working");
    assert_eq!(running[0].thread.as_deref(), Some("ann"));
    assert_eq!(running[0].handler, "advance");
    gate.open();
    assert_eq!(notes(&thread).await, ["worked"]);
    // Those that wait learn of the end before the superstep itself has ended.
    for url in [&old, &new] {
        until("nothing runs", async || {
            admin.invocations(url).await.unwrap().is_empty()
        })
        .await;
    }
}

/// Answers one request, and returns what came.
async fn received(listener: TcpListener) -> Vec<u8> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = vec![0; 4096];
    let length = stream.read(&mut bytes).await.unwrap();
    bytes.truncate(length);
    let _ = stream
        .write_all(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
        .await;
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f42_headers_are_sent_and_https_is_spoken() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let flow = RestateFlow::new(Noting::new());
    let client = Client::new(&flow, format!("http://{address}"));
    let client = client.header("authorization", "Bearer secret").unwrap();
    let request = tokio::spawn(received(listener));
    let refused = client
        .thread("ann")
        .rest()
        .await
        .expect_err("it is no server");
    assert!(!format!("{refused} {refused:?} {client:?}").contains("secret"));
    let request = String::from_utf8(request.await.unwrap()).unwrap();
    assert!(
        request.contains("authorization: Bearer secret"),
        "{request}"
    );

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let admin = Admin::new(format!("https://{address}"));
    let request = tokio::spawn(received(listener));
    admin
        .register("http://127.0.0.1:1")
        .await
        .expect_err("it is no server");
    // The first byte of a handshake.
    assert_eq!(request.await.unwrap()[0], 0x16);
}
