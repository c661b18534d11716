//! PF010: every cycle can be left.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Cx;
use crate::graph::{Source, Target, Via, index};
use crate::problem::{Problem, Site};
use crate::rule::Rule;

/// PF010: one problem per cycle.
pub(super) fn cycles_end(cx: &Cx<'_>, problems: &mut Vec<Problem>) {
    let mut reported = BTreeSet::new();
    for cycle in without_end(cx) {
        let (first, shown) = (cycle[0], show(cx, &cycle));
        let name = cx.name(index(first));
        let text = format!(
            "the cycle `{shown}` has no way out: END cannot be reached from it; let a node of it choose a route, such as `{name} -> match {{ Again => .., Done => END }}`"
        );
        reported.extend(cycle);
        problems.push(Problem::new(
            Rule::EndlessCycle,
            Site::Node(index(first)),
            text,
        ));
    }
    for cycle in always_taken(cx) {
        let (first, shown) = (cycle[0], show(cx, &cycle));
        if reported.is_disjoint(&cycle.into_iter().collect()) {
            let text = format!(
                "the cycle `{shown}` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route"
            );
            problems.push(Problem::new(
                Rule::EndlessCycle,
                Site::Node(index(first)),
                text,
            ));
        }
    }
}

/// The reachable cycles from which END cannot be reached. Nodes that only lead into one are not part of it.
fn without_end(cx: &Cx<'_>) -> Vec<Vec<usize>> {
    let ends = reaches_end(cx);
    let endless = |node: usize| cx.reach.nodes[node] && !ends.contains(&Source::Node(index(node)));
    let next: Vec<Vec<usize>> = (0..cx.graph.nodes.len())
        .map(|node| {
            if endless(node) {
                successors(cx, node)
            } else {
                Vec::new()
            }
        })
        .collect();
    let sinks = sinks(&next)
        .into_iter()
        .filter(|component| endless(component[0]) && !next[component[0]].is_empty());
    sinks
        .map(|component| cycle_through(&component, &next, component[0], false))
        .collect()
}

/// The reachable cycles whose edges fire unconditionally; an empty list also sets off what follows its target.
fn always_taken(cx: &Cx<'_>) -> Vec<Vec<usize>> {
    let sure = |node: usize| {
        let edges = &cx.edges.nodes[node];
        cx.reach.nodes[node]
            && edges
                .iter()
                .all(|edge| matches!(edge.via, Via::Plain | Via::Each))
    };
    let to_nodes = |node: usize, via: Option<Via>| -> Vec<usize> {
        let edges = cx.edges.nodes[node]
            .iter()
            .filter(|edge| via.as_ref().is_none_or(|via| edge.via == *via));
        edges
            .filter_map(|edge| {
                if let Target::Node(to) = edge.to {
                    Some(to as usize)
                } else {
                    None
                }
            })
            .filter(|&to| sure(to))
            .collect()
    };
    let next: Vec<Vec<usize>> = (0..cx.graph.nodes.len())
        .map(|node| {
            if sure(node) {
                to_nodes(node, None)
            } else {
                Vec::new()
            }
        })
        .collect();
    let mut cycles = Vec::new();
    for component in components(&next) {
        // A cycle of lists alone ends with an empty one; with one plain edge in it, it goes on.
        let from = component.iter().copied().find(|&node| {
            sure(node)
                && to_nodes(node, Some(Via::Plain))
                    .iter()
                    .any(|to| component.contains(to))
        });
        if let Some(from) = from {
            cycles.push(cycle_through(&component, &next, from, false));
        }
    }
    cycles
}

fn reaches_end(cx: &Cx<'_>) -> BTreeSet<Source> {
    let mut into: BTreeMap<Source, Vec<Source>> = BTreeMap::new();
    let nodes = || (0..index(cx.graph.nodes.len())).filter(|&node| may_set_off_nothing(cx, node));
    let mut queue: Vec<Source> = nodes().map(Source::Node).collect();
    queue.extend(
        (0u32..)
            .zip(&cx.edges.joins)
            .filter(|(_, edges)| edges.is_empty())
            .map(|(join, _)| Source::Join(join)),
    );
    for edge in &*cx.graph.edges {
        match edge.to {
            Target::Node(node) => into.entry(Source::Node(node)).or_default().push(edge.from),
            Target::Join(join) => into.entry(Source::Join(join)).or_default().push(edge.from),
            Target::End => queue.push(edge.from),
        }
    }
    let mut ends = BTreeSet::new();
    while let Some(source) = queue.pop() {
        if ends.insert(source) {
            queue.extend(into.get(&source).into_iter().flatten());
        }
    }
    ends
}

/// Whether a run of the node can end its path without an edge to END: it has no edge, picks no route, or sends an empty list
/// after which nothing follows.
fn may_set_off_nothing(cx: &Cx<'_>, node: u32) -> bool {
    let is_route = |via: &Via| matches!(via, Via::Route(_) | Via::RouteEach(_));
    let edges = &cx.edges.nodes[node as usize];
    let picks_none =
        cx.graph.nodes[node as usize].many && edges.iter().any(|edge| is_route(&edge.via));
    let empty = edges.iter().any(|edge| match (&edge.via, edge.to) {
        (Via::Each | Via::RouteEach(_), Target::Node(to)) => cx.edges.nodes[to as usize]
            .iter()
            .all(|edge| edge.via != Via::Plain),
        _ => false,
    });
    picks_none || empty || edges.iter().all(|edge| edge.via == Via::Catch)
}

/// The nodes that a node leads to, also over joins.
fn successors(cx: &Cx<'_>, node: usize) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut seen = BTreeSet::new();
    let mut queue = vec![Source::Node(index(node))];
    while let Some(source) = queue.pop() {
        for edge in cx.edges.from(source) {
            match edge.to {
                Target::Node(to) => nodes.push(to as usize),
                Target::Join(join) if seen.insert(join) => queue.push(Source::Join(join)),
                Target::Join(_) | Target::End => {}
            }
        }
    }
    nodes
}

/// The names along a cycle: `a -> b -> a`.
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
pub(super) fn cycle_through(
    component: &[usize],
    next: &[Vec<usize>],
    first: usize,
    reversed: bool,
) -> Vec<usize> {
    let within: BTreeSet<usize> = component.iter().copied().collect();
    let mut before = BTreeMap::new();
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
            if let Entry::Vacant(entry) = before.entry(to) {
                entry.insert(at);
                queue.push_back(to);
            }
        }
    }
    vec![first]
}

/// The strongly connected components that no edge leaves, each ascending, by their first vertex.
pub(super) fn sinks(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
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
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
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
