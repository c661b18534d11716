//! The rules that need more than the graph: the routes of the nodes, and the settings.

use std::collections::{HashMap, HashSet};

use petalflow_graph::{
    Diagnostic, Graph, Location, NodeFacts, NodeIdx, Rule, Source, Target, Via, messages,
    route_diagnostics,
};

use super::interrupt_point::NamedInterruptPoint;
use super::node::Entry;
use crate::state::State;

/// PF012 to PF015: routes and edges match.
pub(super) fn routes_match<S: State>(
    graph: &Graph,
    nodes: &[Entry<S>],
    facts: &[NodeFacts<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut by_node: Vec<Vec<(usize, &Via)>> = vec![Vec::new(); nodes.len()];
    for (number, edge) in graph.edges().iter().enumerate() {
        if let Source::Node(from) = edge.from {
            by_node[from.index()].push((number, &edge.via));
        }
    }
    for ((index, node), edges) in NodeIdx::all(nodes.len()).zip(nodes).zip(by_node) {
        let arms: Vec<(&str, Location)> = edges
            .iter()
            .filter_map(|(number, via)| Some((via.route()?, Location::Edge(*number))))
            .collect();
        // `complete` adds an edge to END to a sink. It is not a plain edge of the user.
        let sink = arms.is_empty()
            && edges
                .iter()
                .all(|(number, _)| graph.edges()[*number].to == Target::End);
        let plain = edges
            .iter()
            .any(|(_, via)| matches!(via, Via::Plain | Via::Each))
            && !sink;
        diagnostics.extend(route_diagnostics(
            index,
            &facts[index.index()],
            &arms,
            plain,
        ));
        let each = edges.iter().any(|(_, via)| **via == Via::Each);
        // A plain edge to a node that takes an item was reported already.
        let reported = edges.iter().any(|(number, via)| {
            let to = graph.edges()[*number].to;
            **via == Via::Plain
                && matches!(to, Target::Node(to) if nodes[to.index()].spec.facts.takes_item)
        });
        if node.spec.sends && !each && !reported {
            diagnostics.push(Diagnostic::new(
                Rule::ItemMismatch,
                Location::Node(index),
                messages::items_of_no_edge(&node.name).as_str(),
            ));
        }
    }
}

/// PF024: a node has at most one interrupt before it and one after it.
pub(super) fn interrupts_once<S: State>(
    graph: &Graph,
    interrupt_points: &[NamedInterruptPoint<S>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut known = HashSet::new();
    for point in interrupt_points {
        if !known.insert((&point.node, point.after)) {
            let side = if point.after { "after" } else { "before" };
            let text = messages::interrupted_twice(side, &point.node);
            let at = graph
                .index_of(&point.node)
                .map_or(Location::Graph, Location::Node);
            diagnostics.push(Diagnostic::new(Rule::Option, at, text));
        }
    }
}

/// PF024: only a sub-flow has a state to retain.
pub(super) fn only_subflows_retain_state(
    graph: &Graph,
    retained: &[String],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for name in retained {
        if let Some(node) = graph.index_of(name)
            && !graph.node(node).subflow
        {
            diagnostics.push(Diagnostic::new(
                Rule::Option,
                Location::Node(node),
                messages::keeps_nothing(name),
            ));
        }
    }
}

/// PF028: a sub-flow that takes an item, or whose results are cached, retains no state.
pub(super) fn retained_states_are_of_one_thread<S: State>(
    nodes: &[Entry<S>],
    retained: &[String],
    is_cached: impl Fn(&Entry<S>) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let nodes = NodeIdx::all(nodes.len()).zip(nodes);
    for (index, node) in nodes.filter(|(_, node)| retained.contains(&node.name)) {
        let mut refuse = |text| {
            diagnostics.push(Diagnostic::new(Rule::Keep, Location::Node(index), text));
        };
        if node.spec.facts.takes_item {
            refuse(messages::kept_for_items(&node.name));
        }
        if is_cached(node) {
            refuse(messages::kept_and_cached(&node.name));
        }
    }
}

/// PF024: routes are listed once, and only for a node whose type does not name them.
pub(super) fn routes_listed_once<S: State>(
    nodes: &[Entry<S>],
    listed: &[(String, Vec<String>)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut by_node: HashMap<&str, Vec<&[String]>> = HashMap::new();
    for (name, names) in listed {
        by_node.entry(name).or_default().push(names);
    }
    for (index, node) in NodeIdx::all(nodes.len()).zip(nodes) {
        let lists = by_node.get(node.name.as_str());
        let list = lists.map(|lists| lists[0]);
        let repeated = list.and_then(|names| {
            let mut places = names.iter().enumerate();
            places.find_map(|(at, name)| names[..at].contains(name).then_some(name))
        });
        let text = match (node.spec.named, list) {
            (true, None) => messages::routes_not_listed(&node.name),
            (false, Some(_)) => messages::routes_of_type(&node.name),
            _ if lists.is_some_and(|lists| lists.len() > 1) => {
                messages::routes_listed_twice(&node.name)
            }
            _ => match repeated {
                Some(route) => messages::route_listed_twice(&node.name, route),
                None => continue,
            },
        };
        let at = Location::Node(index);
        diagnostics.push(Diagnostic::new(Rule::Option, at, text));
    }
}

/// PF019: one result writes a `replace` key at most once.
pub(super) fn writes_once<S: State>(nodes: &[Entry<S>], diagnostics: &mut Vec<Diagnostic>) {
    for (index, node) in NodeIdx::all(nodes.len()).zip(nodes) {
        if let Some(key) = node.written_twice.first() {
            let text = messages::written_twice(&node.name, S::KEYS[key].name);
            diagnostics.push(Diagnostic::new(
                Rule::WrittenTwice,
                Location::Node(index),
                text.as_str(),
            ));
        }
    }
}
