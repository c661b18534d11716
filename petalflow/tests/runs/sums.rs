//! What `sum` does at the end of a type: an error that names the key, wherever the write comes from. Nothing is applied.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadEngine;
use petalflow::prelude::*;
use petalflow::run::{RunError, RunErrorKind};
use petalflow::thread::Edit;

use super::engine::{advance, begun, snapshot};

#[state]
#[derive(Clone, Debug)]
struct Sums {
    #[key(sum, input, default = 200)]
    small: u8,
    #[key(sum)]
    signed: i8,
    #[key(sum)]
    time: Duration,
    #[key(sum)]
    float: f64,
    #[key(sum, ephemeral)]
    short: u8,
    #[key(append)]
    log: Vec<String>,
}

const TOO_LARGE: &str =
    "key `small`: 200 + 100 does not fit in a `u8`; use a larger type, or `reduce = function`";

#[node(Sums)]
async fn first() -> SumsLog {
    SumsLog(vec!["first".into()])
}

#[node(Sums)]
async fn add() -> (SumsSmall, SumsLog) {
    (SumsSmall(100), SumsLog(vec!["add".into()]))
}

#[node(Sums)]
async fn add_little() -> SumsSmall {
    SumsSmall(30)
}

#[node(Sums)]
async fn add_little_more() -> SumsSmall {
    SumsSmall(30)
}

flow!(Chain(Sums) { first -> add });
flow!(Fork(Sums) { first -> add_little & add_little_more });

fn refused(error: &RunError, writers: &[&str], text: &str) {
    let RunErrorKind::Write { nodes, problem } = error.kind() else {
        panic!("{error}");
    };
    assert_eq!(nodes, writers);
    assert_eq!(problem, text);
}

#[tokio::test]
async fn a_chain_ends_with_an_error_and_nothing_is_applied() {
    let error = Chain::run(0).await.unwrap_err();
    refused(&error, &["add"], TOO_LARGE);
    let state = error.state::<Sums>().unwrap();
    assert_eq!(state.small, 200);
    assert_eq!(state.log, ["first"]);
}

#[tokio::test]
async fn the_writes_of_a_fork_are_added_up() {
    let error = Fork::run(0).await.unwrap_err();
    let text = TOO_LARGE.replace("200 + 100", "230 + 30");
    refused(&error, &["add_little", "add_little_more"], &text);
    assert_eq!(error.state::<Sums>().unwrap().small, 200);
}

#[tokio::test]
async fn a_thread_keeps_the_state_before() {
    let thread = Chain::new().store(&InMemoryStore::new()).thread("t");
    let error = thread.run(0).await.unwrap_err();
    refused(&error, &["add"], TOO_LARGE);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.state.small, 200);
    assert_eq!(snapshot.state.log, ["first"]);
    assert_eq!(snapshot.info.next, ["add"]);
}

#[tokio::test]
async fn an_engine_keeps_the_state_before() {
    let engine = ThreadEngine::new(Chain::new());
    let mut records = begun(&engine, 0).await;
    let (_, end) = advance(&engine, &mut records, 0).await;
    assert!(end.continues());
    let (_, end) = advance(&engine, &mut records, 1).await;
    assert!(!end.committed);
    let failure = end.failure.expect("the write is refused");
    assert!(failure.contains(TOO_LARGE), "{failure}");
    let state = snapshot(&engine, &records).await.state;
    assert_eq!((state.small, state.log), (200, vec!["first".into()]));
}

#[tokio::test]
async fn an_input_is_refused() {
    let error = Chain::run(100).await.unwrap_err();
    refused(&error, &[], TOO_LARGE);
    assert_eq!(
        error.to_string(),
        format!("{TOO_LARGE} (in the input of `Chain`); no node has run")
    );
    // The first input of a thread, and a later one.
    let store = InMemoryStore::new();
    let launch = Fork::new().store(&store);
    let error = launch.thread("new").run(100).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the input cannot be applied: {TOO_LARGE}")
    );
    let thread = Chain::new().store(&store).thread("known");
    thread.run(0).await.unwrap_err();
    let error = thread.run(100).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the update cannot be applied: {TOO_LARGE}")
    );
}

#[tokio::test]
async fn an_edit_is_refused() {
    let thread = Chain::new().store(&InMemoryStore::new()).thread("t");
    thread.run(0).await.unwrap_err();
    for edit in [
        Edit::new(SumsSmall(100)),
        Edit::new(SumsSmall(100)).by("first"),
    ] {
        let error = thread.update(edit).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the update cannot be applied: {TOO_LARGE}")
        );
    }
    assert_eq!(thread.snapshot().await.unwrap().unwrap().state.small, 200);
}

#[node(Sums)]
async fn below() -> SumsSigned {
    SumsSigned(-100)
}

#[node(Sums)]
async fn too_long() -> SumsTime {
    SumsTime(Duration::MAX)
}

#[node(Sums)]
async fn infinite() -> SumsFloat {
    SumsFloat(f64::MAX)
}

#[node(Sums)]
async fn replaced() -> Overwrite<SumsSmall> {
    Overwrite(SumsSmall(7))
}

#[node(Sums)]
async fn short() -> SumsShort {
    SumsShort(200)
}

#[node(Sums)]
async fn shorter(short: &u8) -> (SumsShort, SumsLog) {
    assert_eq!(*short, 200);
    (SumsShort(200), SumsLog(vec!["shorter".into()]))
}

flow!(Below(Sums) { below -> below_too });

#[node(Sums)]
async fn below_too() -> SumsSigned {
    SumsSigned(-100)
}

#[node(Sums)]
async fn too_long_too() -> SumsTime {
    SumsTime(Duration::from_nanos(1))
}

#[node(Sums)]
async fn infinite_too() -> SumsFloat {
    SumsFloat(f64::MAX)
}

flow!(TooLong(Sums) { too_long -> too_long_too });
flow!(Infinite(Sums) { infinite -> infinite_too });
flow!(Replaced(Sums) { START -> add & replaced });
flow!(Short(Sums) { short -> shorter });

#[tokio::test]
async fn numbers_with_a_sign_and_times_have_an_end_and_floats_have_none() {
    let error = Below::run(0).await.unwrap_err();
    let text = "key `signed`: -100 + -100 does not fit in a `i8`; use a larger type, or `reduce = function`";
    refused(&error, &["below_too"], text);
    let error = TooLong::run(0).await.unwrap_err();
    assert!(
        error.to_string().contains("does not fit in a `Duration`"),
        "{error}"
    );
    assert!(Infinite::run(0).await.unwrap().float.is_infinite());
}

#[tokio::test]
async fn writes_that_are_dropped_and_values_that_have_ended_do_not_count() {
    assert_eq!(Replaced::run(0).await.unwrap().small, 7);
    assert_eq!(Short::run(0).await.unwrap().log, ["shorter"]);
}
