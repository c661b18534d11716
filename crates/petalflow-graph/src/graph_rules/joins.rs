//! PF011: no join can wait forever.

use super::cx::Cx;
use super::names;
use crate::analyses::Stuck;
use crate::bits::BitSet;
use crate::diagnostic::{Diagnostic, Location};
use crate::graph::{Source, Target};
use crate::idx::JoinIdx;
use crate::rule::Rule;

/// PF011: one diagnostic per join that can wait forever, except those that only wait for another such join.
pub(super) fn joins_complete(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let stuck = &cx.exploration.stuck;
    let after: Vec<BitSet> = stuck
        .iter()
        .map(|stuck| downstream(cx, stuck.join))
        .collect();
    let missing = |stuck: &Stuck| {
        let sides = stuck.missing.iter();
        BitSet::of(sides.map(|side| cx.graph.vertex(*side)))
    };
    let missing: Vec<BitSet> = stuck.iter().map(missing).collect();
    // Whether the join `i` waits for a side that comes after the join `j`.
    let waits = |i: usize, j: usize| i != j && missing[i].intersects(&after[j]);
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

fn text(cx: &Cx<'_>, stuck: &Stuck) -> String {
    let join = names::join(cx.graph, stuck.join);
    let mut after = cx.edges.joins[stuck.join.index()]
        .iter()
        .map(|edge| edge.to);
    let after = after.find(|to| *to != Target::End);
    let missing = stuck
        .missing
        .iter()
        .map(|side| format!("`{}`", cx.source(*side)));
    let missing = missing.collect::<Vec<_>>().join(", ");
    let why = match (stuck.skipped_by, stuck.by_failure) {
        _ if !cx.exploration.exact => "the graph is too large to explore exactly, and its edges do not show that all sides arrive equally often".to_owned(),
        (Some(node), false) => format!("`{}` may choose a route that does not lead to {missing}", cx.name(node)),
        (Some(node), true) if stuck.missing.contains(&Source::Node(node)) => format!("{missing} may fail, and a node that has failed does not arrive"),
        (Some(node), true) => format!("if `{}` fails, {missing} may not run", cx.name(node)),
        (None, _) => format!("the other sides can arrive more often than {missing}"),
    };
    let fix = match after {
        Some(target) => {
            let node = names::target(cx.graph, target);
            let sides = join.split(" & ").map(|side| format!("`{side} -> {node}`"));
            let sides = sides.collect::<Vec<_>>().join(", ");
            format!(
                "to run `{node}` once after the sides that do run, use plain edges {sides} and `defer {node}`"
            )
        }
        None => "to end each side separately, lead plain edges to END".to_owned(),
    };
    format!("the join `{join}` can wait forever: {why}; {fix}")
}

/// The nodes and joins after this join, by `Graph::vertex`.
fn downstream(cx: &Cx<'_>, join: JoinIdx) -> BitSet {
    let mut seen = BitSet::default();
    let mut queue = vec![Source::Join(join)];
    while let Some(source) = queue.pop() {
        let targets = cx.edges.from(source).iter();
        let targets = targets.filter_map(|edge| edge.to.source());
        queue.extend(targets.filter(|&to| seen.insert(cx.graph.vertex(to))));
    }
    seen
}
