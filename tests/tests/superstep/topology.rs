//! Edges, joins and routes: what runs after what.

use std::collections::BTreeMap;

use petalflow::prelude::*;

use crate::support::{Log, LogXs, Trace, appending, assert_log, flow_and_graph, list, run_both};

appending!(a b b2 c d e node1 node2);

flow_and_graph! { PlainEdges(Log) { START -> a & b; b -> b2; a -> d; b2 -> d; } nodes: a, b, b2, d }
flow_and_graph! { Joined(Log) { START -> a & b; b -> b2; a & b2 -> d; } nodes: a, b, b2, d }
flow_and_graph! { Deferred(Log) { START -> a & b; b -> b2; a -> d; b2 -> d; defer d; } nodes: a, b, b2, d }

#[tokio::test]
async fn c25_a_plain_edge_fires_on_any_predecessor() {
    assert_log!(PlainEdges, ["a", "b", "b2", "d", "d"]);
}

#[tokio::test]
async fn c25_a_join_and_a_deferred_node_run_once_after_uneven_arms() {
    assert_log!(Joined, ["a", "b", "b2", "d"]);
    assert_log!(Deferred, ["a", "b", "b2", "d"]);
}

/// The retrieval flow of `LangGraph`'s tests.
#[state]
#[derive(Debug, PartialEq)]
#[allow(clippy::struct_field_names, reason = "named as in the case")]
struct Query {
    #[key(input)]
    query: String,
    #[key(reduce = sorted_concat)]
    docs: Vec<String>,
    #[key(default)]
    answer: String,
}

fn sorted_concat(current: &mut Vec<String>, written: Vec<String>) {
    current.extend(written);
    current.sort();
}

#[node(Query)]
async fn rewrite(query: &str) -> QueryQuery {
    QueryQuery(format!("query: {query}"))
}

#[node(Query)]
async fn analyzer(query: &str) -> QueryQuery {
    QueryQuery(format!("analyzed: {query}"))
}

#[node(Query)]
async fn retriever_one() -> QueryDocs {
    QueryDocs(list(["doc1", "doc2"]))
}

#[node(Query)]
async fn retriever_two() -> QueryDocs {
    QueryDocs(list(["doc3", "doc4"]))
}

#[node(Query)]
async fn qa(docs: &[String], trace: Managed<Trace>) -> QueryAnswer {
    trace.record("qa");
    QueryAnswer(docs.join(","))
}

flow_and_graph! {
    Retrieve(Query) {
        rewrite -> analyzer & retriever_two;
        analyzer -> retriever_one;
        retriever_one & retriever_two -> qa;
    }
    nodes: rewrite, analyzer, retriever_one, retriever_two, qa
}

flow_and_graph! {
    RetrieveDeferred(Query) {
        rewrite -> analyzer & retriever_two;
        analyzer -> retriever_one;
        retriever_one -> qa;
        retriever_two -> qa;
        defer qa;
    }
    nodes: rewrite, analyzer, retriever_one, retriever_two, qa
}

fn expected_query() -> Query {
    Query {
        query: "analyzed: query: what is weather in sf".into(),
        docs: list(["doc1", "doc2", "doc3", "doc4"]),
        answer: "doc1,doc2,doc3,doc4".into(),
    }
}

#[tokio::test]
async fn c26_a_join_waits_for_all_its_sides_over_supersteps() {
    let (query, qa) = run_both!(Retrieve, |launch| {
        let trace = Trace::default();
        let query = launch
            .manage(trace.clone())
            .run("what is weather in sf".to_string())
            .await
            .unwrap();
        (query, trace.count("qa"))
    });
    assert_eq!((query, qa), (expected_query(), 1));
}

#[tokio::test]
async fn c29_a_deferred_node_runs_when_no_other_task_is_left() {
    let (query, qa) = run_both!(RetrieveDeferred, |launch| {
        let trace = Trace::default();
        let query = launch
            .manage(trace.clone())
            .run("what is weather in sf".to_string())
            .await
            .unwrap();
        (query, trace.count("qa"))
    });
    assert_eq!((query, qa), (expected_query(), 1));
}

flow_and_graph! { JoinToEnd(Log) { START -> a & b; a & b -> END; } nodes: a, b }

#[tokio::test]
async fn c30_a_join_may_lead_to_the_end() {
    assert_log!(JoinToEnd, ["a", "b"]);
}

flow_and_graph! { JoinFork(Log) { START -> a & b; a & b -> c & d; c & d -> e; } nodes: a, b, c, d, e }

#[tokio::test]
async fn a_join_may_lead_to_a_fork() {
    assert_log!(JoinFork, ["a", "b", "c", "d", "e"]);
}

/// The number of remaining rounds.
#[state]
#[derive(Debug, PartialEq)]
struct Rounds {
    #[key(append)]
    xs: Vec<String>,
    #[key(sum)]
    n: u32,
}

macro_rules! rounds {
    ($($node:ident)*) => {$(
        #[node(Rounds)]
        async fn $node() -> RoundsXs {
            RoundsXs(list([stringify!($node)]))
        }
    )*};
}

rounds!(left right both);

#[node(Rounds)]
async fn again(n: &u32) -> (RoundsN, bool) {
    (RoundsN(1), *n < 2)
}

flow_and_graph! {
    Round(Rounds) { START -> again -> match { true => left & right, false => END }; left & right -> both; both -> again; }
    nodes: again, left, right, both
}

#[tokio::test]
async fn a_join_in_a_loop_starts_empty_each_round() {
    let rounds = run_both!(Round, |launch| launch.run(()).await.unwrap());
    assert_eq!(
        rounds.xs,
        ["left", "right", "both", "left", "right", "both"]
    );
}

/// The routes of `choose`: none, one or several at once.
#[derive(Route)]
enum Way {
    B,
    C,
    Stop,
}

#[node(Log)]
async fn twice_b() -> (LogXs, Vec<Way>) {
    (LogXs(list(["a"])), vec![Way::B, Way::B])
}

flow_and_graph! {
    Duplicate(Log) { twice_b -> match { B => b, C => c, Stop => END }; b -> d; c -> d; }
    nodes: twice_b, b, c, d
}

#[tokio::test]
async fn c33_a_target_chosen_twice_runs_once() {
    assert_log!(Duplicate, ["a", "b", "d"]);
}

#[node(Log)]
async fn b_and_stop() -> (LogXs, Vec<Way>) {
    (
        LogXs(list(["a"])),
        [Way::B, Way::C, Way::Stop]
            .into_iter()
            .filter(|way| !matches!(way, Way::C))
            .collect(),
    )
}

flow_and_graph! {
    BAndEnd(Log) { b_and_stop -> match { B => b, C => c, Stop => END }; }
    nodes: b_and_stop, b, c
}

#[tokio::test]
async fn c35_end_among_the_targets_ends_only_its_own_path() {
    assert_log!(BAndEnd, ["a", "b"]);
}

flow_and_graph! { EndBeside(Log) { node1 -> END; node1 -> node2; } nodes: node1, node2 }

#[tokio::test]
async fn c36_an_edge_to_end_beside_another_does_not_end_the_run() {
    // Eino ends the run here, with the output of node1.
    assert_log!(EndBeside, ["node1", "node2"]);
}

#[node(Log)]
async fn nowhere() -> (LogXs, Vec<Way>) {
    (LogXs(list(["a"])), vec![])
}

flow_and_graph! { Nowhere(Log) { nowhere -> match { B => b, C => c, Stop => END }; } nodes: nowhere, b, c }

#[tokio::test]
async fn g037_p067_no_target_just_ends_the_path() {
    assert_log!(Nowhere, ["a"]);
}

/// The result of each branch.
#[state]
#[derive(Debug, PartialEq)]
struct Made {
    #[key(merge)]
    map: BTreeMap<String, String>,
}

macro_rules! make {
    ($($node:ident $n:literal)*) => {$(
        #[node(Made)]
        async fn $node() -> MadeMap {
            MadeMap([($n.to_string(), $n.to_string())].into())
        }
    )*};
}

make!(make1 "1" make2 "2" make3 "3");

#[derive(Route)]
enum Branch {
    Make1,
    Make2,
    Make3,
}

#[node(Made)]
async fn one_and_three() -> Vec<Branch> {
    let all = [Branch::Make1, Branch::Make2, Branch::Make3];
    all.into_iter()
        .filter(|branch| !matches!(branch, Branch::Make2))
        .collect()
}

flow_and_graph! { Branches(Made) { one_and_three -> make1 | make2 | make3; } nodes: one_and_three, make1, make2, make3 }

#[tokio::test]
async fn c42_p066_many_branches() {
    let map = run_both!(Branches, |launch| launch.run(()).await.unwrap().map);
    assert_eq!(
        map,
        BTreeMap::from([("1".into(), "1".into()), ("3".into(), "3".into())])
    );
}

#[state]
#[derive(Debug, PartialEq)]
struct Counter {
    #[key(input, sum)]
    n: u32,
    #[key(default)]
    path: String,
}

#[node(Counter)]
async fn count_to_three(n: &u32) -> (CounterN, bool) {
    (CounterN(1), *n + 1 < 3)
}

flow_and_graph! { SelfLoop(Counter) { count_to_three -> match { true => count_to_three, false => END }; } nodes: count_to_three }

#[tokio::test]
async fn c37_a_gated_self_loop() {
    assert_eq!(
        run_both!(SelfLoop, |launch| launch.run(0).await.unwrap().n),
        3
    );
}

#[node(Counter)]
async fn add_one() -> CounterN {
    CounterN(1)
}

#[node(Counter)]
async fn add_ten() -> CounterN {
    CounterN(10)
}

#[node(Counter)]
async fn add_hundred() -> CounterN {
    CounterN(100)
}

flow_and_graph! { Linear(Counter) { add_one -> add_ten -> add_hundred; } nodes: add_one, add_ten, add_hundred }

#[derive(Route)]
enum Size {
    Small,
    Large,
}

#[node(Counter)]
async fn size(n: &u32) -> Size {
    if *n < 10 { Size::Small } else { Size::Large }
}

#[node(Counter)]
async fn small() -> CounterPath {
    CounterPath("small".into())
}

#[node(Counter)]
async fn large() -> CounterPath {
    CounterPath("large".into())
}

flow_and_graph! { Conditional(Counter) { size -> small | large; } nodes: size, small, large }

#[tokio::test]
async fn g016_linear_and_conditional_graphs_run() {
    assert_eq!(
        run_both!(Linear, |launch| launch.run(0).await.unwrap().n),
        111
    );
    assert_eq!(
        run_both!(Conditional, |launch| launch.run(9).await.unwrap().path),
        "small"
    );
    assert_eq!(
        run_both!(Conditional, |launch| launch.run(10).await.unwrap().path),
        "large"
    );
}

/// A route whose variants carry what the target needs.
#[derive(Route)]
enum Found {
    Nothing,
    One(String),
    Several(Vec<String>),
}

#[node(Counter)]
async fn look(n: &u32) -> Found {
    match n {
        0 => Found::Nothing,
        1 => Found::One("rose".into()),
        n => Found::Several((0..*n).map(|i| format!("petal {i}")).collect()),
    }
}

#[node(Counter)]
async fn take_one(#[item] name: &String) -> CounterPath {
    CounterPath(name.clone())
}

#[node(Counter)]
async fn dig(#[item] name: &String, trace: Managed<Trace>) -> CounterN {
    trace.record(name.clone());
    CounterN(100)
}

flow_and_graph! {
    Payload(Counter) { look -> match { Nothing => END, One => take_one, Several => each dig }; dig -> large; }
    nodes: look, take_one, dig, large
}

#[tokio::test]
async fn a_route_delivers_its_payload() {
    let run = |n| async move {
        run_both!(Payload, |launch| {
            let trace = Trace::default();
            (
                launch.manage(trace.clone()).run(n).await.unwrap(),
                trace.all(),
            )
        })
    };
    assert_eq!(
        run(0).await,
        (
            Counter {
                n: 0,
                path: String::new()
            },
            vec![]
        )
    );
    assert_eq!(
        run(1).await,
        (
            Counter {
                n: 1,
                path: "rose".into()
            },
            vec![]
        )
    );
    assert_eq!(
        run(3).await,
        (
            Counter {
                n: 303,
                path: "large".into()
            },
            list(["petal 0", "petal 1", "petal 2"])
        )
    );
}

/// The contents of a command in agentmesh, as one return type: the writes, the failure, the route.
#[derive(Route)]
enum To {
    Large,
    Done,
}

#[node(Counter)]
async fn command(n: &u32) -> petalflow::Result<(CounterN, Option<CounterPath>, To)> {
    match n {
        0 => Ok((CounterN(1), None, To::Done)),
        1 => Ok((CounterN(1), Some(CounterPath("replied".into())), To::Large)),
        _ => Err("failed".into()),
    }
}

flow_and_graph! { Command(Counter) { command -> match { Large => add_ten, Done => END }; } nodes: command, add_ten }

#[tokio::test]
async fn g015_the_return_value_decides_whether_a_node_writes_routes_ends_or_fails() {
    let run = |n| async move {
        run_both!(Command, |launch| launch
            .run(n)
            .await
            .map_err(|error| error.to_string()))
    };
    assert_eq!(
        run(0).await,
        Ok(Counter {
            n: 1,
            path: String::new()
        })
    );
    assert_eq!(
        run(1).await,
        Ok(Counter {
            n: 12,
            path: "replied".into()
        })
    );
    assert_eq!(
        run(2).await,
        Err("node `command` failed in superstep 1: failed".into())
    );
}

#[node(Log)]
async fn until_three(xs: &[String]) -> (LogXs, Vec<Branch>) {
    let branches = match xs.len() {
        0 => vec![Branch::Make1],
        1 => vec![Branch::Make2, Branch::Make3],
        _ => vec![],
    };
    (LogXs(vec!["again".into()]), branches)
}

flow_and_graph! { Loops(Log) { START -> until_three; until_three -> match { Make1 => until_three, Make2 => until_three, Make3 => until_three }; } nodes: until_three }

#[tokio::test]
async fn pf010_a_loop_ends_when_a_node_picks_no_route() {
    assert_log!(Loops, ["again", "again", "again"]);
}
