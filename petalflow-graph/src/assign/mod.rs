//! Definite assignment: which keys have surely been written when a node runs, and when the run ends.
//!
//! Each value is an intersection over the ways to get there, found as a greatest fixpoint. A read that is not met is taken
//! as met from there on, so that one missing write is reported where it is first missed and not all the way down.

mod by_frontiers;
mod by_paths;

use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::verdict::{Unmet, Verdict};

pub(crate) use by_frontiers::by_frontiers;
pub(crate) use by_paths::by_paths;

/// Whether nothing is read or put out but keys that have a value from the beginning to the end: then there is nothing to find.
#[inline]
pub(crate) const fn always(keys: &[KeyFacts<'_>], nodes: &[NodeFacts<'_>]) -> bool {
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

/// A node reads a key that is not surely written where the run comes from `after`.
#[inline]
const fn report_read(key: usize, after: Option<NodeIdx>, node: usize, verdicts: &mut [Verdict]) {
    #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
    let key = key as u32;
    verdicts[node].unmet = Some(Unmet { key, after });
}

/// A run that ends after the node leaves the key unwritten.
#[inline]
const fn report_output(key: usize, node: usize, verdicts: &mut [Verdict]) {
    if node < verdicts.len() && verdicts[node].output.is_none() {
        #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
        let key = key as u32;
        verdicts[node].output = Some(key);
    }
}
