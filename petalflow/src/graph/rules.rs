//! The rules that need more than the graph: the nodes' routes, and the settings.

use petalflow_graph::{
    Edge, Graph, NodeIdx, Problem, Rule, Site, Source, Target, Via, route_problems, words,
};

use super::gate::NamedGate;
use super::node::Entry;
use crate::state::State;

/// PF012 to PF015: routes and edges fit.
pub(super) fn routes_match<S: State>(
    graph: &Graph,
    nodes: &[Entry<S>],
    problems: &mut Vec<Problem>,
) {
    for (place, node) in nodes.iter().enumerate() {
        let own = |(number, edge): (usize, &Edge)| {
            (edge.from == Source::Node(NodeIdx::from_usize(place)))
                .then_some((number, edge.via.clone()))
        };
        let edges: Vec<(usize, Via)> = graph.edges().iter().enumerate().filter_map(own).collect();
        let arms: Vec<(&str, Site)> = edges
            .iter()
            .filter_map(|(number, via)| Some((via.route()?, Site::Edge(*number))))
            .collect();
        // The edge to END that `complete` adds to a sink is no plain edge of the user's.
        let sink = arms.is_empty()
            && edges
                .iter()
                .all(|(number, _)| graph.edges()[*number].to == Target::End);
        let plain = edges
            .iter()
            .any(|(_, via)| matches!(via, Via::Plain | Via::Each))
            && !sink;
        problems.extend(route_problems(
            NodeIdx::from_usize(place),
            &node.traits.facts(&node.name),
            &arms,
            plain,
        ));
        let each = edges.iter().any(|(_, via)| *via == Via::Each);
        // Where the other end of a plain edge takes an item, that edge was reported.
        let told = edges.iter().any(|(number, via)| {
            let to = graph.edges()[*number].to;
            *via == Via::Plain && matches!(to, Target::Node(to) if nodes[to.index()].traits.takes)
        });
        if node.traits.sends && !each && !told {
            problems.push(Problem::new(
                Rule::ItemMismatch,
                Site::Node(NodeIdx::from_usize(place)),
                words::items_unused(&node.name).as_str(),
            ));
        }
    }
}

/// PF024: a node is interrupted once on each side.
pub(super) fn interrupts_once<S: State>(
    graph: &Graph,
    gates: &[NamedGate<S>],
    problems: &mut Vec<Problem>,
) {
    for (i, gate) in gates.iter().enumerate() {
        let same = |other: &NamedGate<S>| other.node == gate.node && other.after == gate.after;
        if gates[..i].iter().any(same) {
            let side = if gate.after { "after" } else { "before" };
            let text = words::interrupted_twice(side, &gate.node);
            let at = graph.index_of(&gate.node).map_or(Site::Graph, Site::Node);
            problems.push(Problem::new(Rule::Option, at, text.as_str()));
        }
    }
}

/// PF024: only a sub-flow has a state to keep.
#[inline]
pub(super) fn subflows_keep(graph: &Graph, kept: &[String], problems: &mut Vec<Problem>) {
    for name in kept {
        if let Some(place) = graph.index_of(name)
            && !graph.node(place).subflow
        {
            problems.push(Problem::new(
                Rule::Option,
                Site::Node(place),
                words::keeps_nothing(name).as_str(),
            ));
        }
    }
}

/// PF019: one result writes a `replace` key once.
pub(super) fn writes_once<S: State>(nodes: &[Entry<S>], problems: &mut Vec<Problem>) {
    for (place, node) in nodes.iter().enumerate() {
        if let Some(key) = node.traits.twice.first() {
            let text = words::written_twice(&node.name, S::KEYS[key].name);
            problems.push(Problem::new(
                Rule::WrittenTwice,
                Site::Node(NodeIdx::from_usize(place)),
                text.as_str(),
            ));
        }
    }
}
