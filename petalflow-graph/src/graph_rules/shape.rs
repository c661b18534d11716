//! PF001, PF003, PF004, PF008, PF014, PF026: the rules that need no analysis.

use super::cx::Cx;
use super::names;
use crate::diagnostic::{Diagnostic, Location};
use crate::edges::choose;
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::messages;
use crate::rule::Rule;
use crate::sorted::{SortedMap, SortedSet, sort};

/// PF001: START has an edge.
#[inline]
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
            let sources: Vec<_> = sources.into_iter().map(|node| cx.name(node)).collect();
            let first = sources.first().copied().unwrap_or_else(|| {
                let mentioned =
                    NodeIdx::all(cx.graph.nodes.len()).find(|&node| !cx.is_unused(node));
                mentioned.map_or("first", |node| cx.name(node))
            });
            messages::no_start(&sources, first)
        };
        diagnostics.push(Diagnostic::new(
            Rule::NoStart,
            Location::Graph,
            text.as_str(),
        ));
    }
}

/// The nodes that have an edge, but none from another node.
#[inline]
fn sources(graph: &Graph) -> Vec<NodeIdx> {
    let index = |source: Source| match source {
        Source::Node(node) => Some(node.index()),
        _ => None,
    };
    let (mut sources, mut into) = (
        vec![false; graph.nodes.len()],
        vec![false; graph.nodes.len()],
    );
    for edge in &*graph.edges {
        if let Some(from) = index(edge.from) {
            sources[from] = true;
        }
        if let Target::Node(to) = edge.to
            && edge.from != Source::Node(to)
        {
            into[to.index()] = true;
        }
    }
    graph
        .node_indices()
        .filter(|node| sources[node.index()] && !into[node.index()])
        .collect()
}

/// If one of several possible first nodes has a name similar to that of a node where a path ends, a misspelled name has probably
/// cut the path.
fn misspelt(cx: &Cx<'_>, sources: &[NodeIdx]) -> Option<Diagnostic> {
    if sources.len() < 2 {
        return None;
    }
    let ends_there = |node| {
        let led_to = cx
            .graph
            .edges
            .iter()
            .any(|edge| edge.to == Target::Node(node));
        let out = cx.edges.from(Source::Node(node));
        led_to && out.iter().all(|edge| edge.to == Target::End)
    };
    sources.iter().find_map(|&node| {
        let similar = cx.similar(node, ends_there)?;
        let text = messages::no_start_but_similar(cx.name(node), similar);
        Some(Diagnostic::new(
            Rule::NoStart,
            Location::Node(node),
            text.as_str(),
        ))
    })
}

/// PF003: no two nodes have one name.
#[inline]
pub(super) fn node_names_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (second, first) in repeated_nodes(cx) {
        let text = messages::declared_twice(cx.name(second));
        diagnostics.push(
            Diagnostic::new(Rule::DuplicateNode, Location::Node(second), text.as_str())
                .with(Location::Node(first), messages::first_here().as_str()),
        );
    }
}

/// PF003: no two nodes have one name in checkpoints.
#[inline]
pub(super) fn stored_names_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let nodes = &*cx.graph.nodes;
    if nodes.iter().all(|node| node.stored.is_none()) {
        return;
    }
    let mut taken = SortedMap::new();
    for (node_idx, node) in NodeIdx::all(nodes.len()).zip(nodes) {
        let first = *taken.get_or(node.stored_name(), || node_idx);
        let other = &nodes[first.index()];
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
            text.as_str(),
        ));
    }
}

/// The nodes whose name an earlier node has, with that node.
#[inline]
fn repeated_nodes(cx: &Cx<'_>) -> SortedMap<NodeIdx, NodeIdx> {
    let named = cx.graph.node_indices().map(|node| (cx.name(node), node));
    let mut named: Vec<(&str, NodeIdx)> = named.collect();
    sort(&mut named);
    let mut repeated = SortedMap::new();
    let mut first = named.first().copied();
    for (name, node) in named {
        match first {
            Some((known, first)) if known == name => {
                if first != node {
                    repeated.insert(node, first);
                }
            }
            _ => first = Some((name, node)),
        }
    }
    repeated
}

/// PF004: no edge is written twice.
#[inline]
pub(super) fn edges_are_unique(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // Two joins with the same sides are one join that is written twice.
    let mut sides: SortedMap<JoinIdx, SortedSet<Source>> = SortedMap::new();
    for edge in &*cx.graph.edges {
        if let Target::Join(join) = edge.to {
            sides.get_or(join, Default::default).insert(edge.from);
        }
    }
    let mut first_join: SortedMap<&SortedSet<Source>, JoinIdx> = SortedMap::new();
    let same_join: SortedMap<JoinIdx, JoinIdx> = sides
        .iter()
        .map(|(&join, sides)| (join, *first_join.get_or(sides, || join)))
        .collect();
    let mut first: SortedMap<_, usize> = SortedMap::new();
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        let from = match edge.from {
            Source::Join(join) => Source::Join(same_join.get(&join).copied().unwrap_or(join)),
            from => from,
        };
        let via = match &edge.via {
            Via::Plain => (0, ""),
            Via::Each => (1, ""),
            Via::Route(name) => (2, &**name),
            Via::RouteEach(name) => (3, &**name),
            Via::Catch => (4, ""),
        };
        let first = *first.get_or((from, via, edge.to), || at);
        if first != at {
            let text =
                messages::edge_twice(&cx.source(edge.from), &names::target(cx.graph, edge.to));
            diagnostics.push(
                Diagnostic::new(Rule::DuplicateEdge, Location::Edge(at), text.as_str()).with(
                    Location::Edge(first),
                    messages::first_written_here().as_str(),
                ),
            );
        }
    }
}

/// PF008: every node has an edge.
#[inline]
pub(super) fn nodes_are_used(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !cx.graph.node_indices().any(|node| cx.is_unused(node)) {
        return;
    }
    let repeated = repeated_nodes(cx);
    for node in cx.graph.node_indices() {
        if cx.is_unused(node) && !repeated.contains_key(&node) {
            let similar = cx.similar(node, |other| !cx.is_unused(other));
            diagnostics.push(Diagnostic::new(
                Rule::UnusedNode,
                Location::Node(node),
                messages::unused_node(cx.name(node), similar).as_str(),
            ));
        }
    }
}

/// PF014: a node that chooses a route has no plain edges.
#[inline]
pub(super) fn routes_have_no_plain_edges_beside(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (node_idx, edges) in cx.graph.node_indices().zip(&cx.edges.nodes) {
        let plain = |from, via: &Via| {
            from == Source::Node(node_idx) && matches!(via, Via::Plain | Via::Each)
        };
        if choose(edges)
            && let Some(at) = cx
                .graph
                .edges
                .iter()
                .position(|edge| plain(edge.from, &edge.via))
        {
            let text = messages::plain_beside_route(cx.name(node_idx));
            diagnostics.push(Diagnostic::new(
                Rule::PlainBesideRoute,
                Location::Edge(at),
                text.as_str(),
            ));
        }
    }
}

/// PF026: no node catches its own failure, and no failure is caught twice.
#[inline]
pub(super) fn catches_can_work(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut first: SortedMap<Source, (usize, Target)> = SortedMap::new();
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        let (Via::Catch, Source::Node(node)) = (&edge.via, edge.from) else {
            continue;
        };
        if edge.to == Target::Node(node) {
            diagnostics.push(Diagnostic::new(
                Rule::Catch,
                Location::Edge(at),
                messages::catches_itself(cx.name(node)).as_str(),
            ));
        }
        let (earlier, to) = *first.get_or(edge.from, || (at, edge.to));
        // The same edge again is reported as written twice.
        if earlier != at && to != edge.to {
            let diagnostic = Diagnostic::new(
                Rule::Catch,
                Location::Edge(at),
                messages::caught_twice(cx.name(node)).as_str(),
            );
            diagnostics.push(diagnostic.with(Location::Edge(earlier), "first caught here"));
        }
    }
}
