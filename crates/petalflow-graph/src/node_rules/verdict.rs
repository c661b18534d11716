//! The verdict on a node: the rules that it breaks, and their messages.

#[cfg(feature = "analysis")]
use crate::diagnostic::{Diagnostic, Location};
use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::messages::{self, Precision, Writers};
use crate::rule::Rule;
use crate::text::Text;

/// The rules that one node breaks: at most one violation of each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// It is the first node of a cycle that never ends, whichever route its nodes choose.
    pub endless_cycle: bool,
    /// It reads a key that may have no value.
    pub unwritten_read: Option<UnwrittenRead>,
    /// It may write a key in the same superstep as another node.
    pub conflict: Option<Conflict>,
    /// A run that ends after this node may leave this `output` key unwritten.
    pub missing_output: Option<u32>,
    /// A join can wait forever, because a node may pick several routes, or none.
    pub stuck_join: bool,
    /// The precision of the analysis of reads and outputs.
    pub read_precision: Precision,
    /// The precision of the analysis of writers.
    pub conflict_precision: Precision,
}

/// A key that is read but may have no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwrittenRead {
    /// The key.
    pub key: u32,
    /// A node that runs directly before, on a path that does not write the key. `None` for START.
    pub after: Option<NodeIdx>,
}

/// A key that two nodes may write in one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key.
    pub key: u32,
    /// The other node, or the same node if it runs on several items.
    pub other: NodeIdx,
}

impl Verdict {
    /// The node breaks no rule.
    pub const FINE: Self = Verdict {
        endless_cycle: false,
        unwritten_read: None,
        conflict: None,
        missing_output: None,
        stuck_join: false,
        read_precision: Precision::Exact,
        conflict_precision: Precision::Exact,
    };

    /// Whether the node breaks no rule.
    pub const fn is_fine(&self) -> bool {
        // Without `..`: a new rule does not compile until it is listed here.
        matches!(
            self,
            Verdict {
                endless_cycle: false,
                unwritten_read: None,
                conflict: None,
                missing_output: None,
                stuck_join: false,
                read_precision: _,
                conflict_precision: _,
            }
        )
    }

    /// The first rule that the node breaks, and the message.
    pub const fn text(
        &self,
        at: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<(Rule, Text)> {
        let node = &nodes[at.index()];
        if self.endless_cycle {
            return Some((Rule::EndlessCycle, messages::endless_by_choice(node.name)));
        }
        if let Some(UnwrittenRead { key, after }) = self.unwritten_read {
            let after = match after {
                Some(after) => Some(nodes[after.index()].name),
                None => None,
            };
            let writers = writers(nodes, key as usize, at.index());
            let key = keys[key as usize].name;
            let text =
                messages::unwritten_read(node.name, key, after, writers, self.read_precision);
            return Some((Rule::UnwrittenRead, text));
        }
        if let Some(Conflict { key, other }) = self.conflict {
            let key = keys[key as usize].name;
            let text = if other.index() == at.index() {
                messages::conflict_with_itself(node.name, key, self.conflict_precision)
            } else {
                let other = nodes[other.index()].name;
                messages::conflict(other, node.name, key, self.conflict_precision)
            };
            return Some((Rule::Conflict, text));
        }
        if let Some(key) = self.missing_output {
            let key = keys[key as usize].name;
            let text = messages::missing_output(key, node.name, self.read_precision);
            return Some((Rule::MissingOutput, text));
        }
        if self.stuck_join {
            return Some((Rule::StuckJoin, messages::stuck_by_many(node.name)));
        }
        None
    }

    /// The message if a guard reads a key that may have no value: the guard of the node's `interrupt before`, or of its
    /// `interrupt after`.
    ///
    /// A guard after the node can also read what the node has written, but not ephemeral values from before the node.
    pub const fn guard_text(
        &self,
        at: NodeIdx,
        key: usize,
        after: bool,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Text> {
        let node = &nodes[at.index()];
        let before = match self.unwritten_read {
            Some(unwritten) if unwritten.key as usize == key => match unwritten.after {
                Some(before) => Some(nodes[before.index()].name),
                None => None,
            },
            _ if after && keys[key].ephemeral && !node.must_write.contains(key) => None,
            _ => return None,
        };
        let key_name = keys[key].name;
        Some(if after {
            // The node itself runs before this guard.
            messages::unwritten_guard_read(
                "after",
                node.name,
                key_name,
                Some(node.name),
                writers(nodes, key, usize::MAX),
                self.read_precision,
            )
        } else {
            messages::unwritten_guard_read(
                "before",
                node.name,
                key_name,
                before,
                writers(nodes, key, at.index()),
                self.read_precision,
            )
        })
    }

    /// The diagnostic for the first rule that the node breaks.
    #[cfg(feature = "analysis")]
    pub fn diagnostic(
        &self,
        at: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Diagnostic> {
        let (rule, text) = self.text(at, keys, nodes)?;
        Some(Diagnostic::new(rule, Location::Node(at), text.as_str()))
    }

    /// The diagnostics for all rules that the node breaks.
    #[cfg(feature = "analysis")]
    pub fn diagnostics(
        &self,
        at: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Vec<Diagnostic> {
        // Without `..`: a new rule does not compile until it is listed here.
        let Verdict {
            endless_cycle,
            unwritten_read,
            conflict,
            missing_output,
            stuck_join,
            read_precision,
            conflict_precision,
        } = *self;
        let fine = Verdict {
            read_precision,
            conflict_precision,
            ..Self::FINE
        };
        [
            Verdict {
                endless_cycle,
                ..fine
            },
            Verdict {
                unwritten_read,
                ..fine
            },
            Verdict { conflict, ..fine },
            Verdict {
                missing_output,
                ..fine
            },
            Verdict { stuck_join, ..fine },
        ]
        .iter()
        .filter_map(|verdict| verdict.diagnostic(at, keys, nodes))
        .collect()
    }
}

/// The nodes other than the reader that write a key.
const fn writers<'a>(nodes: &[NodeFacts<'a>], key: usize, reader: usize) -> Writers<'a> {
    let mut sometimes = None;
    let mut i = 0;
    while i < nodes.len() {
        if i != reader && nodes[i].must_write.contains(key) {
            return Writers::Elsewhere(nodes[i].name);
        }
        if i != reader && sometimes.is_none() && nodes[i].may_write.contains(key) {
            sometimes = Some(nodes[i].name);
        }
        i += 1;
    }
    match sometimes {
        Some(node) => Writers::Sometimes(node),
        None => Writers::None,
    }
}
