//! The verdict on each node of a flow, once the types are known.

use crate::assign::{always, by_frontiers, by_paths};
use crate::conflicts::conflicts;
use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::keys::KeySet;
use crate::rules::EndlessRow;
use crate::tables::Tables;
use crate::verdict::Verdict;
use crate::words::Grounds;

/// What is wrong with each node, in one pass of constant evaluation. `S` is [`Tables::scratch`].
#[inline]
pub const fn verdicts<const N: usize, const S: usize>(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>; N],
) -> [Verdict; N] {
    let mut verdicts = [Verdict::FINE; N];
    judge(tables, keys, nodes, &mut [KeySet::NONE; S], &mut verdicts);
    verdicts
}

/// What is wrong with each node, at run time.
#[inline]
pub fn verdicts_of(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::FINE; nodes.len()];
    judge(
        tables,
        keys,
        nodes,
        &mut vec![KeySet::NONE; tables.scratch()],
        &mut verdicts,
    );
    verdicts
}

/// What is wrong with each node: the verdicts come in as [`Verdict::FINE`], in a slice as long as `nodes`; `scratch` has at
/// least [`Tables::scratch`] elements.
///
/// # Panics
///
/// If a slice is too short, or if there are more than [`MAX_KEYS`](crate::MAX_KEYS) keys.
#[inline]
pub const fn judge(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    scratch: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    // The tables say what can happen if each node picks as the graph declares; one that picks several can do more, and so
    // can one that runs once per delivery.
    let (any, grounds) = match tables.delivered {
        _ if tables.any.is_some() && some_many(nodes) => (tables.any, Grounds::AnyRoutes),
        Some((several, any)) if some_takes_item(several, nodes) => (Some(any), Grounds::Deliveries),
        _ => (None, Grounds::TooLarge),
    };
    match (&any, &tables.frontiers) {
        _ if always(keys, nodes) => {}
        (None, Some(frontiers)) => by_frontiers(frontiers, keys, nodes, scratch, verdicts),
        _ => by_paths(&tables.paths, keys, nodes, grounds, scratch, verdicts),
    }
    match any {
        None => {
            let grounds = if tables.exact {
                Grounds::States
            } else {
                grounds
            };
            conflicts(&tables.together, keys, nodes, grounds, scratch, verdicts);
        }
        Some(any) => {
            conflicts(&any.together, keys, nodes, grounds, scratch, verdicts);
            let mut i = 0;
            while i < any.stuck_at.len() {
                verdicts[any.stuck_at[i].index()].stuck = true;
                i += 1;
            }
        }
    }
    endless(tables.endless, nodes, verdicts);
}

/// Of each part of the graph the first set that never ends, because none of its routing nodes picks several. One of which a
/// route has no arm is reported for that: the arm that was left out may well be the way out.
#[inline]
const fn endless(rows: &[EndlessRow], nodes: &[NodeFacts<'_>], verdicts: &mut [Verdict]) {
    let mut row = 0;
    while row < rows.len() {
        let (part, set, at, ..) = rows[row];
        let (mut many, mut unfinished) = (false, false);
        while row < rows.len() && rows[row].0 == part && rows[row].1 == set {
            let (.., node, arms) = rows[row];
            let node = &nodes[node as usize];
            many = many || node.many;
            unfinished = unfinished || !node.has_route || node.routes.len() > arms as usize;
            row += 1;
        }
        if !many {
            if unfinished {
                continue;
            }
            verdicts[at as usize].endless = true;
            while row < rows.len() && rows[row].0 == part {
                row += 1;
            }
        }
    }
}

#[inline]
const fn some_takes_item(some: &[NodeIdx], nodes: &[NodeFacts<'_>]) -> bool {
    let mut i = 0;
    while i < some.len() {
        if nodes[some[i].index()].takes_item {
            return true;
        }
        i += 1;
    }
    false
}

#[inline]
const fn some_many(nodes: &[NodeFacts<'_>]) -> bool {
    let mut i = 0;
    while i < nodes.len() {
        if nodes[i].many {
            return true;
        }
        i += 1;
    }
    false
}
