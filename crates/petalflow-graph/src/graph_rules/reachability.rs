//! PF009: every node can run.

use super::cx::Cx;
use super::names;
use crate::components::{cycle_through_reversed, sinks};
use crate::diagnostic::{Diagnostic, Location};
use crate::edges::{first_node, only_end};
use crate::graph::Source;
use crate::idx::{JoinIdx, NodeIdx};
use crate::messages;
use crate::rule::Rule;

/// PF009: one diagnostic per root cause. A root cause is a node or a cycle that is unreachable, but not because another node is
/// unreachable.
pub(super) fn nodes_are_reachable(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let nodes = cx.graph.node_indices().map(Source::Node);
    let joins = JoinIdx::all(cx.graph.joins as usize).map(Source::Join);
    let sources: Vec<Source> = nodes.chain(joins).collect();
    // The edges lead from each unreachable vertex to the vertices that it waits for. The roots are the components that wait for
    // no other component.
    let is_unreachable = |source: &Source| !cx.reach.reaches(*source);
    let waits = |source: &Source| {
        let before = if is_unreachable(source) {
            cx.reach.predecessors(*source)
        } else {
            &[]
        };
        let before = before.iter().filter(|from| is_unreachable(from));
        before.map(|from| cx.graph.vertex(*from)).collect()
    };
    let waits: Vec<Vec<usize>> = sources.iter().map(waits).collect();
    for root in &sinks(&waits) {
        let members: Vec<Source> = root.iter().map(|&vertex| sources[vertex]).collect();
        let Some(first) = first_node(&members) else {
            continue;
        };
        if cx.reach.reaches(Source::Node(first)) || cx.is_unused(first) {
            continue;
        }
        diagnostics.push(unreachable(cx, first, &members, root, &waits));
    }
}

fn unreachable(
    cx: &Cx<'_>,
    first: NodeIdx,
    members: &[Source],
    root: &[usize],
    waits: &[Vec<usize>],
) -> Diagnostic {
    let waiting = members.iter().find_map(|member| match *member {
        Source::Join(join) => Some(join),
        _ => None,
    });
    if let Some(join) = waiting {
        let is_member = |side: &&Source| !cx.reach.reaches(**side) && members.contains(side);
        let never = cx.reach.into_join[join.index()].iter().find(is_member);
        let to = cx.edges.joins[join.index()]
            .iter()
            .find_map(|edge| edge.to.node());
        if let (Some(never), Some(node)) = (never, to) {
            let join = names::join(cx.graph, join);
            let (name, never) = (cx.name(node), cx.source(*never));
            let text = format!(
                "node `{name}` is unreachable: the join `{join}` waits for `{never}`, which itself can only run after the join; take `{never}` out of the join, or lead another edge to it"
            );
            return Diagnostic::new(Rule::UnreachableNode, Location::Node(node), text);
        }
    }
    let name = cx.name(first);
    let text = if cx.reach.into_node[first.index()].is_empty() {
        // A misspelled name makes two nodes: one where its edges begin, and one where they end.
        let ends_there = |node| {
            cx.reach.reaches(Source::Node(node)) && only_end(cx.edges.from(Source::Node(node)))
        };
        messages::unreachable_node(name, cx.similar(first, &ends_there))
    } else {
        let cycle = cx.show_cycle(&cycle_through_reversed(root, waits, first.index()));
        format!(
            "node `{name}` is unreachable: it can only run after itself (`{cycle}`); add an edge into the cycle, such as `START -> {name}`"
        )
    };
    Diagnostic::new(Rule::UnreachableNode, Location::Node(first), text)
}
