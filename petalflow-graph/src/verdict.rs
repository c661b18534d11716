//! What is wrong with a node once the types are known, and in which words.

use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::text::Text;
use crate::words::{self, Grounds};

/// What is wrong with one node; at most one of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// It reads a key that is not surely written.
    pub unmet: Option<Unmet>,
    /// It may write a key together with another node.
    pub conflict: Option<Conflict>,
    /// A run that ends after it leaves this `output` key unwritten.
    pub output: Option<u32>,
    /// Because a node may pick several routes, or none, a join can be left waiting.
    pub stuck: bool,
    /// It is the first node of a cycle that never ends, whichever route its nodes choose.
    pub endless: bool,
    /// What the answers about reads and outputs rest on.
    pub reading: Grounds,
    /// What the answer about writers rests on.
    pub pairing: Grounds,
}

/// A key that is read before it is surely written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The key.
    pub key: u32,
    /// A node that runs right before on a path that does not write it; none if that is START.
    pub after: Option<NodeIdx>,
}

/// A key that two nodes may write in one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key.
    pub key: u32,
    /// The other node, or the same one if it runs on several items.
    pub other: NodeIdx,
}

impl Verdict {
    /// Nothing is wrong.
    pub const FINE: Self = Verdict {
        unmet: None,
        conflict: None,
        output: None,
        stuck: false,
        endless: false,
        reading: Grounds::States,
        pairing: Grounds::States,
    };

    /// The first thing that is wrong with the node, in words.
    #[inline]
    pub const fn text(
        &self,
        node_idx: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<(Rule, Text)> {
        let node = &nodes[node_idx.index()];
        if self.endless {
            return Some((Rule::EndlessCycle, words::endless_by_choice(node.name)));
        }
        if let Some(Unmet { key, after }) = self.unmet {
            let after = match after {
                Some(after) => Some(nodes[after.index()].name),
                None => None,
            };
            let writers = writers(nodes, key as usize, node_idx.index());
            return Some((
                Rule::UnwrittenRead,
                words::unwritten_read(
                    node.name,
                    keys[key as usize].name,
                    after,
                    writers,
                    self.reading,
                ),
            ));
        }
        if let Some(Conflict { key, other }) = self.conflict {
            let key = keys[key as usize].name;
            let text = if other.as_u32() == node_idx.as_u32() {
                words::conflict_with_itself(node.name, key, self.pairing)
            } else {
                words::conflict(nodes[other.index()].name, node.name, key, self.pairing)
            };
            return Some((Rule::Conflict, text));
        }
        if let Some(key) = self.output {
            return Some((
                Rule::MissingOutput,
                words::missing_output(keys[key as usize].name, node.name, self.reading),
            ));
        }
        if self.stuck {
            return Some((Rule::StuckJoin, words::stuck_by_many(node.name)));
        }
        None
    }

    /// What is wrong with a guard that reads a key of the node: the guard of its `interrupt before`, or after.
    ///
    /// A guard after the node reads what the node has written as well; what is lost after one superstep is lost for it.
    #[inline]
    pub const fn guard_text(
        &self,
        node_idx: NodeIdx,
        key: usize,
        after: bool,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Text> {
        let node = &nodes[node_idx.index()];
        let before = match self.unmet {
            Some(unmet) if unmet.key as usize == key => match unmet.after {
                Some(before) => Some(nodes[before.index()].name),
                None => None,
            },
            _ if after && keys[key].ephemeral && !node.must_write.contains(key) => None,
            _ => return None,
        };
        let key_name = keys[key].name;
        Some(if after {
            // The node itself runs before this guard.
            let writers = writers(nodes, key, usize::MAX);
            words::unwritten_guard_read(
                "after",
                node.name,
                key_name,
                Some(node.name),
                writers,
                self.reading,
            )
        } else {
            let writers = writers(nodes, key, node_idx.index());
            words::unwritten_guard_read(
                "before",
                node.name,
                key_name,
                before,
                writers,
                self.reading,
            )
        })
    }

    /// The first thing that is wrong with the node.
    #[inline]
    pub fn problem(
        &self,
        node_idx: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Problem> {
        let (rule, text) = self.text(node_idx, keys, nodes)?;
        Some(Problem::new(rule, Site::Node(node_idx), text.as_str()))
    }

    /// Everything that is wrong with the node.
    #[inline]
    pub fn problems(
        &self,
        node_idx: NodeIdx,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Vec<Problem> {
        let single = [
            Verdict {
                endless: self.endless,
                ..Self::FINE
            },
            Verdict {
                unmet: self.unmet,
                reading: self.reading,
                ..Self::FINE
            },
            Verdict {
                conflict: self.conflict,
                pairing: self.pairing,
                ..Self::FINE
            },
            Verdict {
                output: self.output,
                reading: self.reading,
                ..Self::FINE
            },
            Verdict {
                stuck: self.stuck,
                ..Self::FINE
            },
        ];
        single
            .iter()
            .filter_map(|verdict| verdict.problem(node_idx, keys, nodes))
            .collect()
    }
}

/// Whether, and how, other nodes write a key.
#[inline]
const fn writers<'a>(nodes: &[NodeFacts<'a>], key: usize, reader: usize) -> words::Writers<'a> {
    let mut maybe = None;
    let mut i = 0;
    while i < nodes.len() {
        if i != reader && nodes[i].must_write.contains(key) {
            return words::Writers::Elsewhere(nodes[i].name);
        }
        if i != reader && maybe.is_none() && nodes[i].may_write.contains(key) {
            maybe = Some(nodes[i].name);
        }
        i += 1;
    }
    match maybe {
        Some(node) => words::Writers::Sometimes(node),
        None => words::Writers::None,
    }
}
