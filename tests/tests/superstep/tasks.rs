//! Tasks: their names, their threads, and nodes of other forms than an async function.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::error::FailureKind;
use petalflow::event::TaskId;
use petalflow::policy::Policy;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

use crate::support::{Log, LogXs, appending, expect_error, flow_and_graph, kind, list, run_both};

appending!(after);

/// The ids that nodes were given.
#[derive(Default)]
struct Ids(Mutex<Vec<(String, TaskId)>>);

impl Ids {
    fn note(&self, cx: &Context) {
        self.0
            .lock()
            .unwrap()
            .push((format!("{}{:?}", cx.node(), cx.index()), cx.task_id()));
    }

    fn take(&self) -> Vec<(String, TaskId)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[node(Log, retry = 3)]
async fn third_time(cx: Context, ids: Managed<Ids>) -> petalflow::Result<()> {
    ids.note(&cx);
    if cx.attempt() < 3 {
        Err("again".into())
    } else {
        Ok(())
    }
}

#[node(Log)]
async fn items(cx: Context, ids: Managed<Ids>) -> Each<u32> {
    ids.note(&cx);
    Each(vec![7, 7, 7])
}

#[node(Log)]
async fn item(#[item] _seven: &u32, cx: Context, ids: Managed<Ids>) {
    ids.note(&cx);
}

#[node(Log)]
async fn twice(cx: Context, ids: Managed<Ids>) -> bool {
    ids.note(&cx);
    cx.superstep() < 4
}

flow_and_graph! {
    Named(Log) { third_time -> items; items -> each item; item -> twice -> match { true => items, false => END }; }
    nodes: third_time, items, item, twice
}

#[tokio::test(start_paused = true)]
async fn a_task_id_is_stable_over_attempts_and_different_between_tasks() {
    let shape = run_both!(Named, |launch| {
        let launch = launch.manage(Ids::default());
        let ids = std::sync::Arc::new(Ids::default());
        let launch = launch.manage_with(std::sync::Arc::clone(&ids));
        launch.clone().run(vec![]).await.unwrap();
        let first = ids.take();
        launch.run(vec![]).await.unwrap();
        let second = ids.take();
        let attempts: BTreeSet<TaskId> = first[..3].iter().map(|(_, id)| *id).collect();
        let tasks: BTreeSet<TaskId> = first[2..].iter().map(|(_, id)| *id).collect();
        let both: BTreeSet<TaskId> = tasks
            .iter()
            .copied()
            .chain(second[2..].iter().map(|(_, id)| *id))
            .collect();
        let names: Vec<String> = first.into_iter().map(|(name, _)| name).collect();
        (attempts.len(), tasks.len(), both.len(), names)
    });
    let (attempts, tasks, both, names) = shape;
    assert_eq!(
        names[..3],
        ["third_timeNone", "third_timeNone", "third_timeNone"]
    );
    assert_eq!(attempts, 1, "three attempts of one task");
    assert_eq!(
        tasks,
        names.len() - 2,
        "same node, same items: still different tasks"
    );
    assert_eq!(both, 2 * tasks, "two runs share no task");
}

/// The threads on which nodes ran.
#[derive(Default)]
struct Threads(Mutex<Vec<(String, ThreadId, bool)>>);

impl Threads {
    fn note(&self, name: &str) {
        let own = tokio::task::try_id().is_some();
        self.0
            .lock()
            .unwrap()
            .push((name.into(), std::thread::current().id(), own));
    }
}

#[node(Log)]
async fn in_place(threads: Managed<Threads>) {
    threads.note("in_place");
}

#[node(Log, blocking)]
fn blocks(xs: &[String], threads: Managed<Threads>) -> LogXs {
    threads.note("blocks");
    LogXs(vec![format!("blocked after {}", xs.len())])
}

#[node(Log, spawn)]
async fn spawned(xs: &[String], threads: Managed<Threads>) -> petalflow::Result<LogXs> {
    tokio::task::yield_now().await;
    threads.note("spawned");
    Ok(LogXs(vec![format!("spawned after {}", xs.len())]))
}

flow_and_graph! { Places(Log) { in_place -> blocks -> spawned -> after; } nodes: in_place, blocks, spawned, after }
flow_and_graph! { PlacesInFork(Log) { in_place -> blocks & spawned; blocks & spawned -> after; } nodes: in_place, blocks, spawned, after }

#[tokio::test]
async fn blocking_and_spawned_nodes_run_on_other_threads_with_their_keys() {
    let (xs, places) = run_both!(Places, |launch| {
        let threads = std::sync::Arc::new(Threads::default());
        let xs = launch
            .manage_with(std::sync::Arc::clone(&threads))
            .run(list(["x"]))
            .await
            .unwrap()
            .xs;
        let here = std::thread::current().id();
        let places = threads
            .0
            .lock()
            .unwrap()
            .iter()
            .map(|(name, thread, own)| (name.clone(), *thread == here, *own))
            .collect::<Vec<_>>();
        (xs, places)
    });
    assert_eq!(xs, ["x", "blocked after 1", "spawned after 2", "after"]);
    let expected = [
        ("in_place", true, false),
        ("blocks", false, true),
        ("spawned", true, true),
    ];
    assert_eq!(
        places,
        expected.map(|(name, here, own)| (name.to_string(), here, own))
    );
    let xs = run_both!(PlacesInFork, |launch| launch
        .manage(Threads::default())
        .run(list(["x"]))
        .await
        .unwrap()
        .xs);
    assert_eq!(xs, ["x", "blocked after 1", "spawned after 1", "after"]);
}

#[node(Log, blocking)]
fn block_panics(xs: &[String]) -> LogXs {
    panic!("blocked {}", xs.len())
}

#[node(Log, spawn)]
async fn spawn_panics(xs: &[String]) -> LogXs {
    panic!("spawned {}", xs.len())
}

flow_and_graph! { BlockPanics(Log) { block_panics } nodes: block_panics }
flow_and_graph! { SpawnPanics(Log) { spawn_panics } nodes: spawn_panics }

#[tokio::test]
async fn g034_a_panic_on_another_thread_fails_the_node() {
    let message = |kind: RunErrorKind| {
        let RunErrorKind::Node(error) = kind else {
            panic!("{kind:?}")
        };
        assert_eq!(error.kind, FailureKind::Panic);
        error.message
    };
    assert_eq!(
        message(run_both!(BlockPanics, |launch| kind(
            launch.run(vec![]).await
        ))),
        "panicked: blocked 0"
    );
    assert_eq!(
        message(run_both!(SpawnPanics, |launch| kind(
            launch.run(vec![]).await
        ))),
        "panicked: spawned 0"
    );
}

#[tokio::test]
async fn g034_a_closure_that_panics_before_its_future_is_made_fails_its_node() {
    for fork in [false, true] {
        let builder = Graph::<Log>::builder("g")
            .node(after {})
            .node_fn("bad", |log: &Log, _| {
                assert!(!log.xs.is_empty(), "nothing here");
                async {}
            });
        let builder = if fork {
            builder.edge(START, "bad").edge(START, "after")
        } else {
            builder.edge(START, "bad").edge("bad", "after")
        };
        let error = expect_error(builder.build().unwrap().run(vec![]).await);
        assert_eq!(
            error.to_string(),
            "node `bad` failed in superstep 1: panicked: nothing here"
        );
    }
}

/// A node value, generic over the key that it reads and writes.
#[derive(Clone)]
struct Shout<K> {
    suffix: &'static str,
    key: PhantomData<fn() -> K>,
}

impl<K> Shout<K> {
    fn new(suffix: &'static str) -> Self {
        Shout {
            suffix,
            key: PhantomData,
        }
    }
}

#[node(K::State)]
impl<K: Key<Value = String>> Shout<K> {
    async fn run(&self, #[key(K)] text: &str) -> K {
        K::new(format!("{}{}", text.to_uppercase(), self.suffix))
    }
}

#[state]
#[derive(Debug, PartialEq)]
struct Texts {
    #[key(input)]
    one: String,
    #[key(input)]
    two: String,
}

flow_and_graph! {
    Shouts(Texts) {
        node loud: Shout<TextsOne> = Shout::new("!");
        node louder: Shout<TextsTwo> = Shout::new("!!");
        START -> loud & louder;
    }
    nodes: loud = |b| b.node_as("loud", Shout::<TextsOne>::new("!")), louder = |b| b.node_as("louder", Shout::<TextsTwo>::new("!!"))
}

fn texts() -> TextsInput {
    TextsInput {
        one: "one".into(),
        two: "two".into(),
    }
}

#[tokio::test]
async fn a_node_value_serves_several_keys() {
    let texts = run_both!(Shouts, |launch| launch.run(texts()).await.unwrap());
    assert_eq!(
        texts,
        Texts {
            one: "ONE!".into(),
            two: "TWO!!".into()
        }
    );
}

flow! {
    Supplied(Texts) {
        node loud: Shout<TextsOne>;
        START -> loud;
    }
}

#[tokio::test]
async fn a_node_value_may_be_supplied_or_overridden() {
    assert_eq!(
        Supplied::new()
            .loud(Shout::new("?"))
            .run(texts())
            .await
            .unwrap()
            .one,
        "ONE?"
    );
    assert_eq!(
        Shouts::new()
            .loud(Shout::new("?"))
            .run(texts())
            .await
            .unwrap()
            .one,
        "ONE?"
    );
}

#[tokio::test]
async fn a_flow_with_node_values_is_stored_like_any_other() {
    let store = InMemoryStore::new();
    let thread = Supplied::new()
        .loud(Shout::new("?"))
        .store(&store)
        .thread("given");
    assert_eq!(thread.run(texts()).await.unwrap().state().one, "ONE?");
    // A value that has a default need not be given.
    let thread = Shouts::new().limit(9).store(&store).thread("default");
    assert_eq!(thread.run(texts()).await.unwrap().state().two, "TWO!!");
    let graph = Graph::<Texts>::builder("graph").node_as("loud", Shout::<TextsOne>::new("."));
    let thread = graph.build().unwrap().store(&store).thread("graph");
    assert_eq!(thread.run(texts()).await.unwrap().state().one, "ONE.");
}

/// A state that no store can keep: the builder of its flow has nothing to do with stores.
#[state(volatile)]
struct Passing {
    #[key(input)]
    text: String,
}

flow! {
    Pass(Passing) {
        node loud: Shout<PassingText> = Shout::new("!");
        START -> loud;
    }
}

#[tokio::test]
async fn a_flow_with_node_values_may_have_a_state_that_cannot_be_stored() {
    let passed = Pass::new().run("by".to_string()).await.unwrap();
    assert_eq!(passed.text, "BY!");
}

#[tokio::test]
async fn a_node_stays_a_function() {
    assert_eq!(after().await.0, ["after"]);
    assert_eq!(
        blocks(&list(["a", "b"]), Managed::new(Threads::default())).0,
        ["blocked after 2"]
    );
    assert_eq!(Shout::<TextsOne>::new(".").run("x").await.0, "X.");
}

#[tokio::test]
async fn one_function_under_two_names() {
    let graph = Graph::<Log>::builder("g")
        .node_as("x", after {})
        .node_as("y", after {})
        .edge(START, "x")
        .edge("x", "y");
    assert_eq!(
        graph.build().unwrap().run(vec![]).await.unwrap().xs,
        ["after", "after"]
    );
}

#[test]
fn policies_are_merged() {
    let own = Policy {
        timeout: Some(Duration::from_secs(1)),
        ..Policy::NONE
    };
    let other = Policy {
        timeout: Some(Duration::from_secs(2)),
        idle: Some(Duration::from_secs(3)),
        ..Policy::NONE
    };
    let both = own.or(other);
    assert_eq!(
        (both.timeout, both.idle, both.retry),
        (own.timeout, other.idle, &[][..])
    );
    assert!(Policy::NONE.is_none() && !both.is_none());
}
