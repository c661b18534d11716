//! Tests of the pure superstep: planning and committing, without a driver.

use petalflow_graph::{Edge, Graph, JoinIdx, Node, NodeIdx, RouteIdx, Source, Target, Via};

use super::{NoEdge, Outcome, Planner, Task, apply, commit_one, prepare};
use crate::delivery::Delivery;
use crate::erased::AnyEffects;
use crate::node::{Effects, Key, RouteChoice};
use crate::plan::{ExecutionPlan, NodeSpec};
use crate::policy::node_policy::NodePolicy;
use crate::prelude::*;
use crate::state::{KeySet, State};

const A: NodeIdx = NodeIdx::new(0);
const B: NodeIdx = NodeIdx::new(1);
const C: NodeIdx = NodeIdx::new(2);
const D: NodeIdx = NodeIdx::new(3);

fn edge(from: Source, via: Via, to: Target) -> Edge {
    Edge { from, via, to }
}

fn plain(from: NodeIdx, to: NodeIdx) -> Edge {
    edge(Source::Node(from), Via::Plain, Target::Node(to))
}

/// A plan of the nodes A, B, C and D. D takes an item, and A has the routes 0 and 1.
fn plan(deferred: &[NodeIdx], joins: u32, edges: Vec<Edge>) -> ExecutionPlan {
    let nodes: Vec<Node> = ["a", "b", "c", "d"]
        .iter()
        .enumerate()
        .map(|(index, name)| Node {
            deferred: deferred.contains(&NodeIdx::from_usize(index)),
            ..Node::named(*name)
        })
        .collect();
    let mut specs = vec![NodeSpec::NONE; nodes.len()];
    specs[A.index()].facts.routes = &["Left", "Right"];
    specs[D.index()].facts.takes_item = true;
    let policies = vec![NodePolicy::default(); nodes.len()];
    let graph = Graph {
        nodes: nodes.into(),
        edges: edges.into(),
        joins,
    };
    ExecutionPlan::new(graph, specs, policies)
}

fn done<'a>(
    chosen: RouteChoice,
    routes: &'a [RouteIdx],
    sends: &'a [(Option<RouteIdx>, Delivery)],
) -> Outcome<'a> {
    Outcome::Done {
        chosen,
        routes,
        sends,
    }
}

const DONE: Outcome<'static> = Outcome::Done {
    chosen: RouteChoice::Edges,
    routes: &[],
    sends: &[],
};

/// The next frontier, as pairs of a node and a send index.
fn advance(
    planner: &mut Planner,
    plan: &ExecutionPlan,
    outcomes: Vec<(NodeIdx, Outcome<'_>)>,
) -> Result<Vec<(NodeIdx, Option<u32>)>, NoEdge> {
    let mut frontier = Vec::new();
    planner.advance(plan, outcomes.into_iter(), &mut frontier)?;
    Ok(frontier.iter().map(|task| (task.node, task.send)).collect())
}

#[test]
fn the_frontier_is_in_the_order_of_the_nodes_and_holds_each_node_once() {
    let edges = vec![plain(A, C), plain(A, B), plain(B, C)];
    let plan = plan(&[], 0, edges);
    let mut planner = Planner::new(&plan);
    let next = advance(&mut planner, &plan, vec![(A, DONE), (B, DONE)]);
    assert_eq!(next, Ok(vec![(B, None), (C, None)]));
}

#[test]
fn the_first_frontier_follows_the_edges_from_start() {
    let entry = |node| edge(Source::Start, Via::Plain, Target::Node(node));
    let plan = plan(&[], 0, vec![entry(B), entry(A)]);
    let mut frontier: Vec<Task> = Vec::new();
    Planner::new(&plan).start(&plan, &mut frontier);
    let nodes: Vec<NodeIdx> = frontier.iter().map(|task| task.node).collect();
    assert_eq!(nodes, [A, B]);
}

#[test]
fn only_the_chosen_routes_fire() {
    let route =
        |name: &'static str, to| edge(Source::Node(A), Via::Route(name.into()), Target::Node(to));
    let plan = plan(&[], 0, vec![route("Left", B), route("Right", C)]);
    let mut planner = Planner::new(&plan);
    let one = done(RouteChoice::One(RouteIdx::new(1)), &[], &[]);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, one)]),
        Ok(vec![(C, None)])
    );
    let routes = [0, 1].map(RouteIdx::new);
    let both = done(RouteChoice::Many, &routes, &[]);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, both)]),
        Ok(vec![(B, None), (C, None)])
    );
    let none = done(RouteChoice::Many, &[], &[]);
    assert_eq!(advance(&mut planner, &plan, vec![(A, none)]), Ok(vec![]));
}

#[test]
fn each_payload_of_a_route_is_delivered_in_the_order_of_the_list() {
    let route =
        |name: &'static str| edge(Source::Node(A), Via::Route(name.into()), Target::Node(D));
    let plan = plan(&[], 0, vec![route("Left"), route("Right")]);
    let routes = [0, 1].map(RouteIdx::new);
    let [left, right] = routes;
    let sends = [(left, 1), (right, 2), (left, 3)]
        .map(|(route, payload)| (Some(route), Delivery::one(payload)));
    let both = done(RouteChoice::Many, &routes, &sends);
    let mut frontier: Vec<Task> = Vec::new();
    let planned = Planner::new(&plan).advance(&plan, [(A, both)].into_iter(), &mut frontier);
    assert_eq!(planned, Ok(()));
    let payload = |task: &Task| task.delivery.as_ref()?.get::<i32>(None).copied();
    let tasks: Vec<_> = frontier
        .iter()
        .map(|task| (task.node, task.send, payload(task)))
        .collect();
    let expected = [(0, 1), (1, 2), (2, 3)].map(|(send, payload)| (D, Some(send), Some(payload)));
    assert_eq!(tasks, expected);
}

#[test]
fn a_route_without_an_edge_is_an_error() {
    let plan = plan(&[], 0, vec![]);
    let mut planner = Planner::new(&plan);
    let chosen = done(RouteChoice::One(RouteIdx::new(0)), &[], &[]);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, chosen)]),
        Err(NoEdge {
            node: A,
            route: RouteIdx::new(0)
        })
    );
}

#[test]
fn a_join_fires_once_when_its_last_side_arrives() {
    let join = JoinIdx::new(0);
    let side = |from| edge(Source::Node(from), Via::Plain, Target::Join(join));
    let out = edge(Source::Join(join), Via::Plain, Target::Node(C));
    let plan = plan(&[], 1, vec![side(A), side(B), out]);
    let mut planner = Planner::new(&plan);
    assert_eq!(advance(&mut planner, &plan, vec![(A, DONE)]), Ok(vec![]));
    assert_eq!(planner.waiting().collect::<Vec<_>>(), [join]);
    assert_eq!(planner.arrived(join).collect::<Vec<_>>(), [0]);
    // A second arrival of the same side changes nothing.
    assert_eq!(advance(&mut planner, &plan, vec![(A, DONE)]), Ok(vec![]));
    assert_eq!(
        advance(&mut planner, &plan, vec![(B, DONE)]),
        Ok(vec![(C, None)])
    );
    assert_eq!(planner.waiting().count(), 0, "it is empty again");
}

#[test]
fn a_restored_join_keeps_its_arrivals() {
    let join = JoinIdx::new(0);
    let side = |from| edge(Source::Node(from), Via::Plain, Target::Join(join));
    let out = edge(Source::Join(join), Via::Plain, Target::Node(C));
    let plan = plan(&[], 1, vec![side(A), side(B), out]);
    let mut planner = Planner::new(&plan);
    planner.restore(Vec::new(), &[(join, 0)]);
    assert_eq!(
        advance(&mut planner, &plan, vec![(B, DONE)]),
        Ok(vec![(C, None)])
    );
}

#[test]
fn each_item_of_a_list_is_a_task_with_a_send_index() {
    let each = edge(Source::Node(A), Via::Each, Target::Node(D));
    let plan = plan(&[], 0, vec![each]);
    let mut planner = Planner::new(&plan);
    let sends = [(None, Delivery::list(vec![7, 8, 9]))];
    let outcome = done(RouteChoice::Edges, &[], &sends);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, outcome)]),
        Ok(vec![(D, Some(0)), (D, Some(1)), (D, Some(2))])
    );
}

#[test]
fn an_empty_list_fires_the_edges_of_its_target() {
    let each = edge(Source::Node(A), Via::Each, Target::Node(D));
    let plan = plan(&[], 0, vec![each, plain(D, B)]);
    let mut planner = Planner::new(&plan);
    let sends = [(None, Delivery::list(Vec::<u8>::new()))];
    let outcome = done(RouteChoice::Edges, &[], &sends);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, outcome)]),
        Ok(vec![(B, None)])
    );
}

#[test]
fn a_deferred_node_waits_until_nothing_else_is_active() {
    let plan = plan(&[C], 0, vec![plain(A, B), plain(A, C)]);
    let mut planner = Planner::new(&plan);
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, DONE)]),
        Ok(vec![(B, None)])
    );
    assert_eq!(planner.deferred().len(), 1);
    assert_eq!(
        advance(&mut planner, &plan, vec![(B, DONE)]),
        Ok(vec![(C, None)])
    );
}

#[test]
fn a_caught_failure_is_delivered_and_an_ignored_one_fires_the_plain_edges() {
    let plan = plan(&[], 0, vec![plain(A, B)]);
    let mut planner = Planner::new(&plan);
    let failure = Delivery::one("broken");
    let caught = Outcome::Caught {
        to: D,
        failure: &failure,
    };
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, caught)]),
        Ok(vec![(D, Some(0))])
    );
    assert_eq!(
        advance(&mut planner, &plan, vec![(A, Outcome::Plain)]),
        Ok(vec![(B, None)])
    );
}

#[state]
struct Report {
    title: String,
    #[key(append)]
    lines: Vec<String>,
    #[key(ephemeral)]
    signal: Option<u8>,
}

type Writes = Effects<Report>;

fn write<K: Key<State = Report>>(effects: &mut Writes, value: K::Value) {
    effects
        .update
        .add::<K>(value, false)
        .expect("the first write of a key is accepted");
}

fn lines(effects: &mut Writes, line: &str) {
    write::<ReportLines>(effects, vec![line.to_string()]);
}

fn start() -> Report {
    Report::start(().into()).unwrap().0
}

#[test]
fn writes_are_applied_in_the_order_of_the_tasks() {
    let mut state = start();
    let mut written = KeySet::NONE;
    let (mut first, mut second) = (Writes::default(), Writes::default());
    lines(&mut first, "first");
    lines(&mut second, "second");
    let overwritten =
        prepare(&state, KeySet::NONE, &[&first, &second]).expect("appends do not conflict");
    let effects: [&mut dyn AnyEffects; 2] = [&mut first, &mut second];
    apply(&mut state, &mut written, overwritten, effects.into_iter());
    assert_eq!(state.lines, ["first", "second"]);
    assert!(written.contains(1) && !written.contains(0));
}

#[test]
fn two_writes_of_a_key_without_a_reducer_are_refused_before_anything_changes() {
    let state = start();
    let (mut first, mut second) = (Writes::default(), Writes::default());
    for effects in [&mut first, &mut second] {
        write::<ReportTitle>(effects, "title".to_string());
    }
    let error =
        prepare(&state, KeySet::NONE, &[&first, &second]).expect_err("only one task may write it");
    assert_eq!(error.key, "title");
    assert!(first.update.written_any() && second.update.written_any());
}

#[test]
fn an_ephemeral_value_lasts_one_superstep() {
    let mut state = start();
    let mut written = KeySet::NONE;
    let mut effects = Writes::default();
    write::<ReportSignal>(&mut effects, Some(1));
    commit_one(&mut state, &mut written, &mut effects).expect("one write is accepted");
    assert_eq!(state.signal, Some(1));
    let mut effects = Writes::default();
    commit_one(&mut state, &mut written, &mut effects).expect("no write is accepted");
    assert_eq!(state.signal, None);
}
