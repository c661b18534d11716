//! PF010: every cycle can be left.

use std::collections::VecDeque;

use super::Cx;
use super::endless::{Endless, Picks};
use super::reach::Reach;
use crate::edges::{EdgesBySource, choose};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::sorted::{SortedMap, SortedSet};

/// PF010: one problem per cycle. Those that a node can leave by picking none of its routes are judged once its type is known,
/// see [`Tables::endless`](crate::Tables::endless).
#[inline]
pub(super) fn cycles_end(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let endless = Endless::of(cx.graph, &cx.edges, &cx.reach);
    let mut reported = SortedSet::new();
    let (parts, next) = endless.without_end(Picks::Any);
    for part in parts {
        let cycle = cycle_through(&part, &next, part[0], false);
        let (first, shown) = (cycle[0], show(cx, &cycle));
        let name = cx.name(NodeIdx::from_usize(first));
        let text = format!(
            "the cycle `{shown}` has no way out: END cannot be reached from it; let a node of it choose a route, such as `{name} -> match {{ Again => .., Done => END }}`"
        );
        reported.extend(part);
        problems.push(Problem::new(
            Rule::EndlessCycle,
            Site::Node(NodeIdx::from_usize(first)),
            text,
        ));
    }
    for part in endless.parts(Picks::Any) {
        if part.iter().any(|node| reported.contains(node)) {
            continue;
        }
        problems.push(always(cx, &endless.cycle(&part)));
        reported.extend(part);
    }
    for set in &cx.exploration.endless {
        if set.iter().any(|&node| reported.contains(&node.index())) {
            continue;
        }
        let mut next = vec![Vec::new(); cx.graph.nodes.len()];
        for &node in set {
            next[node.index()] = successors(&cx.edges, node.index());
            next[node.index()].retain(|to| set.binary_search(&NodeIdx::from_usize(*to)).is_ok());
        }
        let round = components(&next)
            .into_iter()
            .find(|part| part.len() > 1 || next[part[0]].contains(&part[0]));
        if let Some(part) = round {
            problems.push(always(cx, &cycle_through(&part, &next, part[0], false)));
            reported.extend(set.iter().map(|&node| node.index()));
        }
    }
}

/// A cycle whose edges always fire.
#[inline]
fn always(cx: &Cx<'_>, cycle: &[usize]) -> Problem {
    let shown = show(cx, cycle);
    let text = format!(
        "the cycle `{shown}` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route"
    );
    Problem::new(
        Rule::EndlessCycle,
        Site::Node(NodeIdx::from_usize(cycle[0])),
        text,
    )
}

/// For each reachable node from which END cannot be reached the nodes that it leads to, also over joins; nothing for others.
#[inline]
pub(super) fn without_end(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    reach: &Reach,
    picks: Picks,
) -> Vec<Vec<usize>> {
    let ends = reaches_end(graph, edges, picks);
    (0..graph.nodes.len())
        .map(|node| {
            if reach.nodes[node] && !ends.contains(&Source::Node(NodeIdx::from_usize(node))) {
                successors(edges, node)
            } else {
                Vec::new()
            }
        })
        .collect()
}

#[inline]
fn reaches_end(graph: &Graph, edges: &EdgesBySource<'_>, picks: Picks) -> SortedSet<Source> {
    let mut into: SortedMap<Source, Vec<Source>> = SortedMap::new();
    let nodes = NodeIdx::all(graph.nodes.len())
        .filter(|&node| may_set_off_nothing(graph, edges, node, picks));
    let mut queue: Vec<Source> = nodes.map(Source::Node).collect();
    queue.extend(
        JoinIdx::all(edges.joins.len())
            .zip(&edges.joins)
            .filter(|(_, edges)| edges.is_empty())
            .map(|(join, _)| Source::Join(join)),
    );
    for edge in &*graph.edges {
        match edge.to {
            Target::Node(node) => into
                .get_or(Source::Node(node), Default::default)
                .push(edge.from),
            Target::Join(join) => into
                .get_or(Source::Join(join), Default::default)
                .push(edge.from),
            Target::End => queue.push(edge.from),
        }
    }
    let mut ends = SortedSet::new();
    while let Some(source) = queue.pop() {
        if ends.insert(source) {
            queue.extend(into.get(&source).into_iter().flatten());
        }
    }
    ends
}

/// Whether a run of the node can end its path without an edge to END: it has no edge, picks no route, or sends an empty list
/// after which nothing follows.
#[inline]
fn may_set_off_nothing(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    node: NodeIdx,
    picks: Picks,
) -> bool {
    let many = picks == Picks::Any || graph.nodes[node.index()].many;
    let out = &edges.nodes[node.index()];
    let picks_none = many && choose(out);
    let empty = out.iter().any(|edge| match edge.to {
        Target::Node(to) if edge.via.is_each() => edges.nodes[to.index()]
            .iter()
            .all(|edge| edge.via != Via::Plain),
        _ => false,
    });
    picks_none || empty || out.iter().all(|edge| edge.via == Via::Catch)
}

/// The nodes that a node leads to, also over joins.
#[inline]
fn successors(edges: &EdgesBySource<'_>, node: usize) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut seen = SortedSet::new();
    let mut queue = vec![Source::Node(NodeIdx::from_usize(node))];
    while let Some(source) = queue.pop() {
        for edge in edges.from(source) {
            match edge.to {
                Target::Node(to) => nodes.push(to.index()),
                Target::Join(join) if seen.insert(join) => queue.push(Source::Join(join)),
                Target::Join(_) | Target::End => {}
            }
        }
    }
    nodes
}

/// The names along a cycle: `a -> b -> a`.
#[inline]
pub(super) fn show(cx: &Cx<'_>, cycle: &[usize]) -> String {
    let nodes = cycle
        .iter()
        .chain(cycle.first())
        .filter_map(|&vertex| cx.graph.nodes.get(vertex));
    nodes
        .map(|node| &*node.name)
        .collect::<Vec<_>>()
        .join(" -> ")
}

/// The shortest cycle through a vertex of a component; `reversed` if the edges lead against the arrows of the graph.
#[inline]
pub(super) fn cycle_through(
    component: &[usize],
    next: &[Vec<usize>],
    first: usize,
    reversed: bool,
) -> Vec<usize> {
    let within: SortedSet<usize> = component.iter().copied().collect();
    let mut before = SortedMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front() {
        for &to in next[at].iter().filter(|to| within.contains(to)) {
            if to == first {
                let mut cycle = vec![at];
                while let Some(&previous) = before.get(&cycle[cycle.len() - 1]) {
                    cycle.push(previous);
                }
                // Found from its end: the first vertex is last.
                if reversed {
                    cycle.rotate_right(1);
                } else {
                    cycle.reverse();
                }
                return cycle;
            }
            if !before.contains_key(&to) {
                before.insert(to, at);
                queue.push_back(to);
            }
        }
    }
    vec![first]
}

/// The strongly connected components that no edge leaves, each ascending, by their first vertex.
#[inline]
pub(crate) fn sinks(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let components = components(next);
    let mut of = vec![0; next.len()];
    for (i, component) in components.iter().enumerate() {
        for &vertex in component {
            of[vertex] = i;
        }
    }
    let mut sinks = components;
    let mut i = 0;
    sinks.retain(|component| {
        i += 1;
        component
            .iter()
            .all(|&vertex| next[vertex].iter().all(|&to| of[to] == i - 1))
    });
    sinks.sort_unstable();
    sinks
}

/// The strongly connected components, by Tarjan's algorithm without recursion: a chain may be long.
#[inline]
pub(super) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut number, mut low) = (vec![NEW; next.len()], vec![0; next.len()]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; next.len()]);
    let (mut components, mut count) = (Vec::new(), 0);
    for root in 0..next.len() {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, child)) = calls.last_mut() {
            let at = *at;
            if *child == 0 && number[at] == NEW {
                number[at] = count;
                low[at] = count;
                count += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(&to) = next[at].get(*child) {
                *child += 1;
                if number[to] == NEW {
                    calls.push((to, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
            if low[at] == number[at] {
                let begin = open.iter().rposition(|&vertex| vertex == at).unwrap_or(0);
                let mut component = open.split_off(begin);
                for &vertex in &component {
                    is_open[vertex] = false;
                }
                component.sort_unstable();
                components.push(component);
            }
        }
    }
    components.sort_unstable();
    components
}
