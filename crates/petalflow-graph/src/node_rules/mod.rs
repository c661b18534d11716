//! The rules that depend on the types of the nodes: on the keys they read and write, and the routes they choose.
//!
//! [`diagnose`] fills one [`Verdict`] per node. [`report`] turns verdicts into compile errors.

mod assignment;
mod conflicts;
mod report;
mod verdict;

use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::keys::KeySet;
use crate::messages::Precision;
use crate::tables::{EndlessRow, Tables};

use assignment::{all_keys_always_have_values, by_frontiers, by_paths};
use conflicts::{conflicts, repeated_routes};

#[cfg(feature = "analysis")]
pub use report::route_diagnostics;
pub use report::{report, report_arm, report_routes};
pub use verdict::{Conflict, UnwrittenRead, Verdict};

/// The verdict on each node, in constant evaluation. `S` is [`Tables::scratch`].
pub const fn verdicts<const N: usize, const S: usize>(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>; N],
) -> [Verdict; N] {
    let mut verdicts = [Verdict::FINE; N];
    diagnose(tables, keys, nodes, &mut [KeySet::NONE; S], &mut verdicts);
    verdicts
}

/// The verdict on each node, at run time.
#[cfg(feature = "analysis")]
pub fn verdicts_of(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::FINE; nodes.len()];
    diagnose(
        tables,
        keys,
        nodes,
        &mut vec![KeySet::NONE; tables.scratch()],
        &mut verdicts,
    );
    verdicts
}

/// Writes the verdict on each node. On entry the verdicts are [`Verdict::FINE`], in a slice as long as `nodes`; `scratch` has
/// at least [`Tables::scratch`] elements.
///
/// # Panics
///
/// If a slice is too short, or if there are more than [`MAX_KEYS`](crate::MAX_KEYS) keys.
pub const fn diagnose(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    scratch: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    // The tables describe the runs in which each node picks as the graph declares. More runs are possible if a node picks several
    // routes or runs once per delivery.
    let (any, precision) = match tables.delivered {
        _ if tables.any.is_some() && some_many(nodes) => (tables.any, Precision::AnyRoutes),
        Some((several, any)) if some_takes_item(several, nodes) => {
            (Some(any), Precision::Deliveries)
        }
        _ => (None, Precision::TooLarge),
    };
    match (&any, &tables.frontiers) {
        _ if all_keys_always_have_values(keys, nodes) => {}
        (None, Some(frontiers)) => by_frontiers(frontiers, keys, nodes, scratch, verdicts),
        _ => by_paths(&tables.paths, keys, nodes, precision, scratch, verdicts),
    }
    match any {
        None => {
            let precision = if tables.exact {
                Precision::Exact
            } else {
                precision
            };
            conflicts(&tables.together, keys, nodes, precision, scratch, verdicts);
        }
        Some(any) => {
            conflicts(&any.together, keys, nodes, precision, scratch, verdicts);
            repeated_routes(&tables.paths, keys, nodes, precision, verdicts);
            let mut i = 0;
            while i < any.stuck_at.len() {
                verdicts[any.stuck_at[i].index()].stuck_join = true;
                i += 1;
            }
        }
    }
    endless(tables.endless, nodes, verdicts);
}

/// Marks the first set of each part of the graph that never ends because none of its routing nodes picks several routes. If a
/// route has no arm, only that is reported: the missing arm may be the way out.
const fn endless(rows: &[EndlessRow], nodes: &[NodeFacts<'_>], verdicts: &mut [Verdict]) {
    let mut row = 0;
    while row < rows.len() {
        let EndlessRow {
            part,
            set,
            report_at,
            ..
        } = rows[row];
        let (mut many, mut unfinished) = (false, false);
        while row < rows.len() && rows[row].part == part && rows[row].set == set {
            let node = &nodes[rows[row].node.index()];
            many = many || node.many;
            unfinished =
                unfinished || !node.has_route || node.routes.len() > rows[row].arms as usize;
            row += 1;
        }
        if !many {
            if unfinished {
                continue;
            }
            verdicts[report_at.index()].endless_cycle = true;
            while row < rows.len() && rows[row].part == part {
                row += 1;
            }
        }
    }
}

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
