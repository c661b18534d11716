//! Flows as nodes of flows.

use std::time::Duration;

use petalflow::NodeError;
use petalflow::error::FailureKind;
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind, TimeoutScope};
use tokio::time::sleep;

use crate::support::{
    Log, LogInput, LogXs, Trace, appending, assert_log, expect_error, expect_stopped,
    flow_and_graph, kind, list, run_both, with_token,
};

appending!(i quick after);

/// The state of the subflow; `xs` has the same name and reducer as in the parent.
#[state]
#[derive(Debug, PartialEq)]
struct Inner {
    #[key(input, append)]
    xs: Vec<String>,
    #[key(sum)]
    rounds: u32,
}

#[node(Inner)]
async fn s1(xs: &[String]) -> InnerXs {
    InnerXs(vec![format!("s1 after {}", xs.len())])
}

#[node(Inner)]
async fn s2(trace: Managed<Trace>, cx: Context) -> InnerXs {
    trace.record(format!(
        "{} in `{}` at {}",
        cx.node(),
        cx.namespace(),
        cx.superstep()
    ));
    InnerXs(list(["s2"]))
}

flow! { Shared(Inner) { s1 -> s2; } }

flow_and_graph! {
    SharesAList(Log) {
        node delta: Shared { in: |xs: &[String]| InnerInput { xs: xs.to_vec() }, out: |inner: Inner| LogXs(inner.xs[2..].to_vec()) };
        i -> quick -> delta -> after;
    }
    nodes:
        i, quick, after,
        delta = |b| b.subflow("delta", Shared, |log: &Log| InnerInput { xs: log.xs.clone() }, |inner: Inner| LogXs(inner.xs[2..].to_vec()))
}

#[tokio::test]
async fn c82_c85_g052_g053_g054_peers_only_the_result_of_out_reaches_the_parent() {
    // LangGraph merges the child's whole list into the parent's: ["i","quick","i","quick","s1","s2!"].
    // agentmesh filters keys by the prefix of their names, and a write elsewhere fails while it runs (even a Reply, G054). Here
    // the flow inside has a state of its own type: what it is not handed it cannot read, and what is not its own key does not
    // compile.
    let (xs, trace_lines) = run_both!(SharesAList, |launch| {
        let trace = Trace::default();
        (
            launch.manage(trace.clone()).run(vec![]).await.unwrap().xs,
            trace.all(),
        )
    });
    assert_eq!(xs, ["i", "quick", "s1 after 2", "s2", "after"]);
    assert_eq!(
        trace_lines,
        ["s2 in `delta` at 2"],
        "supersteps of its own, under the name of its node, with the parent's managed values"
    );
}

#[tokio::test]
async fn g077_a_subflow_takes_one_superstep_of_its_parent() {
    let limit = |limit| async move {
        run_both!(SharesAList, |launch| launch
            .limit(limit)
            .manage(Trace::default())
            .run(vec![])
            .await
            .is_ok())
    };
    assert!(
        limit(4).await,
        "four supersteps, whatever the flow inside takes"
    );
    assert!(!limit(3).await);
}

#[tokio::test]
async fn g078_after_a_subflow_its_targets_run() {
    // agentmesh's sub-graph command names no next node, so the parent stops there.
    assert_eq!(
        run_both!(SharesAList, |launch| launch
            .manage(Trace::default())
            .run(vec![])
            .await
            .unwrap()
            .xs)
        .last()
        .unwrap(),
        "after"
    );
}

#[tokio::test]
async fn the_values_a_subflow_needs_are_checked_before_the_first_node_runs() {
    assert!(
        matches!(run_both!(SharesAList, |launch| kind(launch.run(vec![]).await)), RunErrorKind::MissingManaged(names) if names.len() == 1)
    );
}

#[node(Inner)]
async fn fails() -> petalflow::Result<()> {
    Err("deep trouble".into())
}

flow! { Failing(Inner) { s1 -> fails; } }

flow_and_graph! {
    Fails(Log) {
        node sub: Failing { in: |xs: &[String]| InnerInput { xs: xs.to_vec() }, out: |_inner: Inner| () };
        i -> sub -> after;
    }
    nodes: i, after, sub = |b| b.subflow("sub", Failing, |log: &Log| InnerInput { xs: log.xs.clone() }, |_: Inner| ())
}

#[tokio::test]
async fn g077_a_failure_inside_fails_the_node() {
    let (kind, text, xs) = run_both!(Fails, |launch| {
        let error = expect_error(launch.run(vec![]).await);
        (
            error.kind().clone(),
            error.to_string(),
            error.state::<Log>().unwrap().xs.clone(),
        )
    });
    let RunErrorKind::Node(error) = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(
        (error.node.as_str(), error.superstep, error.kind),
        ("sub", 2, FailureKind::Error)
    );
    assert_eq!(
        text,
        "node `sub` failed in superstep 2: node `fails` of `sub` failed in superstep 2: deep trouble"
    );
    assert_eq!(xs, ["i"]);
}

#[node(Log)]
async fn handle(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![format!("handled {}", failure.node)])
}

flow_and_graph! {
    Catches(Log) {
        node sub: Failing { in: |xs: &[String]| InnerInput { xs: xs.to_vec() }, out: |_inner: Inner| () };
        i -> sub -> after;
        catch sub -> handle;
    }
    nodes: i, after, handle, sub = |b| b.subflow("sub", Failing, |log: &Log| InnerInput { xs: log.xs.clone() }, |_: Inner| ())
}

#[tokio::test]
async fn c59_a_failure_inside_can_be_caught_outside() {
    assert_log!(Catches, ["i", "handled sub"]);
}

#[node(Inner)]
async fn again() -> (InnerRounds, bool) {
    (InnerRounds(1), true)
}

flow! { Endless(Inner) { again -> match { true => again, false => END }; } }

flow_and_graph! {
    OwnLimit(Log) {
        node sub: Endless { in: || InnerInput { xs: vec![] }, out: |_inner: Inner| () };
        i -> sub;
    }
    nodes: i, sub = |b| b.subflow("sub", Endless, |_: &Log| InnerInput { xs: vec![] }, |_: Inner| ())
}

#[tokio::test]
async fn the_limit_of_a_launch_applies_to_each_subflow() {
    let at = |limit: Option<u64>| async move {
        run_both!(OwnLimit, |launch| {
            let launch = match limit {
                Some(limit) => launch.limit(limit),
                None => launch,
            };
            expect_error(launch.run(vec![]).await).to_string()
        })
    };
    for (limit, supersteps) in [(None, 100), (Some(1_000), 1_000), (Some(5), 5)] {
        assert_eq!(
            at(limit).await,
            format!(
                "node `sub` failed in superstep 2: `Endless` did not end within {supersteps} supersteps (next: `again`); raise it with `.limit(..)` if the loop is meant to be that long"
            )
        );
    }
}

#[node(Inner)]
async fn many_times(rounds: &u32) -> (InnerRounds, bool) {
    (InnerRounds(1), *rounds < 499)
}

flow! { FiveHundred(Inner) { many_times -> match { true => many_times, false => END }; } }

flow_and_graph! {
    RaisedLimit(Log) {
        node sub: FiveHundred { in: || InnerInput { xs: vec![] }, out: |inner: Inner| LogXs(vec![inner.rounds.to_string()]) };
        i -> sub;
    }
    nodes: i, sub = |b| b.subflow("sub", FiveHundred, |_: &Log| InnerInput { xs: vec![] }, |inner: Inner| LogXs(vec![inner.rounds.to_string()]))
}

#[tokio::test]
async fn a_raised_limit_lets_a_long_subflow_end() {
    let xs = run_both!(RaisedLimit, |launch| launch
        .limit(500)
        .run(vec![])
        .await
        .unwrap()
        .xs);
    assert_eq!(xs, ["i", "500"]);
}

#[node(Inner)]
async fn waits(trace: Managed<Trace>) {
    let _guard = trace.guard("inside");
    sleep(Duration::from_secs(1)).await;
    trace.record("ran on");
}

flow! { Waiting(Inner) { waits -> s1; } }

flow_and_graph! {
    Waits(Log) {
        node sub: Waiting { in: || InnerInput { xs: vec![] }, out: |_inner: Inner| () };
        i -> sub & quick;
    }
    nodes: i, quick, sub = |b| b.subflow("sub", Waiting, |_: &Log| InnerInput { xs: vec![] }, |_: Inner| ())
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_run_cancels_its_subflows() {
    let run = run_both!(Waits, |launch| {
        let (trace, token) = (Trace::default(), CancelToken::new());
        let run = tokio::spawn(launch.manage(trace.clone()).cancel_with(&token).run(vec![]));
        sleep(Duration::from_millis(10)).await;
        token.cancel();
        let kind = kind(run.await.unwrap());
        sleep(Duration::from_secs(5)).await;
        (kind, trace.all())
    });
    assert_eq!(run, (RunErrorKind::Cancelled, list(["dropped inside"])));
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_applies_to_subflows() {
    let run = run_both!(Waits, |launch| {
        let trace = Trace::default();
        let kind = kind(
            launch
                .manage(trace.clone())
                .timeout(Duration::from_millis(500))
                .run(vec![])
                .await,
        );
        (kind, trace.all())
    });
    assert_eq!(
        run,
        (
            RunErrorKind::Timeout {
                scope: TimeoutScope::Run
            },
            list(["dropped inside"])
        )
    );
}

#[node(Inner)]
async fn drains(token: Managed<CancelToken>) {
    token.drain();
}

flow! { DrainInside(Inner) { drains -> s1; } }

flow_and_graph! {
    Drains(Log) {
        node sub: DrainInside { in: || InnerInput { xs: vec![] }, out: |inner: Inner| LogXs(inner.xs) };
        i -> sub -> after;
    }
    nodes: i, after, sub = |b| b.subflow("sub", DrainInside, |_: &Log| InnerInput { xs: vec![] }, |inner: Inner| LogXs(inner.xs))
}

#[tokio::test]
async fn c61_a_drain_lets_a_subflow_finish_the_superstep_of_its_parent() {
    let run = run_both!(Drains, |launch| expect_stopped(with_token(launch).await));
    assert_eq!(
        run,
        (
            RunErrorKind::Drained {
                next: list(["after"])
            },
            list(["i", "s1 after 0"])
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_due_to_cancellation_is_neither_caught_nor_retried() {
    let (trace, token) = (Trace::default(), CancelToken::new());
    let retry = petalflow::policy::Policy {
        retry: const { &[petalflow::policy::Retry::attempts(3)] },
        ..petalflow::policy::Policy::NONE
    };
    let graph = Graph::<Log>::builder("g")
        .subflow(
            "sub",
            Waiting,
            |_: &Log| InnerInput { xs: vec![] },
            |_: Inner| (),
        )
        .node(quick {})
        .node(handle {})
        .edge(START, "sub")
        .edge(START, "quick")
        .catch("sub", "handle")
        .with("sub", retry)
        .build()
        .unwrap();
    let run = tokio::spawn(
        graph
            .launch()
            .manage(trace.clone())
            .cancel_with(&token)
            .run(vec![]),
    );
    sleep(Duration::from_millis(10)).await;
    token.cancel();
    assert_eq!(kind(run.await.unwrap()), RunErrorKind::Cancelled);
    assert_eq!(trace.all(), ["dropped inside"]);
}

/// A flow in a flow in a flow.
#[state]
#[derive(Debug, PartialEq)]
struct Middle {
    #[key(append)]
    xs: Vec<String>,
}

#[node(Middle)]
async fn m() -> MiddleXs {
    MiddleXs(list(["m"]))
}

flow! {
    Between(Middle) {
        node deep: Shared { in: |xs: &[String]| InnerInput { xs: xs.to_vec() }, out: |inner: Inner| MiddleXs(inner.xs) };
        m -> deep;
    }
}

flow_and_graph! {
    Deep(Log) {
        node mid: Between { in: || MiddleInput {}, out: |middle: Middle| LogXs(middle.xs) };
        i -> mid;
    }
    nodes: i, mid = |b| b.subflow("mid", Between, |_: &Log| MiddleInput {}, |middle: Middle| LogXs(middle.xs))
}

#[tokio::test]
async fn events_of_nested_flows_come_under_their_namespace() {
    let (lines, xs) = run_both!(Deep, |launch| {
        let mut events = launch.manage(Trace::default()).run(vec![]).events();
        let (mut lines, mut xs) = (Vec::new(), Vec::new());
        while let Some(event) = events.next().await {
            let kind = match (event.nested::<Middle>(), event.nested::<Inner>()) {
                (Some(event), None) => event.kind.name(),
                (None, Some(event)) => event.kind.name(),
                _ => event.kind.name(),
            };
            lines.push(format!(
                "{} {} {} {kind}",
                event.namespace,
                event.superstep,
                event.node().unwrap_or("-")
            ));
            if let EventKind::Finished { state } = event.kind {
                xs = state.xs;
            }
        }
        (lines, xs)
    });
    let expected = [
        " 0 - run_started",
        " 1 - superstep_started",
        " 1 i node_started",
        " 1 i node_finished",
        " 1 - superstep_finished",
        " 2 - superstep_started",
        " 2 mid node_started",
        "mid 0 - run_started",
        "mid 1 - superstep_started",
        "mid 1 m node_started",
        "mid 1 m node_finished",
        "mid 1 - superstep_finished",
        "mid 2 - superstep_started",
        "mid 2 deep node_started",
        "mid/deep 0 - run_started",
        "mid/deep 1 - superstep_started",
        "mid/deep 1 s1 node_started",
        "mid/deep 1 s1 node_finished",
        "mid/deep 1 - superstep_finished",
        "mid/deep 2 - superstep_started",
        "mid/deep 2 s2 node_started",
        "mid/deep 2 s2 node_finished",
        "mid/deep 2 - superstep_finished",
        "mid 2 deep node_finished",
        "mid 2 - superstep_finished",
        " 2 mid node_finished",
        " 2 - superstep_finished",
        " 2 - finished",
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        xs,
        ["i", "m", "m", "s1 after 1", "s2"],
        "`Between` handed its list in and took all of it back"
    );
}

#[state]
#[derive(Debug, PartialEq)]
struct Digs {
    #[key(append)]
    found: Vec<String>,
}

#[node(Digs)]
async fn places() -> Each<String> {
    Each(list(["here", "there"]))
}

#[state]
#[derive(Debug, PartialEq)]
struct Dig {
    #[key(input)]
    place: String,
    #[key(default)]
    treasure: String,
}

#[node(Dig)]
async fn dig(place: &str, cx: Context) -> DigTreasure {
    DigTreasure(format!("gold {place} in {}", cx.namespace()))
}

flow! { DigOne(Dig) { dig } }

flow! {
    DigAll(Digs) {
        node one: DigOne { in: |#[item] place: &String| DigInput { place: place.clone() }, out: |dig: Dig| DigsFound(vec![dig.treasure]) };
        places -> each one;
    }
}

#[tokio::test]
async fn a_subflow_may_be_the_target_of_each() {
    assert_eq!(
        DigAll::run(()).await.unwrap().found,
        ["gold here in one[0]", "gold there in one[1]"]
    );
}

#[tokio::test]
async fn c84_a_subflow_starts_from_defaults_each_time() {
    let xs = run_both!(TwoRounds, |launch| launch.run(vec![]).await.unwrap().xs);
    assert_eq!(xs, ["1 rounds", "1 rounds", "1 rounds"]);
}

#[node(Inner)]
async fn one_round() -> InnerRounds {
    InnerRounds(1)
}

#[node(Log)]
async fn more(xs: &[String]) -> bool {
    xs.len() < 3
}

flow! { OneRound(Inner) { one_round } }

flow_and_graph! {
    TwoRounds(Log) {
        node sub: OneRound { in: || InnerInput { xs: vec![] }, out: |inner: Inner| LogXs(vec![format!("{} rounds", inner.rounds)]) };
        START -> sub -> more -> match { true => sub, false => END };
    }
    nodes: more, sub = |b| b.subflow("sub", OneRound, |_: &Log| InnerInput { xs: vec![] }, |inner: Inner| LogXs(vec![format!("{} rounds", inner.rounds)]))
}

#[tokio::test]
async fn a_graph_may_be_a_node_of_a_graph() {
    let inner = Graph::<Inner>::builder("inner")
        .node(one_round {})
        .edge(START, "one_round")
        .build()
        .unwrap();
    let outer = Graph::<Log>::builder("outer")
        .subflow(
            "sub",
            inner,
            |log: &Log| InnerInput { xs: log.xs.clone() },
            |inner: Inner| (LogXs(inner.xs), inner.rounds > 1),
        )
        .node(after {})
        .edge(START, "sub")
        .route("sub", "true", END)
        .route("sub", "false", "after")
        .build()
        .unwrap();
    assert_eq!(
        outer.run(LogInput { xs: list(["x"]) }).await.unwrap().xs,
        ["x", "x", "after"],
        "`out` may choose a route"
    );
}

#[tokio::test]
async fn a_panic_of_in_or_out_is_a_failure_of_the_node() {
    let build = |at: &'static str| {
        Graph::<Log>::builder("outer")
            .subflow(
                "sub",
                OneRound,
                move |_: &Log| {
                    if at == "in" {
                        panic!("in `in`")
                    } else {
                        InnerInput { xs: vec![] }
                    }
                },
                move |_: Inner| assert!(at != "out", "in `out`"),
            )
            .edge(START, "sub")
            .build()
            .unwrap()
    };
    for at in ["in", "out"] {
        let error = expect_error(build(at).run(vec![]).await);
        assert_eq!(
            error.to_string(),
            format!("node `sub` failed in superstep 1: panicked: in `{at}`")
        );
    }
}
