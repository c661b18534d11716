//! PF011: no join can wait forever.

use super::cx::Cx;
use super::names;
use crate::analyses::Stuck;
use crate::diagnostic::{Diagnostic, Location};
use crate::graph::{Source, Target};
use crate::rule::Rule;

/// PF011: one diagnostic per join that can wait forever, except those that only wait for another such join.
pub(super) fn joins_complete(cx: &Cx<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let stuck = &cx.exploration.stuck;
    let mut after = Vec::new();
    for stuck in stuck {
        after.push(downstream(cx, Source::Join(stuck.join)));
    }
    // Whether the join `i` waits for a side that comes after the join `j`.
    let waits = |i: usize, j: usize| {
        let mut waits = false;
        for side in &stuck[i].missing {
            waits |= i != j && after[j][cx.graph.vertex(*side)];
        }
        waits
    };
    for (i, join) in stuck.iter().enumerate() {
        // An unreachable side is reported separately, and so is a join that this join waits for.
        let mut explained = !cx.reach.joins[join.join.index()];
        for j in 0..stuck.len() {
            explained = explained || waits(i, j) && !waits(j, i);
        }
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
    let mut after = None;
    for edge in &cx.edges.joins[stuck.join.index()] {
        if edge.to != Target::End {
            after = after.or(Some(edge.to));
        }
    }
    let mut missing = Vec::new();
    for side in &stuck.missing {
        missing.push(format!("`{}`", cx.source(*side)));
    }
    let missing = missing.join(", ");
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
            let mut sides = Vec::new();
            for side in join.split(" & ") {
                sides.push(format!("`{side} -> {node}`"));
            }
            let sides = sides.join(", ");
            format!(
                "to run `{node}` once after the sides that do run, use plain edges {sides} and `defer {node}`"
            )
        }
        None => "to end each side separately, lead plain edges to END".to_owned(),
    };
    format!("the join `{join}` can wait forever: {why}; {fix}")
}

/// The nodes and joins after this source, by `Graph::vertex`.
fn downstream(cx: &Cx<'_>, from: Source) -> Vec<bool> {
    let mut seen = cx.graph.no_vertices();
    let mut queue = vec![from];
    while let Some(source) = queue.pop() {
        for edge in cx.edges.from(source) {
            if let Some(to) = edge.to.source()
                && !std::mem::replace(&mut seen[cx.graph.vertex(to)], true)
            {
                queue.push(to);
            }
        }
    }
    seen
}
