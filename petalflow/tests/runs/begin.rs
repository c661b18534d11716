//! Runs that store what they begin with before they run.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::StreamExt as _;
use petalflow::checkpoint::{InMemoryStore, Store as _};
use petalflow::event::EventKind;
use petalflow::interrupt::{Answer, AnswerError, Ask, Decision};
use petalflow::middleware::{RunMiddleware, RunNext};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Durability, OnBusy, Thread, ThreadError};
use petalflow::{BoxError, RunError};

#[state]
#[derive(Clone, Debug)]
struct Order {
    #[key(input)]
    item: String,
    #[key(append)]
    log: Vec<String>,
}

#[node(Order)]
async fn pack(item: &str, runs: Managed<AtomicU32>) -> OrderLog {
    runs.fetch_add(1, Ordering::SeqCst);
    OrderLog(vec![format!("packed {item}")])
}

flow!(Pack(Order) { pack });

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayShip {
    item: String,
}

#[node(Order)]
async fn ship(item: &str, cx: Context, runs: Managed<AtomicU32>) -> Result<OrderLog, BoxError> {
    let yes = cx.ask(MayShip { item: item.into() }).await?;
    runs.fetch_add(1, Ordering::SeqCst);
    Ok(OrderLog(vec![format!("shipped: {yes}")]))
}

flow!(Ship(Order) { ship });
flow!(Approve(Order) { pack; interrupt before pack; });

fn runs() -> Arc<AtomicU32> {
    Arc::default()
}

fn answered(error: &RunError) -> bool {
    matches!(
        error.thread_error(),
        Some(ThreadError::Answer(AnswerError::Answered { .. }))
    )
}

#[tokio::test]
async fn the_input_is_in_the_store_before_a_node_runs() {
    let durabilities = [
        Durability::Sync,
        Durability::Async,
        Durability::Exit,
        Durability::Interval(NonZeroU64::new(9).unwrap()),
    ];
    for durability in durabilities {
        let (store, runs) = (InMemoryStore::new(), runs());
        let threads = Pack::new().manage_with(runs.clone()).store(&store);
        let thread = threads.durability(durability).thread("order");
        let run = thread.run("lamp".to_string()).begin().await.unwrap();
        let begun = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(begun.state.item, "lamp", "{durability:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        // As after a crash: the run is lost, the input is not.
        drop(run);
        let order = thread.resume(()).await.unwrap().into_finished().unwrap();
        assert_eq!(order.log, ["packed lamp"]);
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn the_run_continues_when_it_is_spawned() {
    let threads = Pack::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let thread = threads.thread("order");
    let run = thread.run("lamp".to_string()).begin().await.unwrap();
    let outcome = tokio::spawn(run).await.unwrap().unwrap();
    assert_eq!(outcome.into_finished().unwrap().log, ["packed lamp"]);
    let again = thread.run("desk".to_string()).begin().await.unwrap();
    let twice = again.begin().await.unwrap();
    let order = twice.await.unwrap().into_finished().unwrap();
    assert_eq!(order.log, ["packed lamp", "packed desk"]);
}

#[tokio::test]
async fn a_run_that_has_begun_has_all_its_events() {
    let names = |events: Vec<petalflow::event::Event<Order>>| {
        let names = events.iter().map(|event| event.kind.name());
        names.collect::<Vec<_>>()
    };
    let threads = Pack::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let run = threads.thread("plain").run("lamp".to_string());
    let plain = names(run.events().collect().await);
    let run = threads
        .thread("begun")
        .run("lamp".to_string())
        .begin()
        .await;
    let begun = names(run.unwrap().events().collect().await);
    assert_eq!(plain, begun);
    assert_eq!(plain[0], "run_started");
    let run = threads
        .thread("values")
        .run("lamp".to_string())
        .begin()
        .await;
    let values = run.unwrap().events().with_values();
    let values =
        values.filter(|event| std::future::ready(matches!(event.kind, EventKind::Values { .. })));
    assert_eq!(values.count().await, 2);
}

#[tokio::test]
async fn the_thread_is_claimed_until_the_run_is_dropped() {
    let threads = Pack::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let thread = threads.thread("order");
    let run = thread.run("lamp".to_string()).begin().await.unwrap();
    let busy = thread.run("desk".to_string()).begin().await.unwrap_err();
    assert!(matches!(
        busy.thread_error(),
        Some(ThreadError::Busy { .. })
    ));
    drop(run);
    thread.resume(()).await.unwrap().into_finished().unwrap();
}

#[tokio::test]
async fn an_input_that_is_refused_is_not_stored() {
    let store = InMemoryStore::new();
    let thread = Pack::new().store(&store).thread("order");
    let error = thread.run("lamp".to_string()).begin().await.unwrap_err();
    assert!(matches!(error.kind(), RunErrorKind::MissingManaged(_)));
    assert!(thread.snapshot().await.unwrap().is_none());
    assert!(store.namespaces("order").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_on_a_thread_that_waits_is_paused_at_once() {
    let threads = Ship::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let thread = threads.thread("order");
    thread
        .run("lamp".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap_err();
    let run = thread.resume(()).begin().await.unwrap();
    assert_eq!(run.await.unwrap().interrupts().len(), 1);
    let run = thread.run("desk".to_string()).discard_pending();
    let paused = run.begin().await.unwrap().await.unwrap();
    assert_eq!(paused.state().item, "desk");
}

/// Ends the run without the thread.
struct Shortcut;

#[petalflow::async_trait]
impl RunMiddleware<Order> for Shortcut {
    async fn around(
        &self,
        input: Option<OrderInput>,
        next: RunNext<'_, Order>,
    ) -> Result<Order, RunError> {
        let _ = (input, next);
        let (order, _) = Order::start("cached".to_string().into()).unwrap();
        Ok(order)
    }
}

#[tokio::test]
async fn middleware_may_end_a_run_before_it_has_begun() {
    let launch = Pack::new()
        .manage(AtomicU32::new(0))
        .run_middleware(Shortcut);
    let thread = launch.store(&InMemoryStore::new()).thread("order");
    let run = thread.run("lamp".to_string()).begin().await.unwrap();
    assert_eq!(run.await.unwrap().state().item, "cached");
}

#[tokio::test]
async fn one_of_two_answers_is_accepted() {
    for on_busy in [OnBusy::Refuse, OnBusy::Queue, OnBusy::Cancel] {
        let (store, runs) = (InMemoryStore::new(), runs());
        let threads = Ship::new().manage_with(runs.clone()).store(&store);
        let thread = threads.on_busy(on_busy).thread("order");
        let paused = thread.run("lamp".to_string()).await.unwrap();
        let id = paused.interrupts()[0].id;
        let first = thread.answer::<MayShip>(true).begin().await.unwrap();
        // By the type of the question, and by its id: while the first one has the thread, and after it.
        let late = thread.answer::<MayShip>(false).await.unwrap_err();
        assert!(answered(&late), "{late}");
        let no = || Answer::new::<MayShip>(id, &false).unwrap();
        let late = thread.resume(no()).await.unwrap_err();
        assert!(answered(&late), "{late}");
        let order = first.await.unwrap().into_finished().unwrap();
        assert_eq!(order.log, ["shipped: true"]);
        let late = thread.resume(no()).begin().await.unwrap_err();
        assert!(answered(&late), "{late}");
        let late = thread.answer::<MayShip>(false).begin().await.unwrap_err();
        assert!(answered(&late), "{late}");
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn one_of_two_approvals_is_accepted() {
    let threads = Approve::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let thread = threads.thread("order");
    thread
        .run("lamp".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap_err();
    let first = thread.resume(Decision::approve()).begin().await.unwrap();
    let late = thread.resume(Decision::reject()).await.unwrap_err();
    assert!(answered(&late), "{late}");
    let text = late.to_string();
    assert!(
        text.contains("has an answer already (`approved`)"),
        "{text}"
    );
    first.await.unwrap().into_finished().unwrap();
    let late = thread.resume(Decision::reject()).await.unwrap_err();
    assert!(answered(&late), "{late}");
}

flow!(ApproveTwice(Order) { pack; interrupt before pack; interrupt after pack; });

#[tokio::test]
async fn an_earlier_approval_is_not_taken_for_the_open_one() {
    let store = InMemoryStore::new();
    let threads = ApproveTwice::new().manage(AtomicU32::new(0)).store(&store);
    let thread = threads.thread("order");
    thread
        .run("lamp".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap_err();
    thread
        .resume(Decision::approve())
        .await
        .unwrap()
        .into_finished()
        .unwrap_err();
    // Another process has the thread for a moment, without an answer.
    store.claim("order", "another process").await.unwrap();
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    assert!(
        matches!(error.thread_error(), Some(ThreadError::Busy { .. })),
        "{error}"
    );
    store.release("order", "another process");
    thread
        .resume(Decision::approve())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
}

#[tokio::test]
async fn a_thread_that_never_asked_has_no_answer() {
    let threads = Pack::new()
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new());
    let thread = threads.thread("order");
    thread
        .run("lamp".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let error = thread.answer::<MayShip>(true).await.unwrap_err();
    assert!(!answered(&error), "{error}");
    let error = thread.resume(Decision::approve()).await.unwrap_err();
    assert!(!answered(&error), "{error}");
}

/// Answers on an operating-system thread with a runtime of its own. Returns the log, or `None` if another caller has answered.
fn answer_elsewhere(thread: &Thread<Ship>, answer: bool) -> Option<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(async {
        match thread.answer::<MayShip>(answer).begin().await {
            Ok(run) => Some(run.await.unwrap().into_finished().unwrap().log),
            Err(error) if answered(&error) => None,
            Err(error) => panic!("{error}"),
        }
    })
}

#[tokio::test]
async fn two_threads_of_the_process_answer_at_the_same_time() {
    for round in 0..20 {
        let (store, runs) = (InMemoryStore::new(), runs());
        let threads = Ship::new().manage_with(runs.clone()).store(&store);
        let thread = threads.thread(format!("order {round}"));
        thread
            .run("lamp".to_string())
            .await
            .unwrap()
            .into_finished()
            .unwrap_err();
        let results = std::thread::scope(|scope| {
            let answers = [true, false].map(|answer| {
                let thread = &thread;
                scope.spawn(move || answer_elsewhere(thread, answer))
            });
            answers.map(|answer| answer.join().unwrap())
        });
        let [yes, no] = &results;
        match (yes, no) {
            (Some(log), None) => assert_eq!(log, &["shipped: true"]),
            (None, Some(log)) => assert_eq!(log, &["shipped: false"]),
            _ => panic!("exactly one answer is accepted: {results:?}"),
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}
