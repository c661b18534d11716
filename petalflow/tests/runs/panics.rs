//! No code of a program panics out of a run: that of a node is a failure of the node, and any other ends the run.

use std::fmt;

use futures_util::StreamExt as _;
use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::prelude::*;
use petalflow::run::{RunError, RunErrorKind};
use petalflow::thread::{Edit, ThreadError};

use super::engine::{advance, begun, snapshot};

/// Fails when it is told to.
fn unless(fails: bool, what: &str) {
    assert!(!fails, "{what} failed");
}

/// A value whose code panics if it has the name of the operation.
#[derive(Debug, Default, PartialEq)]
struct Fragile(String);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        unless(self.0 == "clone", "clone");
        Fragile(self.0.clone())
    }
}

impl serde::Serialize for Fragile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        unless(self.0 == "serialize", "serialize");
        self.0.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Fragile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        unless(text == "deserialize", "deserialize");
        Ok(Fragile(text))
    }
}

/// Writes of this text make the reducer panic.
fn reduce(current: &mut String, written: String) {
    // So that the state is changed when it panics.
    current.push_str(&written);
    unless(written == "panic", "the reducer");
}

#[state]
#[derive(Clone, Debug)]
struct Parts {
    #[key(input, reduce = reduce)]
    text: String,
    fragile: Fragile,
    #[key(sum)]
    done: u32,
}

#[node(Parts)]
async fn first() -> PartsDone {
    PartsDone(1)
}

#[node(Parts)]
async fn write() -> PartsText {
    PartsText("panic".into())
}

#[node(Parts)]
async fn write_after_a_wait() -> PartsText {
    tokio::task::yield_now().await;
    PartsText("panic".into())
}

flow!(Chain(Parts) { first -> write });
flow!(Fork(Parts) { START -> first & write_after_a_wait });

/// The run ended because its reducer panicked.
fn of_reducer(error: &RunError, superstep: u64) {
    assert!(
        matches!(error.kind(), RunErrorKind::Panic { message } if message == "the reducer failed"),
        "{error}"
    );
    assert_eq!(error.superstep(), superstep);
    assert!(error.state::<Parts>().is_none(), "it may be inconsistent");
}

#[tokio::test]
async fn a_reducer_of_a_chain_panics() {
    let error = Chain::run(String::new()).await.unwrap_err();
    of_reducer(&error, 2);
    assert_eq!(
        error.to_string(),
        "`Chain` panicked in superstep 2, outside of its nodes: the reducer failed"
    );
}

#[tokio::test]
async fn a_reducer_of_a_fork_panics() {
    of_reducer(&Fork::run(String::new()).await.unwrap_err(), 1);
}

#[tokio::test]
async fn a_reducer_of_a_thread_panics_and_the_thread_keeps_its_last_checkpoint() {
    let thread = Chain::new().store(&InMemoryStore::new()).thread("t");
    of_reducer(&thread.run(String::new()).await.unwrap_err(), 2);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!((snapshot.state.done, &*snapshot.state.text), (1, ""));
    assert_eq!(snapshot.info.next, ["write"]);
    // The claim was released.
    of_reducer(&thread.resume(()).await.unwrap_err(), 2);
}

#[tokio::test]
async fn a_reducer_of_a_pass_panics_and_the_records_keep_the_last_checkpoint() {
    let engine = ThreadEngine::new(Chain::new());
    let mut records = begun(&engine, String::new()).await;
    let (_, end) = advance(&engine, &mut records, 0).await;
    assert!(end.continues());
    for _ in 0..2 {
        let (_, end) = advance(&engine, &mut records, 1).await;
        assert!(!end.committed);
        let failure = end.failure.expect("the pass fails");
        assert!(failure.ends_with("the reducer failed"), "{failure}");
    }
    let snapshot = snapshot(&engine, &records).await;
    assert_eq!((snapshot.state.done, &*snapshot.state.text), (1, ""));
    assert_eq!(snapshot.info.next, ["write"]);
}

#[tokio::test]
async fn a_reducer_of_an_input_panics() {
    let input = || "panic".to_string();
    of_reducer(&Chain::run(input()).await.unwrap_err(), 0);
    let (engine, none) = (ThreadEngine::new(Chain::new()), ThreadRecords::default());
    of_reducer(&engine.begin("t", &none, input()).await.unwrap_err(), 0);
    let store = InMemoryStore::new();
    let thread = Fork::new().store(&store).thread("t");
    of_reducer(&thread.run(input()).await.unwrap_err(), 0);
    of_reducer(&thread.run(input()).begin().await.unwrap_err(), 0);
    let thread = Count::new().store(&store).thread("second");
    thread
        .run(String::new())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    of_reducer(&thread.run(input()).await.unwrap_err(), 0);
    let error = thread.run(input()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Count` panicked outside of its supersteps: the reducer failed"
    );
}

flow!(Count(Parts) { first });

#[tokio::test]
async fn a_reducer_of_an_edit_panics_and_nothing_is_stored() {
    let thread = Count::new().store(&InMemoryStore::new()).thread("t");
    thread
        .run(String::new())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    for edit in [
        Edit::new(PartsText("panic".into())),
        Edit::new(PartsText("panic".into())).by("first"),
    ] {
        let error = thread.update(edit).await.unwrap_err();
        assert!(matches!(error, ThreadError::Panic(_)), "{error}");
        assert_eq!(error.to_string(), "panicked: the reducer failed");
    }
    assert_eq!(thread.snapshot().await.unwrap().unwrap().state.text, "");
}

#[node(Parts)]
async fn make(text: &str) -> PartsFragile {
    PartsFragile(Fragile(text.into()))
}

flow!(Make(Parts) { START -> first -> make -> END; });

fn message(error: &RunError) -> &str {
    match error.kind() {
        RunErrorKind::Panic { message } => message,
        _ => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_value_that_cannot_be_serialized_panics() {
    let thread = Make::new().store(&InMemoryStore::new()).thread("t");
    let error = thread.run("serialize".to_string()).await.unwrap_err();
    assert_eq!(
        (message(&error), error.superstep()),
        ("serialize failed", 2)
    );
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.info.next, ["make"]);
}

#[tokio::test]
async fn a_value_that_cannot_be_deserialized_panics() {
    let thread = Make::new().store(&InMemoryStore::new()).thread("t");
    thread
        .run("deserialize".to_string())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let error = thread.snapshot().await.unwrap_err();
    assert!(matches!(error, ThreadError::Panic(_)), "{error}");
    let error = thread.run(String::new()).await.unwrap_err();
    assert_eq!(
        (message(&error), error.superstep()),
        ("deserialize failed", 0)
    );
    let error = thread.fork(1).await.unwrap();
    assert!(error > 0, "the checkpoint before the value can be read");
}

#[tokio::test]
async fn a_state_that_cannot_be_cloned_for_a_listener_panics() {
    let events = Make::run("clone".to_string()).events().with_values();
    let events: Vec<_> = events.collect().await;
    let Some(petalflow::event::EventKind::Failed { error }) = events.last().map(|last| &last.kind)
    else {
        panic!("{:?}", events.last());
    };
    assert_eq!((message(error), error.superstep()), ("clone failed", 2));
}

flow! {
    Guarded(Parts) {
        first;
        interrupt before first if |text: &str| { unless(text == "guard", "the guard"); false };
    }
}

#[tokio::test]
async fn a_guard_that_panics_is_a_failure_of_its_node() {
    let thread = Guarded::new().store(&InMemoryStore::new()).thread("t");
    let error = thread.run("guard".to_string()).await.unwrap_err();
    assert_eq!(error.node(), Some("first"), "{error}");
}

#[derive(Debug)]
struct Unprintable;

impl fmt::Display for Unprintable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("display failed")
    }
}

impl std::error::Error for Unprintable {}

#[node(Parts)]
async fn fail() -> petalflow::Result<()> {
    Err(Unprintable.into())
}

flow!(Fail(Parts) { fail });
flow!(FailInFork(Parts) { START -> first & fail });

#[tokio::test]
async fn an_error_that_cannot_be_printed_panics() {
    let errors = [
        Fail::run(String::new()).await.unwrap_err(),
        FailInFork::run(String::new()).await.unwrap_err(),
        Fail::new()
            .store(&InMemoryStore::new())
            .thread("t")
            .run(String::new())
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!((message(&error), error.superstep()), ("display failed", 1));
    }
}

flow!(Outer(Parts) { START -> inner; node inner: Chain { in: |text: &str| text.to_string(), out: |_parts: Parts| () }; });

#[tokio::test]
async fn a_reducer_of_a_subflow_is_a_failure_of_its_node() {
    let error = Outer::run(String::new()).await.unwrap_err();
    assert_eq!(error.node(), Some("inner"), "{error}");
    assert!(error.to_string().contains("the reducer failed"), "{error}");
}

struct Hook;

#[petalflow::async_trait]
impl petalflow::middleware::RunMiddleware<Parts> for Hook {
    async fn around(
        &self,
        _: Option<PartsInput>,
        _: petalflow::middleware::RunNext<'_, Parts>,
    ) -> Result<Parts, RunError> {
        panic!("the hook failed")
    }
}

#[tokio::test]
async fn middleware_around_a_run_panics() {
    let run = Count::new().run_middleware(Hook).run(String::new());
    assert_eq!(message(&run.await.unwrap_err()), "the hook failed");
}
