//! Flows inside flows, on threads.

use futures_util::StreamExt as _;
use petalflow::Event;
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Durability, HistoryQuery};
use petalflow_test_support::assert_contains;
use serde::{Deserialize, Serialize};

use crate::support::{
    Log, LogXs, Trace, appending, expect_finished, flow_and_graph, list, run_both,
};

appending! { i j }

/// As the adding of texts elsewhere.
fn concat(current: &mut String, written: String) {
    current.push_str(&written);
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Inner {
    #[key(input, reduce = concat, default)]
    my_key: String,
    #[key(default)]
    my_other_key: String,
}

#[node(Inner)]
async fn inner_1(my_key: &str) -> (InnerMyKey, InnerMyOtherKey) {
    (
        InnerMyKey(" got here".into()),
        InnerMyOtherKey(my_key.into()),
    )
}

#[node(Inner)]
async fn inner_2() -> InnerMyKey {
    InnerMyKey(" and there".into())
}

flow!(Steps(Inner) { inner_1 -> inner_2 });

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Outer {
    #[key(input)]
    my_key: String,
}

fn over(inner: Inner) -> (OuterMyKey, bool) {
    let again = inner.my_key.matches("there").count() < 2;
    (OuterMyKey(inner.my_key), again)
}

flow_and_graph! {
    Kept(Outer) {
        node inner: Steps { in: |my_key: &str| my_key.to_string(), out: |inner: Inner| -> (OuterMyKey, bool) { over(inner) }, keep: thread };
        inner -> match { true => inner, false => END };
    }
    nodes: inner = |b| b.subflow("inner", Steps, |outer: &Outer| outer.my_key.clone().into(), over).keep_thread("inner")
}

flow_and_graph! {
    Fresh(Outer) {
        node inner: Steps { in: |my_key: &str| my_key.to_string(), out: |inner: Inner| -> (OuterMyKey, bool) { over(inner) } };
        inner -> match { true => inner, false => END };
    }
    nodes: inner = |b| b.subflow("inner", Steps, |outer: &Outer| outer.my_key.clone().into(), over)
}

/// An update in one line, with its namespace.
fn line(event: &Event<Outer>) -> String {
    let at = &event.namespace;
    let node = event.node().unwrap_or_default();
    if let Some(Event {
        kind: EventKind::NodeFinished { update, .. },
        ..
    }) = event.nested::<Inner>()
    {
        let texts = (
            update.of::<InnerMyKey>().only(),
            update.of::<InnerMyOtherKey>().only(),
        );
        return format!("{at}/{node} {texts:?}");
    }
    match &event.kind {
        EventKind::NodeFinished { update, .. } => {
            format!("{at}/{node} {:?}", update.of::<OuterMyKey>().only())
        }
        kind => format!("{at} {}", kind.name()),
    }
}

#[tokio::test]
async fn c81_a_stored_subflow_has_its_previous_state_and_streams_under_its_namespace() {
    for (durability, checkpoints) in [(Durability::Sync, 3), (Durability::Exit, 3)] {
        run_both!(Kept, |launch| {
            let store = InMemoryStore::new();
            let thread = launch.store(&store).durability(durability).thread("t");
            let updates = thread.run(String::new()).events().updates();
            let lines: Vec<_> = updates.map(|event| line(&event)).collect().await;
            assert_eq!(
                lines,
                [
                    r#"inner/inner_1 (Some(" got here"), Some(""))"#,
                    r#"inner/inner_2 (Some(" and there"), None)"#,
                    r#"/inner Some(" got here and there")"#,
                    r#"inner/inner_1 (Some(" got here"), Some(" got here and there got here and there"))"#,
                    r#"inner/inner_2 (Some(" and there"), None)"#,
                    r#"/inner Some(" got here and there got here and there got here and there")"#,
                ]
            );
            // LangGraph counts the empty thread before the input as well: 4. With `exit` it has 1: here what a kept flow knows
            // is written beside the barrier that it belongs to, never without it.
            let history = thread.history(HistoryQuery::all()).await.unwrap();
            assert_eq!(history.len(), checkpoints);
            lines
        });
    }
}

#[tokio::test]
async fn c84_a_subflow_that_is_not_stored_starts_from_defaults_each_time() {
    run_both!(Fresh, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        for _ in 0..2 {
            let outer = expect_finished(thread.run(String::new())).await;
            assert_eq!(outer.my_key, " got here and there got here and there");
        }
    });
}

#[tokio::test]
async fn c84_a_stored_subflow_is_stored_over_turns_and_per_thread() {
    run_both!(Kept, |launch| {
        let threads = launch.store(&InMemoryStore::new());
        let one = expect_finished(threads.thread("one").run(String::new())).await;
        let again = expect_finished(threads.thread("one").run(String::new())).await;
        assert!(again.my_key.len() > one.my_key.len() && again.my_key.starts_with(&one.my_key));
        let two = expect_finished(threads.thread("two").run(String::new())).await;
        assert_eq!(two, one);
        again
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Rounds {
    #[key(input)]
    name: String,
    #[key(sum)]
    n: u32,
}

#[node(Rounds)]
async fn counts() -> RoundsN {
    RoundsN(1)
}

flow!(CountOne(Rounds) { counts });

flow_and_graph! {
    Namespaces(Log) {
        node first: CountOne { in: || "first".to_string(), out: |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)]), keep: thread };
        node second: CountOne { in: || "second".to_string(), out: |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)]), keep: thread };
        START -> first & second;
        first -> i;
    }
    nodes:
        first = |b| b.subflow("first", CountOne, |_: &Log| "first".to_string().into(), |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)])).keep_thread("first"),
        second = |b| b.subflow("second", CountOne, |_: &Log| "second".to_string().into(), |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)])).keep_thread("second"),
        i
}

#[tokio::test]
async fn c84_two_nodes_of_one_flow_have_two_states() {
    run_both!(Namespaces, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list([]))).await;
        let log = expect_finished(thread.run(list([]))).await;
        assert_eq!(
            log.xs,
            ["first 1", "second 1", "i", "first 2", "second 2", "i"]
        );
        log
    });
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Ask for Go {
    type Answer = String;
    const NAME: &'static str = "go";
}

#[node(Rounds)]
async fn asks(cx: Context, trace: Managed<Trace>) -> petalflow::Result<RoundsName> {
    trace.record("asks");
    Ok(RoundsName(cx.ask(Go).await?))
}

flow!(CountAndAsk(Rounds) { counts -> asks });

flow_and_graph! {
    Asking(Log) {
        node inner: CountAndAsk { in: || String::new(), out: |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)]) };
        i -> inner -> j;
    }
    nodes: i, j, inner = |b| b.subflow("inner", CountAndAsk, |_: &Log| String::new().into(), |r: Rounds| LogXs(vec![format!("{} {}", r.name, r.n)]))
}

#[tokio::test]
async fn c84_a_resume_continues_inside_a_subflow_that_is_not_stored() {
    run_both!(Asking, |launch| {
        let trace = Trace::default();
        let thread = launch
            .manage(trace.clone())
            .store(&InMemoryStore::new())
            .thread("t");
        assert_eq!(thread.run(list([])).await.unwrap().interrupts().len(), 1);
        let log = expect_finished(thread.answer::<Go>("Done".into())).await;
        assert_eq!(log.xs, ["i", "Done 1", "j"]);
        assert_eq!(thread.run(list([])).await.unwrap().interrupts().len(), 1);
        let log = expect_finished(thread.answer::<Go>("Again".into())).await;
        assert_eq!(
            log.xs[3..],
            ["i", "Again 1", "j"],
            "nothing is left of the time before"
        );
        assert_eq!(trace.count("asks"), 4);
        log
    });
}

#[tokio::test]
async fn c86_a_managed_value_that_is_missing_at_a_resume_is_named_before_anything_runs() {
    run_both!(Asking, |launch| {
        let store = InMemoryStore::new();
        let thread = launch
            .clone()
            .manage(Trace::default())
            .store(&store)
            .thread("t");
        assert_eq!(thread.run(list([])).await.unwrap().interrupts().len(), 1);
        let bare = launch.store(&store).thread("t");
        let error = bare.resume(()).await.unwrap_err();
        assert_contains(&error, "managed value");
        assert!(
            matches!(error.kind(), RunErrorKind::MissingManaged(names) if names[0].ends_with("Trace"))
        );
        assert_eq!(
            bare.snapshot().await.unwrap().unwrap().interrupts.len(),
            1,
            "it waits as before"
        );
        error.to_string()
    });
}

#[derive(Route)]
enum Next {
    NodeBParent,
    J,
}

#[node(Log)]
async fn child_a() -> LogXs {
    LogXs(list(["a_child_state"]))
}

#[node(Log)]
async fn child_b() -> LogXs {
    LogXs(list(["b_child_state"]))
}

#[node(Log)]
async fn node_b_parent() -> LogXs {
    LogXs(list(["node_b_parent"]))
}

flow!(Child(Log) { child_a -> child_b });

fn log_and_next(log: Log) -> (LogXs, Next) {
    let next = if log.xs.is_empty() {
        Next::J
    } else {
        Next::NodeBParent
    };
    (LogXs(log.xs.last().cloned().into_iter().collect()), next)
}

flow_and_graph! {
    Onwards(Log) {
        node child: Child { in: || Vec::new(), out: |log: Log| -> (LogXs, Next) { log_and_next(log) } };
        child -> node_b_parent | j;
    }
    nodes: node_b_parent, j, child = |b| b.subflow("child", Child, |_: &Log| Vec::new().into(), log_and_next)
}

#[tokio::test]
async fn c83_the_out_mapping_chooses_the_route_of_the_parent() {
    // In LangGraph a node inside sends the parent elsewhere, and what the flow inside had written is lost.
    run_both!(Onwards, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let log = expect_finished(thread.run(list(["init_state"]))).await;
        assert_eq!(log.xs, ["init_state", "b_child_state", "node_b_parent"]);
        log
    });
}
