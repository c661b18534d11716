//! Nodes that may write one key in one superstep.

use super::verdict::{Conflict, Verdict};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::keys::KeySet;
use crate::messages::Precision;
use crate::tables::{PairsRef, PathEdge, PathsRef, kind};

/// The number of nodes per block: [`conflicts`] skips blocks that have no writer.
const BLOCK: usize = 32;

/// Reports for each key the first two writers that can run together. A key is reported once, because it is one mistake.
pub(crate) const fn conflicts(
    together: &PairsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    precision: Precision,
    blocks: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    if together.ranges.is_empty() {
        return;
    }
    let contested = contested_keys(select(keys, Property::Exclusive), nodes);
    if contested.is_empty() {
        return;
    }
    fill_blocks(nodes, blocks);
    let mut reported = KeySet::NONE;
    let mut a = 0;
    while a < nodes.len() {
        let mut range = together.offsets[a] as usize;
        let end = together.offsets[a + 1] as usize;
        // Most nodes run alone. Then this loop does nothing.
        while range < end {
            let writes = nodes[a].may_write.intersection(contested).minus(reported);
            if writes.is_empty() {
                break;
            }
            let (first, last) = together.ranges[range];
            let mut b = first as usize;
            while b <= last as usize {
                if b.is_multiple_of(BLOCK)
                    && b + BLOCK - 1 <= last as usize
                    && blocks[b / BLOCK].intersection(writes).is_empty()
                {
                    b += BLOCK;
                    continue;
                }
                let both = nodes[b].may_write.intersection(writes).minus(reported);
                // A node that takes no items runs once per superstep.
                if let Some(key) = both.first()
                    && (a != b || nodes[a].takes_item)
                    && verdicts[b].conflict.is_none()
                {
                    #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
                    let key = key as u32;
                    let other = NodeIdx::from_usize(a);
                    verdicts[b].conflict = Some(Conflict { key, other });
                    verdicts[b].conflict_precision = precision;
                    // An order between the two nodes fixes all keys that they share.
                    reported = reported.union(both);
                }
                b += 1;
            }
            range += 1;
        }
        a += 1;
    }
}

/// Reports the nodes that a route of a `Vec` can run several times in one superstep, because the route can occur in it with
/// several payloads.
pub(crate) const fn repeated_routes(
    paths: &PathsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    precision: Precision,
    verdicts: &mut [Verdict],
) {
    let exclusive = select(keys, Property::Exclusive);
    let mut i = 0;
    while i < paths.forward.len() {
        let PathEdge { from, to, kind, .. } = paths.forward[i];
        let (from, to) = (from as usize, to as usize);
        if kind & kind::WITHOUT_FLAGS == kind::ROUTE
            && nodes[from].many
            && to < nodes.len()
            && nodes[to].takes_item
            && verdicts[to].conflict.is_none()
            && let Some(key) = nodes[to].may_write.intersection(exclusive).first()
        {
            #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
            let key = key as u32;
            let other = NodeIdx::from_usize(to);
            verdicts[to].conflict = Some(Conflict { key, other });
            verdicts[to].conflict_precision = precision;
        }
        i += 1;
    }
}

/// The keys that the nodes of each block may write.
const fn fill_blocks(nodes: &[NodeFacts<'_>], blocks: &mut [KeySet]) {
    let mut i = 0;
    while i < nodes.len() {
        let before = if i.is_multiple_of(BLOCK) {
            KeySet::NONE
        } else {
            blocks[i / BLOCK]
        };
        blocks[i / BLOCK] = before.union(nodes[i].may_write);
        i += 1;
    }
}

/// The keys that several nodes write, or that a node writes which may run several times in a superstep.
const fn contested_keys(exclusive: KeySet, nodes: &[NodeFacts<'_>]) -> KeySet {
    let mut once = KeySet::NONE;
    let mut twice = KeySet::NONE;
    let mut i = 0;
    while i < nodes.len() {
        let writes = nodes[i].may_write;
        twice = twice.union(if nodes[i].takes_item {
            writes
        } else {
            once.intersection(writes)
        });
        once = once.union(writes);
        i += 1;
    }
    twice.intersection(exclusive)
}
