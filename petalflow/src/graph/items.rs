//! Checks that edges deliver the items that their targets take.

use std::any::TypeId;

use petalflow_graph::{Diagnostic, Edge, Location, Rule, Source, Target, Text, Via, messages};

use super::node::{Entry, EntryKind};
use super::{END, START};
use crate::error::NodeError;
use crate::state::State;

/// What to do so that a node takes items.
const CLOSURE: &str =
    "a closure takes none: add an annotated function with a parameter `#[item] item: &..`";
const SUBFLOW: &str = "add the sub-flow with `.subflow_with_item(..)`";

/// PF020: edges deliver the items that their targets take.
pub(super) fn items_match<S: State>(
    graph: &petalflow_graph::Graph,
    nodes: &[Entry<S>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (number, edge) in graph.edges().iter().enumerate() {
        let from = || match edge.from {
            Source::Join(join) => {
                let sides = graph.sides(join).into_iter();
                let names: Vec<&str> = sides.map(|side| name(nodes, side.from)).collect();
                names.join(" & ")
            }
            from => name(nodes, from).to_owned(),
        };
        if let Some(text) = item_mismatch(edge, &from, nodes) {
            diagnostics.push(Diagnostic::new(
                Rule::ItemMismatch,
                Location::Edge(number),
                text.as_str(),
            ));
        }
    }
}

/// The name of a source. A join of joins has none.
fn name<S: State>(nodes: &[Entry<S>], source: Source) -> &str {
    match source {
        Source::Start => START,
        Source::Join(_) => "",
        Source::Node(node) => &nodes[node.index()].name,
    }
}

/// What is wrong with an edge. `from` returns the name of its source, which only messages need.
fn item_mismatch<S: State>(
    edge: &Edge,
    from: &dyn Fn() -> String,
    nodes: &[Entry<S>],
) -> Option<Text> {
    let target = match edge.to {
        Target::Node(to) => Some(&nodes[to.index()]),
        _ => None,
    };
    let takes = target.is_some_and(|target| target.spec.facts.takes_item);
    let name = target.map_or(END, |target| &target.name);
    let source = match edge.from {
        Source::Node(from) => Some(&nodes[from.index()]),
        _ => None,
    };
    // Another rule reports a route that the node does not have.
    let find_route = |route: &str| {
        let source = source?;
        // Routes that are known at run time only carry nothing.
        if source.spec.named {
            return Some((source, usize::MAX));
        }
        let at = source
            .spec
            .facts
            .routes
            .iter()
            .position(|name| *name == route)?;
        Some((source, at))
    };
    // The type of the item, if it is known.
    let sent = match &edge.via {
        Via::Plain if takes && source.is_some_and(|source| source.spec.sends) => {
            return Some(messages::each_edge_forgotten(name, &from()));
        }
        Via::Plain => return takes.then(|| messages::needs_item(name, &from())),
        Via::Each => {
            if !source.is_some_and(|source| source.spec.sends) {
                return Some(messages::sends_no_items(&from(), takes));
            }
            source.and_then(|source| source.item_types.each)
        }
        Via::Route(route) | Via::RouteEach(route) => {
            let each = matches!(edge.via, Via::RouteEach(_));
            let (source, at) = find_route(route)?;
            if !source.spec.payloads.get(at).copied().unwrap_or(false) {
                if each {
                    return Some(messages::carries_no_items(&from(), route, takes));
                }
                return takes.then(|| messages::needs_item(name, &from()));
            }
            match (source.item_types.payload)(at) {
                Some(carried) if each && carried.items.is_none() => {
                    return Some(messages::carries_no_list(&from(), route, carried.whole.1));
                }
                Some(carried) if each => carried.items,
                Some(carried) => Some(carried.whole),
                None => None,
            }
        }
        // A node that does not need the failure takes no item.
        Via::Catch if !takes => return None,
        Via::Catch => Some((TypeId::of::<NodeError>(), "petalflow::NodeError")),
    };
    let target = target?;
    if !takes {
        return Some(match target.kind {
            EntryKind::Node => messages::takes_no_item(name, &from()),
            EntryKind::Closure => messages::cannot_take_item(name, &from(), CLOSURE),
            EntryKind::Subflow => messages::cannot_take_item(name, &from(), SUBFLOW),
        });
    }
    let (ty, sends) = sent?;
    (ty != target.item_types.input.0)
        .then(|| messages::other_item(name, target.item_types.input.1, &from(), sends))
}
