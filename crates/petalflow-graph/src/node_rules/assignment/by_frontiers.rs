//! Definite assignment over the states of the run, which is exact.

use super::{report_output, report_read};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::keys::KeySet;
use crate::node_rules::verdict::Verdict;
use crate::tables::{FrontiersRef, Transition};

/// Reports the keys that are read, or are outputs, and may have no value.
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
        let mut transition = 0;
        while transition < frontiers.transitions.len() {
            let to = frontiers.transitions[transition].to as usize;
            let value =
                values[to].intersection(after(frontiers, transition, ephemeral, nodes, values));
            if !value.equals(&values[to]) {
                values[to] = value;
                // The transitions are sorted by their first state, so this round also reads a change of a later state.
                changed = changed || to <= frontiers.transitions[transition].from as usize;
            }
            transition += 1;
        }
    }
    let mut outputs = select(keys, Property::Output);
    let mut state = 0;
    while state < frontiers.states() {
        let mut i = frontiers.offsets[state] as usize;
        while i < frontiers.offsets[state + 1] as usize {
            let node = frontiers.nodes[i] as usize;
            if verdicts[node].unwritten_read.is_none()
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

/// The keys that surely have a value after this transition.
const fn after(
    frontiers: &FrontiersRef<'_>,
    transition: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let Transition {
        from,
        lost_begin,
        lost_end,
        ..
    } = frontiers.transitions[transition];
    let from = from as usize;
    if from == 0 {
        return values[0];
    }
    let mut value = values[from];
    let mut written = KeySet::NONE;
    let mut lost = lost_begin as usize;
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

/// A node that runs directly before this state, on a transition on which the key is not written.
const fn missing_before(
    frontiers: &FrontiersRef<'_>,
    state: usize,
    key: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> Option<NodeIdx> {
    let mut transition = 0;
    while transition < frontiers.transitions.len() {
        let Transition { from, to, .. } = frontiers.transitions[transition];
        if to as usize == state
            && !after(frontiers, transition, ephemeral, nodes, values).contains(key)
        {
            let first = frontiers.offsets[from as usize];
            return if from == 0 {
                None
            } else {
                Some(NodeIdx::new(frontiers.nodes[first as usize]))
            };
        }
        transition += 1;
    }
    None
}
