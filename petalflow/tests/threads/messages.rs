//! Messages to a thread.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use petalflow::Flow;
use petalflow::checkpoint::{InMemoryStore, ThreadQuery};
use petalflow::interrupt::Decision;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Durability, StoredThreads, Thread, ThreadError};
use tokio::sync::Notify;

#[state]
#[derive(Debug)]
struct Trip {
    #[key(input, append)]
    requests: Vec<String>,
    #[key(append, inbox)]
    wishes: Vec<String>,
    #[key(sum, inbox)]
    budget: u8,
    #[key(append)]
    log: Vec<String>,
}

/// Lets a test act while a node runs.
#[derive(Default)]
struct Gate {
    entered: Notify,
    open: Notify,
}

#[node(Trip)]
async fn search(gate: Managed<Gate>) -> TripWishes {
    gate.entered.notify_one();
    gate.open.notified().await;
    TripWishes(vec!["by the node".into()])
}

#[node(Trip)]
async fn plan(wishes: &[String], requests: &[String]) -> TripLog {
    TripLog(vec![format!(
        "{}: {}",
        requests.join(" "),
        wishes.join(", ")
    )])
}

#[node(Trip)]
async fn first() -> TripLog {
    TripLog(vec!["first".into()])
}

flow!(Search(Trip) { search -> plan });
flow!(Plan(Trip) { plan });
flow!(Approved(Trip) { first -> plan; interrupt before plan; });

/// Runs a turn, which ends.
async fn ended<F: Flow<State = Trip>>(thread: &Thread<F>, request: &str) -> Trip {
    let outcome = thread.run(requests(request)).await.unwrap();
    outcome.into_finished().unwrap()
}

fn wish(text: &str) -> TripWishes {
    TripWishes(vec![text.into()])
}

fn requests(text: &str) -> Vec<String> {
    vec![text.into()]
}

#[tokio::test]
async fn f43_a_running_thread_takes_messages_behind_the_writes_of_its_nodes() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, gate) = (InMemoryStore::new(), Arc::new(Gate::default()));
        let threads = Search::new()
            .manage_with(Arc::clone(&gate))
            .store(&store)
            .durability(durability);
        let thread = threads.thread("rome");
        gate.open.notify_one();
        ended(&thread, "hello").await;
        let running = thread.clone();
        let run = tokio::spawn(async move { running.run(requests("again")).await });
        gate.entered.notified().await;
        gate.entered.notified().await;
        assert_eq!(thread.send(wish("a")).await.unwrap(), 1);
        assert_eq!(thread.send(wish("b")).await.unwrap(), 2);
        assert_eq!(thread.send(TripBudget(7)).await.unwrap(), 3);
        gate.open.notify_one();
        let trip = run.await.unwrap().unwrap().into_finished().unwrap();
        let expected = ["by the node", "by the node", "a", "b"];
        assert_eq!(trip.wishes, expected, "{durability:?}");
        assert_eq!(trip.budget, 7);
        assert_eq!(
            trip.log.last().unwrap(),
            "hello again: by the node, by the node, a, b"
        );
        let stored = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(stored.state.wishes, expected, "{durability:?}");
    }
}

#[tokio::test]
async fn f43_a_thread_that_has_finished_takes_messages_before_the_next_input() {
    let threads = Plan::new().store(&InMemoryStore::new());
    let thread = threads.thread("rome");
    ended(&thread, "one").await;
    thread.send(wish("sun")).await.unwrap();
    let trip = ended(&thread, "two").await;
    assert_eq!(trip.log, ["one: ", "one two: sun"]);
    let trip = ended(&thread, "three").await;
    assert_eq!(trip.wishes, ["sun"], "once");
}

#[tokio::test]
async fn f43_a_thread_that_waits_takes_messages_when_it_goes_on() {
    let threads = Approved::new().store(&InMemoryStore::new());
    let thread = threads.thread("rome");
    let _paused = thread.run(requests("one")).await.unwrap();
    thread.send(wish("sun")).await.unwrap();
    let waiting = thread.snapshot().await.unwrap().unwrap();
    assert!(waiting.state.wishes.is_empty(), "it has not gone on");
    let trip = thread
        .resume(Decision::approve())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(trip.wishes, ["sun"]);
    assert_eq!(
        trip.log,
        ["first", "one: "],
        "the superstep that waited reads what it was to read"
    );
}

#[tokio::test]
async fn f43_a_message_with_an_id_is_stored_once() {
    let threads = Plan::new().store(&InMemoryStore::new());
    let thread = threads.thread("rome");
    ended(&thread, "one").await;
    assert_eq!(thread.send_once("mail-1", wish("sun")).await.unwrap(), 1);
    assert_eq!(thread.send(wish("sea")).await.unwrap(), 2);
    assert_eq!(thread.send_once("mail-1", wish("sun")).await.unwrap(), 1);
    let trip = ended(&thread, "two").await;
    assert_eq!(trip.wishes, ["sun", "sea"]);
    // Also after the thread has taken it.
    assert_eq!(thread.send_once("mail-1", wish("sun")).await.unwrap(), 1);
    let trip = ended(&thread, "three").await;
    assert_eq!(trip.wishes, ["sun", "sea"]);
}

#[tokio::test]
async fn f43_a_message_to_no_thread_is_refused_and_leaves_none() {
    let threads = Plan::new().store(&InMemoryStore::new());
    let error = threads.thread("rome").send(wish("sun")).await.unwrap_err();
    assert!(matches!(error, ThreadError::Unknown { .. }), "{error}");
    let thread = threads.thread("oslo");
    ended(&thread, "one").await;
    thread.send(wish("sun")).await.unwrap();
    thread.delete().await.unwrap();
    let error = thread.send(wish("sun")).await.unwrap_err();
    assert!(matches!(error, ThreadError::Unknown { .. }), "{error}");
    let listed = threads.list(ThreadQuery::default()).await.unwrap();
    assert!(listed.is_empty(), "{listed:?}");
    // A new thread with the id has an empty inbox.
    let trip = ended(&thread, "two").await;
    assert!(trip.wishes.is_empty());
}

#[tokio::test]
async fn f43_a_fork_does_not_take_a_message_again_and_a_copy_has_none() {
    let store = InMemoryStore::new();
    let threads = Plan::new().store(&store);
    let thread = threads.thread("rome");
    ended(&thread, "one").await;
    let before = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
    thread.send(wish("sun")).await.unwrap();
    ended(&thread, "two").await;
    thread.send(wish("sea")).await.unwrap();
    let copy = thread.copy_to("copy").await.unwrap();
    let trip = ended(&copy, "three").await;
    assert_eq!(trip.wishes, ["sun"]);
    thread.fork(before).await.unwrap();
    let trip = ended(&thread, "three").await;
    assert_eq!(trip.wishes, ["sea"]);
    let problems = StoredThreads::new(&store).verify("rome").await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

#[tokio::test]
async fn f43_a_message_that_is_refused_fails_one_run_and_loses_nothing_else() {
    let (store, gate) = (InMemoryStore::new(), Arc::new(Gate::default()));
    let threads = Search::new().manage_with(Arc::clone(&gate)).store(&store);
    let thread = threads.thread("rome");
    gate.open.notify_one();
    ended(&thread, "one").await;
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run(requests("two")).await });
    gate.entered.notified().await;
    gate.entered.notified().await;
    thread.send(TripBudget(200)).await.unwrap();
    thread.send(TripBudget(100)).await.unwrap();
    thread.send(wish("sun")).await.unwrap();
    gate.open.notify_one();
    let error = run.await.unwrap().unwrap_err();
    let RunErrorKind::Message { number: 2, problem } = error.kind() else {
        panic!("{error}")
    };
    assert!(problem.contains("`budget`"), "{problem}");
    assert!(
        error.to_string().contains("message 2 to the thread"),
        "{error}"
    );
    let trip = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((trip.budget, trip.log.len()), (200, 2));
    gate.open.notify_one();
    let trip = ended(&thread, "three").await;
    let wishes = ["by the node", "by the node", "sun", "by the node"];
    assert_eq!(
        (trip.budget, &*trip.wishes),
        (200, &wishes.map(String::from)[..])
    );
}

#[node(Trip)]
async fn start_over(gate: Managed<Gate>) -> Overwrite<TripWishes> {
    gate.entered.notify_one();
    gate.open.notified().await;
    Overwrite(wish("fresh"))
}

flow!(StartOver(Trip) { start_over -> plan });

/// An overwrite drops the other writes to its key in the superstep. A message is none of them.
#[tokio::test]
async fn f43_a_message_beside_an_overwrite_is_taken_at_the_next_barrier() {
    let (store, gate) = (InMemoryStore::new(), Arc::new(Gate::default()));
    let threads = StartOver::new()
        .manage_with(Arc::clone(&gate))
        .store(&store);
    let thread = threads.thread("rome");
    gate.open.notify_one();
    ended(&thread, "one").await;
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run(requests("two")).await });
    gate.entered.notified().await;
    gate.entered.notified().await;
    thread.send(TripBudget(1)).await.unwrap();
    thread.send(wish("sun")).await.unwrap();
    thread.send(TripBudget(2)).await.unwrap();
    gate.open.notify_one();
    let trip = run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(
        (&*trip.wishes, trip.budget),
        (&["fresh".into(), "sun".into()][..], 3)
    );
    assert_eq!(trip.log.last().unwrap(), "one two: fresh");
}

#[tokio::test]
async fn f43_several_senders_lose_nothing_and_each_keeps_its_order() {
    let threads = Plan::new().store(&InMemoryStore::new());
    let thread = threads.thread("rome");
    ended(&thread, "one").await;
    let senders = (0..8).map(|sender| {
        let thread = thread.clone();
        tokio::spawn(async move {
            for number in 0..40 {
                let text = format!("{sender} {number}");
                thread.send(wish(&text)).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let trip = ended(&thread, "two").await;
    let mut of: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for wish in &trip.wishes {
        let (sender, number) = wish.split_once(' ').unwrap();
        of.entry(sender).or_default().push(number.parse().unwrap());
    }
    assert_eq!(of.len(), 8);
    let all: Vec<u32> = (0..40).collect();
    assert!(of.values().all(|numbers| *numbers == all), "{of:?}");
}

#[node(Trip)]
async fn wander() -> TripLog {
    tokio::task::yield_now().await;
    TripLog(vec!["step".into()])
}

#[derive(Route)]
enum Further {
    Go,
    Stop,
}

#[node(Trip)]
async fn further(log: &[String]) -> Further {
    if log.len() < 4 {
        Further::Go
    } else {
        Further::Stop
    }
}

flow!(Wander(Trip) { START -> wander -> further -> match { Go => wander, Stop => END } });

/// The run is dropped after every number of polls, with messages between any two.
#[tokio::test]
async fn f43_a_run_that_is_dropped_takes_each_message_once() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for polls in 0..60 {
            let threads = Wander::new()
                .store(&InMemoryStore::new())
                .durability(durability);
            let thread = threads.thread("rome");
            ended(&thread, "one").await;
            let mut sent = 0;
            {
                let mut run = pin!(IntoFuture::into_future(thread.run(requests("two"))));
                for poll in 0..polls {
                    if poll % 3 == 0 {
                        sent += 1;
                        thread.send(wish(&sent.to_string())).await.unwrap();
                    }
                    let mut cx = TaskContext::from_waker(Waker::noop());
                    if let Poll::Ready(ended) = run.as_mut().poll(&mut cx) {
                        ended.unwrap().into_finished().unwrap();
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            sent += 1;
            thread.send(wish(&sent.to_string())).await.unwrap();
            let resumed = thread.resume(()).await.unwrap();
            resumed.into_finished().unwrap();
            let trip = ended(&thread, "three").await;
            let expected: Vec<String> = (1..=sent).map(|number| number.to_string()).collect();
            assert_eq!(trip.wishes, expected, "{durability:?}, {polls} polls");
        }
    }
}

#[tokio::test]
async fn f43_many_messages_are_bounded_in_the_store() {
    let store = InMemoryStore::new();
    let threads = Plan::new().store(&store);
    let thread = threads.thread("rome");
    ended(&thread, "one").await;
    for turn in 0..6 {
        for _ in 0..1_000 {
            thread.send(TripBudget(0)).await.unwrap();
        }
        ended(&thread, &turn.to_string()).await;
    }
    let listed = threads.list(ThreadQuery::default()).await.unwrap();
    assert!(listed[0].checkpoints < 3_100, "{listed:?}");
    let problems = StoredThreads::new(&store).verify("rome").await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}
