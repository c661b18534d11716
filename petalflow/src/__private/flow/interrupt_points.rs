//! The guards of interrupts.

use petalflow_graph::{KeyFacts, KeySet, NodeFacts, NodeIdx, Rule, messages, same};

use super::check::{Checked, is_guards};
use crate::error::BoxError;

/// The facts of the nodes of a flow with guards. A guard is the index of its node, whether it is after the node, and the keys
/// that it reads.
///
/// A guard after a node can also read the keys that the node has written.
pub const fn guarded<const N: usize>(
    mut facts: [NodeFacts<'static>; N],
    guards: &[(u32, bool, KeySet)],
) -> [NodeFacts<'static>; N] {
    let mut i = 0;
    while i < guards.len() {
        let (index, after, mut reads) = guards[i];
        let node = &mut facts[index as usize];
        if after {
            reads = reads.minus(node.must_write);
        }
        node.reads = node.reads.union(reads);
        i += 1;
    }
    facts
}

/// Reports a key that a guard may read before it is written. The compiler reports an unknown key.
#[track_caller]
pub const fn guard_read(checked: &Checked, index: u32, reads: KeySet, after: bool) {
    let Some(key) = reads.first() else { return };
    let verdict = &checked.verdicts[index as usize];
    let nodes_own = verdict.unwritten_read.is_some() && !is_guards(checked, index);
    if key >= checked.keys.len() || nodes_own {
        return;
    }
    if let Some(text) =
        verdict.guard_text(NodeIdx::new(index), key, after, checked.keys, checked.nodes)
    {
        panic!(
            "{}",
            messages::with_code(Rule::UnwrittenRead, &text).as_str()
        )
    }
}

/// The set with the key of this name. Empty if there is no such key.
pub const fn key_named(keys: &[KeyFacts<'_>], name: &str) -> KeySet {
    let mut key = 0;
    while key < keys.len() {
        if same(keys[key].name, name) {
            return KeySet::of(key);
        }
        key += 1;
    }
    KeySet::NONE
}

/// The result of an interrupt without a guard: it stops the run.
pub fn no_guard() -> Result<bool, BoxError> {
    Ok(true)
}
