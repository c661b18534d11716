//! Definite assignment: which keys surely have a value when a node runs, and when the run ends.
//!
//! Each set of keys is an intersection over all paths, found as a greatest fixpoint. After a node has read a key without a value,
//! the key counts as written, so that a missing write is reported once, at its first reader.

mod by_frontiers;
mod by_paths;

use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::node_rules::verdict::{UnwrittenRead, Verdict};

pub(crate) use by_frontiers::by_frontiers;
pub(crate) use by_paths::by_paths;

/// Whether all keys that are read or are outputs have a value during the whole run. Then there is nothing to check.
pub(crate) const fn all_keys_always_have_values(
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
) -> bool {
    let lasting = select(keys, Property::Assigned).minus(select(keys, Property::Ephemeral));
    if !select(keys, Property::Output).is_within(&lasting) {
        return false;
    }
    let mut node = 0;
    while node < nodes.len() {
        if !nodes[node].reads.is_within(&lasting) {
            return false;
        }
        node += 1;
    }
    true
}

/// Reports that the node reads a key that may have no value when the run comes from `after`.
const fn report_read(key: usize, after: Option<NodeIdx>, node: usize, verdicts: &mut [Verdict]) {
    #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
    let key = key as u32;
    verdicts[node].unwritten_read = Some(UnwrittenRead { key, after });
}

/// Reports that a run that ends after the node leaves the key unwritten.
const fn report_output(key: usize, node: usize, verdicts: &mut [Verdict]) {
    if node < verdicts.len() && verdicts[node].missing_output.is_none() {
        #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
        let key = key as u32;
        verdicts[node].missing_output = Some(key);
    }
}
