//! PF009: every node can run.

use super::cx::Cx;
use super::names;
use crate::components::{cycle_through_reversed, sinks};
use crate::diagnostic::{Diagnostic, Location};
use crate::edges::{first_node, only_end};
use crate::graph::Source;
use crate::idx::{JoinIdx, NodeIdx};
use crate::lists::lists;
use crate::messages;
use crate::rule::Rule;

/// PF009: one diagnostic per root cause. A root cause is a node or a cycle that is unreachable, but not because another node is
/// unreachable.
pub(super) fn nodes_are_reachable(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut sources = Vec::new();
    for node in cx.graph.node_indices() {
        sources.push(Source::Node(node));
    }
    for join in JoinIdx::all(cx.graph.joins as usize) {
        sources.push(Source::Join(join));
    }
    // The edges lead from each unreachable vertex to the vertices that it waits for. The roots are the components that wait for
    // no other component.
    let mut waits = lists(sources.len());
    for (vertex, source) in sources.iter().enumerate() {
        if cx.reach.reaches(*source) {
            continue;
        }
        for from in cx.reach.predecessors(*source) {
            if !cx.reach.reaches(*from) {
                waits[vertex].push(cx.graph.vertex(*from));
            }
        }
    }
    for root in &sinks(&waits) {
        let mut members = Vec::new();
        for vertex in root {
            members.push(sources[*vertex]);
        }
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
    let mut waiting = None;
    for member in members {
        if let (None, Source::Join(join)) = (waiting, *member) {
            waiting = Some(join);
        }
    }
    if let Some(join) = waiting {
        let (mut never, mut to) = (None, None);
        for side in &cx.reach.into_join[join.index()] {
            if !cx.reach.reaches(*side) && members.contains(side) {
                never = never.or(Some(*side));
            }
        }
        for edge in &cx.edges.joins[join.index()] {
            to = to.or(edge.to.node());
        }
        if let (Some(never), Some(node)) = (never, to) {
            let join = names::join(cx.graph, join);
            let (name, never) = (cx.name(node), cx.source(never));
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
        messages::unreachable_node(name, cx.similar(first, &ends_there)).to_string()
    } else {
        let cycle = cx.show_cycle(&cycle_through_reversed(root, waits, first.index()));
        format!(
            "node `{name}` is unreachable: it can only run after itself (`{cycle}`); add an edge into the cycle, such as `START -> {name}`"
        )
    };
    Diagnostic::new(Rule::UnreachableNode, Location::Node(first), text)
}
