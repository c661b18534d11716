//! Exactly, over the states of the run.

use super::{report_output, report_read};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::frontiers::FrontiersRef;
use crate::idx::NodeIdx;
use crate::keys::KeySet;
use crate::verdict::Verdict;

/// Reports what is read or put out without having surely been written.
#[inline]
pub(crate) const fn by_frontiers(
    frontiers: &FrontiersRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    values: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    let ephemeral = select(keys, Property::Ephemeral);
    let mut state = 0;
    while state < frontiers.states() {
        values[state] = KeySet::ALL;
        state += 1;
    }
    values[0] = select(keys, Property::Assigned);
    let mut changed = true;
    while changed {
        changed = false;
        let mut way = 0;
        while way < frontiers.ways.len() {
            let to = frontiers.ways[way].1 as usize;
            let value = values[to].intersection(after(frontiers, way, ephemeral, nodes, values));
            if !value.equals(&values[to]) {
                values[to] = value;
                // The ways are ordered by where they begin: what a way forward changes is seen in this round.
                changed = changed || to <= frontiers.ways[way].0 as usize;
            }
            way += 1;
        }
    }
    let mut outputs = select(keys, Property::Output);
    let mut state = 0;
    while state < frontiers.states() {
        let mut i = frontiers.offsets[state] as usize;
        while i < frontiers.offsets[state + 1] as usize {
            let node = frontiers.nodes[i] as usize;
            if verdicts[node].unmet.is_none()
                && let Some(key) = nodes[node].reads.minus(values[state]).first()
            {
                let after = missing_before(frontiers, state, key, ephemeral, nodes, values);
                report_read(key, after, node, verdicts);
            }
            i += 1;
        }
        if frontiers.is_end(state)
            && let Some(key) = outputs.minus(values[state]).first()
        {
            let last = match missing_before(frontiers, state, key, ephemeral, nodes, values) {
                Some(node) => node.index(),
                None => 0,
            };
            report_output(key, last, verdicts);
            outputs = outputs.minus(KeySet::of(key));
            continue;
        }
        state += 1;
    }
}

/// What is surely written after the superstep that goes this way.
#[inline]
const fn after(
    frontiers: &FrontiersRef<'_>,
    way: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let (from, _, lost, lost_end) = frontiers.ways[way];
    let from = from as usize;
    if from == 0 {
        return values[0];
    }
    let mut value = values[from];
    let mut written = KeySet::NONE;
    let mut lost = lost as usize;
    let mut i = frontiers.offsets[from] as usize;
    while i < frontiers.offsets[from + 1] as usize {
        let node = &nodes[frontiers.nodes[i] as usize];
        value = value.union(node.reads);
        // Both lists ascend.
        if lost < lost_end as usize && frontiers.lost[lost] == frontiers.nodes[i] {
            lost += 1;
        } else {
            written = written.union(node.must_write);
        }
        i += 1;
    }
    value.minus(ephemeral).union(written)
}

/// A node that runs right before this state on a way on which the key is not written.
#[inline]
const fn missing_before(
    frontiers: &FrontiersRef<'_>,
    state: usize,
    key: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> Option<NodeIdx> {
    let mut way = 0;
    while way < frontiers.ways.len() {
        let (from, to, ..) = frontiers.ways[way];
        if to as usize == state && !after(frontiers, way, ephemeral, nodes, values).contains(key) {
            let first = frontiers.offsets[from as usize];
            return if from == 0 {
                None
            } else {
                Some(NodeIdx::new(frontiers.nodes[first as usize]))
            };
        }
        way += 1;
    }
    None
}
