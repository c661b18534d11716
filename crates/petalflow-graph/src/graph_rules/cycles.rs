//! PF010: every cycle can be left.

use super::cx::Cx;
use crate::analyses::nontermination::{EdgeCycles, Picks, is_marked, mark, successors};
use crate::components::{components, cycle_through};
use crate::diagnostic::{Diagnostic, Location};
use crate::idx::NodeIdx;
use crate::rule::Rule;

/// PF010: one diagnostic per cycle. Cycles that a node can leave by picking no route are checked when its type is known; see [`Tables::endless`](crate::Tables::endless).
pub(super) fn cycles_can_be_left(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let cycles = EdgeCycles::of(cx.graph, &cx.edges, &cx.reach);
    let mut reported = vec![false; cx.graph.nodes.len()];
    let (parts, next) = cycles.without_end(Picks::Any);
    for part in &parts {
        diagnostics.push(end_unreachable(cx, &cycle_through(part, &next, part[0])));
        mark(&mut reported, part);
    }
    for part in &cycles.parts(Picks::Any) {
        if is_marked(&reported, part) {
            continue;
        }
        diagnostics.push(edges_always_fire(cx, &cycles.cycle(part)));
        mark(&mut reported, part);
    }
    for set in &cx.exploration.endless {
        let nodes: Vec<usize> = set.iter().map(|node| node.index()).collect();
        if is_marked(&reported, &nodes) {
            continue;
        }
        let mut next = vec![Vec::new(); cx.graph.nodes.len()];
        for node in set {
            let mut within = successors(&cx.edges, *node);
            within.retain(|to| nodes.binary_search(to).is_ok());
            next[node.index()] = within;
        }
        for part in &components(&next) {
            if part.len() > 1 || next[part[0]].contains(&part[0]) {
                diagnostics.push(edges_always_fire(cx, &cycle_through(part, &next, part[0])));
                mark(&mut reported, &nodes);
                break;
            }
        }
    }
}

/// A cycle from which no path leads to END.
fn end_unreachable(cx: &Cx<'_>, cycle: &[usize]) -> Diagnostic {
    let (first, shown) = (NodeIdx::from_usize(cycle[0]), cx.show_cycle(cycle));
    let name = cx.name(first);
    let text = format!(
        "the cycle `{shown}` has no way out: END cannot be reached from it; let a node of it choose a route, such as `{name} -> match {{ Again => .., Done => END }}`"
    );
    Diagnostic::new(Rule::EndlessCycle, Location::Node(first), text)
}

/// A cycle whose edges always fire.
fn edges_always_fire(cx: &Cx<'_>, cycle: &[usize]) -> Diagnostic {
    let shown = cx.show_cycle(cycle);
    let text = format!(
        "the cycle `{shown}` has no way out: all its edges fire whenever their nodes have run, so the run cannot end; let a node of it choose a route"
    );
    let first = NodeIdx::from_usize(cycle[0]);
    Diagnostic::new(Rule::EndlessCycle, Location::Node(first), text)
}
