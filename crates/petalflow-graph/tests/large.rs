//! The analyses are fast on large graphs.

use std::time::Instant;

use petalflow_graph::{
    Analysis, Edge, Graph, JoinIdx, Node, NodeIdx, Routes, Source, Target, Via, check_with, explore,
};

fn graph(nodes: usize, edges: Vec<Edge>) -> Graph {
    let joins = edges
        .iter()
        .filter_map(|edge| {
            if let Target::Join(join) = edge.to {
                Some(join.as_u32() + 1)
            } else {
                None
            }
        })
        .max();
    Graph {
        nodes: (0..nodes)
            .map(|node| Node::named(format!("n{node}")))
            .collect(),
        edges: edges.into(),
        joins: joins.unwrap_or(0),
    }
}

fn plain(from: Source, to: Target) -> Edge {
    Edge {
        from,
        via: Via::Plain,
        to,
    }
}

fn route(from: usize, name: &'static str, to: Target) -> Edge {
    Edge {
        from: Source::Node(NodeIdx::from_usize(from)),
        via: Via::Route(name.into()),
        to,
    }
}

fn node(node: usize) -> Target {
    Target::Node(NodeIdx::from_usize(node))
}

fn from(node: usize) -> Source {
    Source::Node(NodeIdx::from_usize(node))
}

/// The work of the macro on a graph. Prints the time with `--nocapture`.
fn analyse(name: &str, graph: &Graph) -> Analysis {
    let begun = Instant::now();
    let analysis = Analysis::of(graph);
    let explored = begun.elapsed();
    let begun = Instant::now();
    let diagnostics = check_with(graph, &analysis.declared);
    let checked = begun.elapsed();
    let states = analysis
        .declared
        .frontiers
        .as_ref()
        .map(|frontiers| frontiers.view().states());
    eprintln!(
        "{name}: explored in {explored:?}, checked in {checked:?}, exact: {}, states: {states:?}",
        analysis.declared.exact
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    analysis
}

#[test]
fn a_chain_of_a_thousand_nodes() {
    let mut edges = vec![plain(Source::Start, node(0))];
    edges.extend((1..1000).map(|to| plain(from(to - 1), node(to))));
    let analysis = analyse("chain of 1000", &graph(1000, edges));
    assert_eq!(analysis.declared.frontiers.unwrap().offsets.len(), 1003);
    assert!(analysis.together.ranges.is_empty());
}

#[test]
fn a_fork_of_four_hundred_nodes_and_their_join() {
    let mut edges = vec![plain(Source::Start, node(0))];
    for arm in 1..=400 {
        edges.push(plain(from(0), node(arm)));
        edges.push(plain(from(arm), Target::Join(JoinIdx::new(0))));
    }
    edges.push(plain(Source::Join(JoinIdx::new(0)), node(401)));
    let analysis = analyse("fork of 400", &graph(402, edges));
    assert!(analysis.declared.exact);
    assert_eq!(analysis.together.ranges.len(), 399);
}

#[test]
fn a_fork_of_sixteen_nodes_that_choose() {
    let mut edges = Vec::new();
    for arm in 0..16 {
        edges.push(plain(Source::Start, node(arm)));
        edges.push(route(arm, "Again", node(arm)));
        edges.push(route(arm, "Done", node(16)));
    }
    // 2^16 states: the pairs decide, exactly so without joins.
    let analysis = analyse("fork of 16 loops", &graph(17, edges));
    assert!(
        !analysis.declared.exact
            && analysis
                .declared
                .pairs
                .contains(NodeIdx::new(0), NodeIdx::new(16))
            && analysis.declared.stuck.is_empty()
    );
    let mut edges = Vec::new();
    for arm in 0..16 {
        edges.push(plain(Source::Start, node(arm)));
        edges.push(route(arm, "Left", node(16)));
        edges.push(route(arm, "Right", node(17)));
    }
    assert!(
        analyse("fork of 16 routes", &graph(18, edges))
            .declared
            .exact
    );
}

#[test]
fn a_fork_too_large_to_explore_may_join_in_step() {
    let mut edges = Vec::new();
    for arm in 0..16 {
        edges.push(plain(Source::Start, node(arm)));
        edges.push(route(arm, "Again", node(arm)));
        edges.push(route(arm, "Done", node(16)));
    }
    edges.extend([
        plain(from(16), node(17)),
        plain(from(16), node(18)),
        plain(from(17), Target::Join(JoinIdx::new(0))),
        plain(from(18), Target::Join(JoinIdx::new(0))),
        plain(Source::Join(JoinIdx::new(0)), node(19)),
    ]);
    assert!(
        !analyse("fork of 16 loops with a join", &graph(20, edges))
            .declared
            .exact
    );
}

#[test]
fn a_router_of_four_hundred_ways_and_back() {
    let mut edges = vec![plain(Source::Start, node(0)), route(0, "Done", Target::End)];
    for way in 1..=400 {
        let name: &'static str = format!("Way{way}").leak();
        edges.push(route(0, name, node(way)));
        edges.push(plain(from(way), node(0)));
    }
    assert!(analyse("router of 400", &graph(401, edges)).declared.exact);
}

#[test]
fn three_rings_of_coprime_lengths() {
    let mut edges = Vec::new();
    let mut first = 0;
    for length in [97, 101, 103] {
        edges.push(plain(Source::Start, node(first)));
        edges.extend((first + 1..first + length).map(|to| plain(from(to - 1), node(to))));
        edges.push(route(first + length - 1, "Again", node(first)));
        edges.push(route(first + length - 1, "Done", Target::End));
        first += length;
    }
    assert!(!analyse("three rings", &graph(first, edges)).declared.exact);
}

/// A few loops side by side that each pass over a number of nodes: close to as many states as are explored.
#[test]
fn loops_of_some_thousand_states() {
    let mut edges = Vec::new();
    for ring in 0..3 {
        let first = ring * 20;
        edges.push(plain(Source::Start, node(first)));
        edges.extend((first + 1..first + 20).map(|to| plain(from(to - 1), node(to))));
        edges.push(route(first + 19, "Again", node(first + ring)));
        edges.push(route(first + 19, "Done", Target::End));
    }
    assert!(
        analyse("three rings of 20", &graph(60, edges))
            .declared
            .exact
    );
}

#[test]
fn a_long_fork_of_caught_nodes() {
    let mut edges = Vec::new();
    for arm in 0..100 {
        edges.push(plain(Source::Start, node(arm)));
        edges.push(plain(from(arm), node(100)));
        edges.push(Edge {
            from: from(arm),
            via: Via::Catch,
            to: node(101),
        });
    }
    let graph = graph(102, edges);
    assert!(explore(&graph, Routes::AsDeclared).exact);
    analyse("fork of 100 caught", &graph);
}
