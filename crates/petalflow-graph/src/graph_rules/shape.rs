//! PF001, PF003, PF004, PF008, PF014, PF026: the rules that need no analysis.

use std::collections::BTreeMap;

use super::cx::Cx;
use super::names;
use crate::diagnostic::{Diagnostic, Location};
use crate::edges::{choose, only_end};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::messages;
use crate::rule::Rule;

/// PF001: START has an edge.
pub(super) fn flow_has_a_first_node(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if cx.edges.start.is_empty() {
        let text = if cx.graph.edges.is_empty() {
            messages::empty()
        } else {
            let sources = sources(cx.graph);
            if let Some(misspelt) = misspelt(cx, &sources) {
                diagnostics.push(misspelt);
                return;
            }
            let names: Vec<&str> = sources.iter().map(|source| cx.name(*source)).collect();
            let used = cx.graph.node_indices().find(|&node| !cx.is_unused(node));
            let first = names.first().copied().or(used.map(|node| cx.name(node)));
            let first = first.unwrap_or("first");
            messages::no_start(&names, first)
        };
        diagnostics.push(Diagnostic::new(Rule::NoStart, Location::Graph, text));
    }
}

/// The nodes that have an edge, but none from another node.
fn sources(graph: &Graph) -> Vec<NodeIdx> {
    let mut has_edge = vec![false; graph.nodes.len()];
    let mut follows_another = vec![false; graph.nodes.len()];
    for edge in graph.edges() {
        if let Source::Node(from) = edge.from {
            has_edge[from.index()] = true;
        }
        if let Target::Node(to) = edge.to
            && edge.from != Source::Node(to)
        {
            follows_another[to.index()] = true;
        }
    }
    let is_source = |node: &NodeIdx| has_edge[node.index()] && !follows_another[node.index()];
    graph.node_indices().filter(is_source).collect()
}

/// If one of several possible first nodes has a name similar to that of a node where a path ends, a misspelled name has probably
/// cut the path.
fn misspelt(cx: &Cx<'_>, sources: &[NodeIdx]) -> Option<Diagnostic> {
    if sources.len() < 2 {
        return None;
    }
    let ends_there = |node: NodeIdx| {
        !cx.reach.into_node[node.index()].is_empty() && only_end(&cx.edges.nodes[node.index()])
    };
    sources.iter().find_map(|&node| {
        let similar = cx.similar(node, &ends_there)?;
        let text = messages::no_start_but_similar(cx.name(node), similar);
        Some(Diagnostic::new(Rule::NoStart, Location::Node(node), text))
    })
}

/// PF003: no two nodes have one name.
pub(super) fn node_names_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (second, first) in cx.graph.node_indices().zip(first_of_name(cx)) {
        if first == second {
            continue;
        }
        let text = messages::declared_twice(cx.name(second));
        diagnostics.push(
            Diagnostic::new(Rule::DuplicateNode, Location::Node(second), text)
                .with(Location::Node(first), messages::first_here()),
        );
    }
}

/// PF003: no two nodes have one name in checkpoints.
pub(super) fn stored_names_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut taken = BTreeMap::new();
    for node_idx in cx.graph.node_indices() {
        let node = cx.graph.node(node_idx);
        let first = *taken.entry(node.stored_name()).or_insert(node_idx);
        let other = cx.graph.node(first);
        // `node_names_are_unique` reports two nodes of one name.
        if first == node_idx || other.name == node.name {
            continue;
        }
        // The mistake is at the node with an `id`.
        let at = if node.stored.is_some() {
            node_idx
        } else {
            first
        };
        let text = messages::stored_twice(&other.name, &node.name, node.stored_name());
        diagnostics.push(Diagnostic::new(
            Rule::DuplicateNode,
            Location::Node(at),
            text,
        ));
    }
}

/// For each node the first node of its name.
fn first_of_name<'a>(cx: &'a Cx<'_>) -> Vec<NodeIdx> {
    let mut first: BTreeMap<&'a str, NodeIdx> = BTreeMap::new();
    let nodes = cx.graph.node_indices();
    nodes
        .map(|node| *first.entry(cx.name(node)).or_insert(node))
        .collect()
}

/// PF004: no edge is written twice.
pub(super) fn edges_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // Two joins with the same sides are one join that is written twice.
    let (mut first_join, mut same_join) = (BTreeMap::new(), Vec::new());
    for join in JoinIdx::all(cx.graph.joins as usize) {
        let sides = &cx.reach.into_join[join.index()];
        same_join.push(if sides.is_empty() {
            join
        } else {
            *first_join.entry(sides).or_insert(join)
        });
    }
    let mut first = BTreeMap::new();
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        let from = match edge.from {
            Source::Join(join) => Source::Join(same_join[join.index()]),
            from => from,
        };
        let first = *first.entry((from, &edge.via, edge.to)).or_insert(at);
        if first != at {
            let from = cx.source(edge.from);
            let text = match edge.to {
                Target::Join(_) => messages::side_twice(&from),
                to => messages::edge_twice(&from, &names::target(cx.graph, to)),
            };
            diagnostics.push(
                Diagnostic::new(Rule::DuplicateEdge, Location::Edge(at), text)
                    .with(Location::Edge(first), messages::first_written_here()),
            );
        }
    }
}

/// PF008: every node has an edge.
pub(super) fn nodes_are_used(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (node, first) in cx.graph.node_indices().zip(first_of_name(cx)) {
        // A repeated node is reported separately.
        if !cx.is_unused(node) || first != node {
            continue;
        }
        let similar = cx.similar(node, &|other| !cx.is_unused(other));
        let text = messages::unused_node(cx.name(node), similar);
        diagnostics.push(Diagnostic::new(
            Rule::UnusedNode,
            Location::Node(node),
            text,
        ));
    }
}

/// PF014: a node that chooses a route has no plain edges.
pub(super) fn routes_have_no_plain_edges_beside(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // For each node its first plain edge.
    let mut first_plain = BTreeMap::new();
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        if let (Source::Node(node), Via::Plain | Via::Each) = (edge.from, &edge.via) {
            first_plain.entry(node).or_insert(at);
        }
    }
    for (node, at) in first_plain {
        if choose(&cx.edges.nodes[node.index()]) {
            let text = messages::plain_beside_route(cx.name(node));
            diagnostics.push(Diagnostic::new(
                Rule::PlainBesideRoute,
                Location::Edge(at),
                text.as_str(),
            ));
        }
    }
}

/// PF026: no node catches its own failure, and no failure is caught twice.
pub(super) fn catches_can_work(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // For each node the first edge that catches its failure.
    let mut first = vec![usize::MAX; cx.graph.nodes.len()];
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        let (Via::Catch, Source::Node(node)) = (&edge.via, edge.from) else {
            continue;
        };
        if edge.to == Target::Node(node) {
            diagnostics.push(Diagnostic::new(
                Rule::Catch,
                Location::Edge(at),
                messages::catches_itself(cx.name(node)),
            ));
        }
        let earlier = first[node.index()].min(at);
        first[node.index()] = earlier;
        // The same edge again is reported as written twice.
        if cx.graph.edges[earlier].to != edge.to {
            let diagnostic = Diagnostic::new(
                Rule::Catch,
                Location::Edge(at),
                messages::caught_twice(cx.name(node)),
            );
            diagnostics.push(diagnostic.with(Location::Edge(earlier), "first caught here"));
        }
    }
}
