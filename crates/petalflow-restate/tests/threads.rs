//! What the contract does not have: cancellation, deletion, expiry, moving, another program.

use std::time::Duration;

use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
use petalflow::engine::ThreadRecords;
use petalflow::interrupt::{Ask, Expiry};
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow_restate::{Client, Endpoint, RestateError, RestateFlow, RestateThread};

use crate::support::{Gate, Server, until};

#[state]
struct Job {
    #[key(input)]
    pages: u32,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
struct MayGoOn {}

/// Expires soon.
#[derive(serde::Serialize, serde::Deserialize)]
struct Now;

impl Ask for Now {
    type Answer = String;
    const NAME: &'static str = "Now";

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: Duration::from_millis(300),
            answer: "nobody answered".into(),
        })
    }
}

fn note(text: impl Into<String>) -> JobNotes {
    JobNotes(vec![text.into()])
}

#[node(Job)]
async fn plan(pages: &u32) -> JobNotes {
    note(format!("plan {pages}"))
}

#[node(Job)]
async fn ask(cx: Context) -> petalflow::Result<JobNotes> {
    Ok(note(format!("may: {}", cx.ask(MayGoOn {}).await?)))
}

#[node(Job)]
async fn ask_now(cx: Context) -> petalflow::Result<JobNotes> {
    Ok(note(cx.ask(Now).await?))
}

#[node(Job)]
async fn work(gate: Managed<Gate>) -> JobNotes {
    gate.pass().await;
    note("work")
}

#[node(Job)]
async fn finish() -> JobNotes {
    note("finish")
}

#[node(Job)]
async fn finish_otherwise() -> JobNotes {
    note("finish otherwise")
}

#[node(Job)]
async fn broken() -> petalflow::Result<()> {
    Err("it is broken".into())
}

/// Notes of 40 MB at once.
#[node(Job)]
async fn note_all() -> JobNotes {
    note("x".repeat(40_000_000))
}

/// Notes of 12 MB each time.
#[node(Job)]
async fn note_more(notes: &[String]) -> (JobNotes, bool) {
    (note("x".repeat(12_000_000)), notes.len() < 9)
}

flow!(NotingAll(Job) { plan -> note_all });
flow!(NotingMore(Job) { plan -> note_more -> match { true => note_more, false => END } });
flow!(Asking(Job) { plan -> ask -> finish });
flow!(Expiring(Job) { plan -> ask_now -> finish });
flow!(Working(Job) { plan -> work -> finish });
flow!(Breaking(Job) { plan -> broken });

/// The flow after a deployment, under the same name: the node after the question is another.
mod changed {
    use super::{Job, ask, finish_otherwise, plan};
    petalflow::flow!(pub(super) Asking(Job) { plan -> ask -> finish_otherwise });
}

/// The flow after a deployment that has lost the node that asks.
mod incompatible {
    use super::{Job, finish, plan};
    petalflow::flow!(pub(super) Asking(Job) { plan -> finish });
}

async fn serve<F: Flow<State: Storable>>(server: &Server, flow: &RestateFlow<F>) {
    let driver = Endpoint::new()
        .threads(flow)
        .unwrap()
        .bind("127.0.0.1:0")
        .await
        .unwrap();
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    server.admin().register(&url).await.unwrap();
}

async fn notes<F: Flow<State = Job>>(thread: &RestateThread<F>) -> Vec<String> {
    thread
        .snapshot()
        .await
        .unwrap()
        .expect("it exists")
        .state
        .notes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_waits_goes_on_with_the_changed_flow() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Asking::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin(1).await.unwrap();
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Waiting);

    let flow = RestateFlow::new(changed::Asking::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.answer::<MayGoOn>(true).await.unwrap();
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Finished);
    assert_eq!(
        notes(&thread).await,
        ["plan 1", "may: true", "finish otherwise"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_whose_node_is_gone_is_refused_in_words() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Asking::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin(1).await.unwrap();
    thread.wait().await.unwrap();

    // The client has the old program, and the driver the new one.
    serve(&server, &RestateFlow::new(incompatible::Asking::new())).await;
    thread.answer::<MayGoOn>(true).await.unwrap();
    let rest = thread.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Failed);
    let failure = rest.failure.expect("it says why");
    assert!(failure.contains("node `ask`"), "{failure}");

    // The old program is deployed again.
    serve(&server, &flow).await;
    thread.resume(()).await.unwrap();
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_expires() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Expiring::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin(1).await.unwrap();
    until("it expires", async || {
        thread.rest().await.unwrap().status == ThreadStatus::Finished
    })
    .await;
    assert_eq!(
        notes(&thread).await,
        ["plan 1", "nobody answered", "finish"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_stopped_at_its_barrier_and_resumed() {
    let Some(server) = Server::start().await else {
        return;
    };
    let gate = Gate::closed();
    let flow = RestateFlow::new(Working::new().manage(gate.clone()));
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin(1).await.unwrap();
    assert!(matches!(thread.begin(2).await, Err(RestateError::Busy(_))));
    thread.cancel().await.unwrap();
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Held);
    gate.open();
    thread.resume(()).await.unwrap();
    assert_eq!(thread.wait().await.unwrap().status, ThreadStatus::Finished);
    assert_eq!(notes(&thread).await, ["plan 1", "work", "finish"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_told() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Breaking::new());
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    assert!(matches!(thread.rest().await, Err(RestateError::Unknown(_))));
    thread.begin(1).await.unwrap();
    let rest = thread.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Failed);
    assert!(rest.failure.unwrap().contains("it is broken"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_for_restate_fails_in_words() {
    let Some(server) = Server::start().await else {
        return;
    };
    let all = RestateFlow::new(NotingAll::new());
    let more = RestateFlow::new(NotingMore::new());
    serve(&server, &all).await;
    serve(&server, &more).await;
    let all = Client::new(&all, server.ingress()).thread("ann");
    all.begin(1).await.unwrap();
    let rest = all.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Failed);
    let failure = rest.failure.unwrap();
    assert!(
        failure.starts_with(
            "what the superstep has recorded has 41 MB, and Restate takes at most 32 MiB"
        ),
        "{failure}"
    );
    assert_eq!(notes(&all).await, ["plan 1"]);

    let more = Client::new(&more, server.ingress()).thread("ann");
    more.begin(1).await.unwrap();
    let rest = more.wait().await.unwrap();
    assert_eq!(rest.status, ThreadStatus::Failed);
    let failure = rest.failure.unwrap();
    assert!(failure.starts_with("the thread has 37 MB"), "{failure}");
    // The last superstep that fits is there.
    assert_eq!(notes(&more).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_thread_is_deleted() {
    let Some(server) = Server::start().await else {
        return;
    };
    let launch = || Working::new().manage(Gate::opened());
    let flow = RestateFlow::new(launch()).delete_after(Duration::from_millis(300));
    serve(&server, &flow).await;
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    let ended = async || match thread.wait().await {
        Ok(rest) => assert_eq!(rest.status, ThreadStatus::Finished),
        // It was deleted before its status was read.
        Err(RestateError::Unknown(_)) => {}
        Err(error) => panic!("{error}"),
    };
    thread.begin(1).await.unwrap();
    ended().await;
    until("it is deleted", async || {
        thread.snapshot().await.unwrap().is_none()
    })
    .await;
    thread.begin(2).await.unwrap();
    ended().await;
    thread.delete().await.unwrap();
    assert!(thread.snapshot().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_moves_there_and_back() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(Asking::new());
    serve(&server, &flow).await;
    let remote = Client::new(&flow, server.ingress()).thread("ann");

    // It begins here, and waits.
    let store = InMemoryStore::new();
    let local = Asking::new().store(&store).thread("ann");
    local
        .run(1)
        .await
        .unwrap()
        .into_finished()
        .err()
        .expect("it asks");
    remote
        .import(&ThreadRecords::read(&store, "ann").await.unwrap())
        .await
        .unwrap();
    local.delete().await.unwrap();
    let records = remote.export().await.unwrap();
    assert!(matches!(
        remote.import(&records).await,
        Err(RestateError::Exists(_))
    ));

    // It is answered there, and begins another turn.
    remote.answer::<MayGoOn>(true).await.unwrap();
    remote.wait().await.unwrap();
    remote.begin(2).await.unwrap();
    assert_eq!(remote.wait().await.unwrap().status, ThreadStatus::Waiting);

    // And it ends here.
    remote
        .export()
        .await
        .unwrap()
        .write_to(&store, "ann")
        .await
        .unwrap();
    remote.delete().await.unwrap();
    let job = local
        .answer::<MayGoOn>(false)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let expected = [
        "plan 1",
        "may: true",
        "finish",
        "plan 2",
        "may: false",
        "finish",
    ];
    assert_eq!(job.notes, expected);
}
