//! PF011: no join can wait forever.

use super::cx::Cx;
use super::names;
use crate::analyses::Stuck;
use crate::diagnostic::{Diagnostic, Location};
use crate::graph::{Source, Target};
use crate::rule::Rule;
use crate::sorted::SortedSet;

/// PF011: one diagnostic per join that can wait forever, except those that only wait for another such join.
#[inline]
pub(super) fn joins_complete(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let stuck = &cx.exploration.stuck;
    let after: Vec<SortedSet<Source>> = stuck
        .iter()
        .map(|stuck| downstream(cx, Source::Join(stuck.join)))
        .collect();
    let waits =
        |i: usize, j: usize| i != j && stuck[i].missing.iter().any(|side| after[j].contains(side));
    for (i, join) in stuck.iter().enumerate() {
        // An unreachable side is reported separately, and so is a join that this join waits for.
        let explained = !cx.reach.joins[join.join.index()]
            || (0..stuck.len()).any(|j| waits(i, j) && !waits(j, i));
        if !explained {
            diagnostics.push(Diagnostic::new(
                Rule::StuckJoin,
                Location::Join(join.join),
                text(cx, join),
            ));
        }
    }
}

#[inline]
fn text(cx: &Cx<'_>, stuck: &Stuck) -> String {
    let join = names::join(cx.graph, stuck.join);
    let after: Vec<String> = cx.edges.joins[stuck.join.index()]
        .iter()
        .map(|edge| names::target(cx.graph, edge.to))
        .filter(|name| name != "END")
        .collect();
    let missing = stuck
        .missing
        .iter()
        .map(|side| format!("`{}`", cx.source(*side)))
        .collect::<Vec<_>>()
        .join(", ");
    let why = match (stuck.skipped_by, stuck.by_failure) {
        _ if !cx.exploration.exact => "the graph is too large to explore exactly, and its edges do not show that all sides arrive equally often".to_owned(),
        (Some(node), false) => format!("`{}` may choose a route that does not lead to {missing}", cx.name(node)),
        (Some(node), true) if stuck.missing.contains(&Source::Node(node)) => format!("{missing} may fail, and a node that has failed does not arrive"),
        (Some(node), true) => format!("if `{}` fails, {missing} may not run", cx.name(node)),
        (None, _) => format!("the other sides can arrive more often than {missing}"),
    };
    let fix = match after.first() {
        Some(node) => {
            let sides = join
                .split(" & ")
                .map(|side| format!("`{side} -> {node}`"))
                .collect::<Vec<_>>()
                .join(", ");
            format!(
                "to run `{node}` once after the sides that do run, use plain edges {sides} and `defer {node}`"
            )
        }
        None => "to end each side separately, lead plain edges to END".to_owned(),
    };
    format!("the join `{join}` can wait forever: {why}; {fix}")
}

#[inline]
fn downstream(cx: &Cx<'_>, from: Source) -> SortedSet<Source> {
    let mut seen = SortedSet::new();
    let mut queue = vec![from];
    while let Some(source) = queue.pop() {
        for edge in cx.edges.from(source) {
            let to = match edge.to {
                Target::Node(node) => Source::Node(node),
                Target::Join(join) => Source::Join(join),
                Target::End => continue,
            };
            if seen.insert(to) {
                queue.push(to);
            }
        }
    }
    seen
}
