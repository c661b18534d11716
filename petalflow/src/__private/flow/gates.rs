//! The guards of interrupts: what they read, and what they say.

use petalflow_graph::{KeyFacts, KeySet, NodeFacts, NodeIdx, Rule, messages, same};

use super::check::{Checked, is_guards};
use crate::error::BoxError;

/// What the checks need to know of the nodes of a flow whose interrupts have guards: each guard's place, whether it is after
/// the node, and what it reads.
///
/// A guard before a node reads what the node could read; one after it also what the node has written.
pub const fn guarded<const N: usize>(
    mut facts: [NodeFacts<'static>; N],
    guards: &[(u32, bool, KeySet)],
) -> [NodeFacts<'static>; N] {
    let mut i = 0;
    while i < guards.len() {
        let (place, after, mut reads) = guards[i];
        let node = &mut facts[place as usize];
        if after {
            reads = reads.minus(node.must_write);
        }
        node.reads = node.reads.union(reads);
        i += 1;
    }
    facts
}

/// Reports a key that a guard reads before it is surely written. What is no key at all is reported by the compiler.
#[track_caller]
#[inline]
pub const fn guard_read(checked: &Checked, place: u32, reads: KeySet, after: bool) {
    let Some(key) = reads.first() else { return };
    let verdict = &checked.verdicts[place as usize];
    let nodes_own = verdict.unwritten_read.is_some() && !is_guards(checked, place);
    if key >= checked.keys.len() || nodes_own {
        return;
    }
    if let Some(text) =
        verdict.guard_text(NodeIdx::new(place), key, after, checked.keys, checked.nodes)
    {
        panic!("{}", messages::coded(Rule::UnwrittenRead, &text).as_str())
    }
}

/// The set of the key of this name; empty if there is none.
#[inline]
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

/// An interrupt without a guard stops the run.
#[inline]
pub fn no_guard() -> Result<bool, BoxError> {
    Ok(true)
}
