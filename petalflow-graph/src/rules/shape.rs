//! PF001, PF003, PF004, PF008, PF014, PF026: what can be seen without following the edges.

use super::{Cx, names};
use crate::edges::choose;
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::sorted::{SortedMap, SortedSet};
use crate::words;

/// PF001.
#[inline]
pub(super) fn flow_starts(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    if cx.edges.start.is_empty() {
        let text = if cx.graph.edges.is_empty() {
            words::empty()
        } else {
            let sources = sources(cx.graph);
            let first = sources.first().copied().unwrap_or_else(|| {
                let mentioned =
                    NodeIdx::all(cx.graph.nodes.len()).find(|&node| !is_unused(cx, node));
                mentioned.map_or("first", |node| cx.name(node))
            });
            words::no_start(&sources, first)
        };
        problems.push(Problem::new(Rule::NoStart, Site::Graph, text.as_str()));
    }
}

/// The nodes with edges of which no other leads to them.
#[inline]
fn sources(graph: &Graph) -> Vec<&str> {
    let place = |source: Source| match source {
        Source::Node(node) => Some(node.index()),
        _ => None,
    };
    let (mut sources, mut into) = (
        vec![false; graph.nodes.len()],
        vec![false; graph.nodes.len()],
    );
    for edge in &*graph.edges {
        if let Some(from) = place(edge.from) {
            sources[from] = true;
        }
        if let Target::Node(to) = edge.to
            && edge.from != Source::Node(to)
        {
            into[to.index()] = true;
        }
    }
    let places = (0..graph.nodes.len()).filter(|&place| sources[place] && !into[place]);
    places.map(|place| &*graph.nodes[place].name).collect()
}

/// PF003.
#[inline]
pub(super) fn nodes_are_unique(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    for (second, first) in repeated_nodes(cx) {
        let text = words::declared_twice(cx.name(second));
        problems.push(
            Problem::new(Rule::DuplicateNode, Site::Node(second), text.as_str())
                .with(Site::Node(first), words::first_here().as_str()),
        );
    }
}

/// PF003, for the names in checkpoints.
#[inline]
pub(super) fn stored_names_are_unique(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let nodes = &*cx.graph.nodes;
    if nodes.iter().all(|node| node.stored.is_none()) {
        return;
    }
    let mut taken = SortedMap::new();
    for (place, node) in NodeIdx::all(nodes.len()).zip(nodes) {
        let first = *taken.get_or(node.stored_name(), || place);
        let other = &nodes[first.index()];
        // Two nodes of one name are one mistake already.
        if first == place || other.name == node.name {
            continue;
        }
        // The mistake is where an `id` was given.
        let at = if node.stored.is_some() { place } else { first };
        let text = words::stored_twice(&other.name, &node.name, node.stored_name());
        problems.push(Problem::new(
            Rule::DuplicateNode,
            Site::Node(at),
            text.as_str(),
        ));
    }
}

/// The nodes whose name was taken, with the node that has it.
#[inline]
fn repeated_nodes(cx: &Cx<'_>) -> SortedMap<NodeIdx, NodeIdx> {
    let mut first = SortedMap::new();
    let mut repeated = SortedMap::new();
    for (place, node) in cx.graph.node_indices().zip(&*cx.graph.nodes) {
        let first = *first.get_or(&node.name, || place);
        if first != place {
            repeated.insert(place, first);
        }
    }
    repeated
}

/// PF004.
#[inline]
pub(super) fn edges_are_unique(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    // Two joins of the same sides are one join written twice.
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
            let text = words::edge_twice(&cx.source(edge.from), &names::target(cx.graph, edge.to));
            problems.push(
                Problem::new(Rule::DuplicateEdge, Site::Edge(at), text.as_str())
                    .with(Site::Edge(first), words::first_written_here().as_str()),
            );
        }
    }
}

/// PF008.
#[inline]
pub(super) fn nodes_are_used(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let repeated = repeated_nodes(cx);
    for place in NodeIdx::all(cx.graph.nodes.len()) {
        if is_unused(cx, place) && !repeated.contains_key(&place) {
            problems.push(Problem::new(
                Rule::UnusedNode,
                Site::Node(place),
                words::unused_node(cx.name(place)).as_str(),
            ));
        }
    }
}

/// Whether the node has no edge at all.
#[inline]
pub(super) fn is_unused(cx: &Cx<'_>, node: NodeIdx) -> bool {
    cx.edges.nodes[node.index()].is_empty() && cx.reach.into_node[node.index()].is_empty()
}

/// PF014.
#[inline]
pub(super) fn routes_stand_alone(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    for (place, edges) in cx.graph.node_indices().zip(&cx.edges.nodes) {
        let plain =
            |from, via: &Via| from == Source::Node(place) && matches!(via, Via::Plain | Via::Each);
        if choose(edges)
            && let Some(at) = cx
                .graph
                .edges
                .iter()
                .position(|edge| plain(edge.from, &edge.via))
        {
            let text = words::plain_beside_route(cx.name(place));
            problems.push(Problem::new(
                Rule::PlainBesideRoute,
                Site::Edge(at),
                text.as_str(),
            ));
        }
    }
}

/// PF026.
#[inline]
pub(super) fn catches_work(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let mut first: SortedMap<Source, (usize, Target)> = SortedMap::new();
    for (at, edge) in cx.graph.edges.iter().enumerate() {
        let (Via::Catch, Source::Node(node)) = (&edge.via, edge.from) else {
            continue;
        };
        if edge.to == Target::Node(node) {
            problems.push(Problem::new(
                Rule::Catch,
                Site::Edge(at),
                words::catches_itself(cx.name(node)).as_str(),
            ));
        }
        let (earlier, to) = *first.get_or(edge.from, || (at, edge.to));
        // The same edge again is one written twice, which is said already.
        if earlier != at && to != edge.to {
            let problem = Problem::new(
                Rule::Catch,
                Site::Edge(at),
                words::caught_twice(cx.name(node)).as_str(),
            );
            problems.push(problem.with(Site::Edge(earlier), "first caught here"));
        }
    }
}
