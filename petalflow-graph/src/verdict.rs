//! What is wrong with the nodes of a flow once their types are known.

use crate::assign::{by_frontiers, by_paths};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::keys::KeySet;
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::rules::EndlessRow;
use crate::tables::Tables;
use crate::text::Text;
use crate::together::PairsRef;
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
    pub after: Option<u32>,
}

/// A key that two nodes may write in one superstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key.
    pub key: u32,
    /// The other node, or the same one if it runs on several items.
    pub other: u32,
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

    /// The first thing that is wrong with the node at `place`, in words.
    #[inline]
    pub const fn text(
        &self,
        place: u32,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<(Rule, Text)> {
        let node = &nodes[place as usize];
        if self.endless {
            return Some((Rule::EndlessCycle, words::endless_by_choice(node.name)));
        }
        if let Some(Unmet { key, after }) = self.unmet {
            let after = match after {
                Some(after) => Some(nodes[after as usize].name),
                None => None,
            };
            let writers = writers(nodes, key as usize, place as usize);
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
            let text = if other == place {
                words::conflict_with_itself(node.name, key, self.pairing)
            } else {
                words::conflict(nodes[other as usize].name, node.name, key, self.pairing)
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

    /// What is wrong with a guard that reads a key of the node at `place`: the guard of its `interrupt before`, or after.
    ///
    /// A guard after the node reads what the node has written as well; what is lost after one superstep is lost for it.
    #[inline]
    pub const fn guard_text(
        &self,
        place: u32,
        key: usize,
        after: bool,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Text> {
        let node = &nodes[place as usize];
        let before = match self.unmet {
            Some(unmet) if unmet.key as usize == key => match unmet.after {
                Some(before) => Some(nodes[before as usize].name),
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
            let writers = writers(nodes, key, place as usize);
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

    /// The first thing that is wrong with the node at `place`.
    #[inline]
    pub fn problem(
        &self,
        place: u32,
        keys: &[KeyFacts<'_>],
        nodes: &[NodeFacts<'_>],
    ) -> Option<Problem> {
        let (rule, text) = self.text(place, keys, nodes)?;
        Some(Problem::new(rule, Site::Node(place), text.as_str()))
    }

    /// Everything that is wrong with the node at `place`.
    #[inline]
    pub fn problems(
        &self,
        place: u32,
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
            .filter_map(|verdict| verdict.problem(place, keys, nodes))
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

/// What is wrong with each node, in one pass of constant evaluation. `S` is [`Tables::scratch`].
#[inline]
pub const fn verdicts<const N: usize, const S: usize>(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>; N],
) -> [Verdict; N] {
    let mut verdicts = [Verdict::FINE; N];
    judge(tables, keys, nodes, &mut [KeySet::NONE; S], &mut verdicts);
    verdicts
}

/// What is wrong with each node, at run time.
#[inline]
pub fn verdicts_of(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::FINE; nodes.len()];
    judge(
        tables,
        keys,
        nodes,
        &mut vec![KeySet::NONE; tables.scratch()],
        &mut verdicts,
    );
    verdicts
}

/// What is wrong with each node: the verdicts come in as [`Verdict::FINE`], in a slice as long as `nodes`; `scratch` has at
/// least [`Tables::scratch`] elements.
///
/// # Panics
///
/// If a slice is too short, or if there are more than [`MAX_KEYS`](crate::MAX_KEYS) keys.
#[inline]
pub const fn judge(
    tables: &Tables<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    scratch: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    // The tables say what can happen if each node picks as the graph declares; one that picks several can do more, and so
    // can one that runs once per delivery.
    let (any, grounds) = match tables.delivered {
        _ if some_many(nodes) && tables.any.is_some() => (tables.any, Grounds::AnyRoutes),
        Some((several, any)) if some_takes_item(several, nodes) => (Some(any), Grounds::Deliveries),
        _ => (None, Grounds::TooLarge),
    };
    match (&any, &tables.frontiers) {
        (None, Some(frontiers)) => by_frontiers(frontiers, keys, nodes, scratch, verdicts),
        _ => by_paths(&tables.paths, keys, nodes, grounds, scratch, verdicts),
    }
    match any {
        None => {
            let grounds = if tables.exact {
                Grounds::States
            } else {
                grounds
            };
            conflicts(&tables.together, keys, nodes, grounds, scratch, verdicts);
        }
        Some(any) => {
            conflicts(&any.together, keys, nodes, grounds, scratch, verdicts);
            let mut i = 0;
            while i < any.stuck_at.len() {
                verdicts[any.stuck_at[i] as usize].stuck = true;
                i += 1;
            }
        }
    }
    endless(tables.endless, nodes, verdicts);
}

/// Of each part of the graph the first set that never ends, because none of its routing nodes picks several. One of which a
/// route has no arm is reported for that: the arm that was left out may well be the way out.
#[inline]
const fn endless(rows: &[EndlessRow], nodes: &[NodeFacts<'_>], verdicts: &mut [Verdict]) {
    let mut row = 0;
    while row < rows.len() {
        let (part, set, at, ..) = rows[row];
        let (mut many, mut unfinished) = (false, false);
        while row < rows.len() && rows[row].0 == part && rows[row].1 == set {
            let (.., node, arms) = rows[row];
            let node = &nodes[node as usize];
            many = many || node.many;
            unfinished = unfinished || !node.has_route || node.routes.len() > arms as usize;
            row += 1;
        }
        if !many {
            if unfinished {
                continue;
            }
            verdicts[at as usize].endless = true;
            while row < rows.len() && rows[row].0 == part {
                row += 1;
            }
        }
    }
}

#[inline]
const fn some_takes_item(places: &[u32], nodes: &[NodeFacts<'_>]) -> bool {
    let mut i = 0;
    while i < places.len() {
        if nodes[places[i] as usize].takes_item {
            return true;
        }
        i += 1;
    }
    false
}

#[inline]
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

/// Nodes per block in which [`conflicts`] looks for a writer at once.
const BLOCK: usize = 32;

/// For each key the first two writers that can run together: the key is the mistake, so it is reported once.
#[inline]
const fn conflicts(
    together: &PairsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    grounds: Grounds,
    blocks: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    let contested = contested(select(keys, Property::Exclusive), nodes);
    if contested.is_empty() || together.ranges.is_empty() {
        return;
    }
    fill_blocks(nodes, blocks);
    let mut reported = KeySet::NONE;
    let mut a = 0;
    while a < nodes.len() {
        let mut range = together.offsets[a] as usize;
        let end = together.offsets[a + 1] as usize;
        // Most nodes of most flows run alone: nothing else is looked at for them.
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
                // Without items a node runs once per superstep, whatever delivers to it.
                if let Some(key) = both.first()
                    && (a != b || nodes[a].takes_item)
                    && verdicts[b].conflict.is_none()
                {
                    #[expect(clippy::cast_possible_truncation, reason = "places fit, see `index`")]
                    let conflict = Conflict {
                        key: key as u32,
                        other: a as u32,
                    };
                    verdicts[b].conflict = Some(conflict);
                    verdicts[b].pairing = grounds;
                    // Ordering the two nodes settles all the keys they share.
                    reported = reported.union(both);
                }
                b += 1;
            }
            range += 1;
        }
        a += 1;
    }
}

/// What the nodes of each block may write.
#[inline]
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

/// The keys that several nodes write, or one that may run several times in a superstep.
#[inline]
const fn contested(exclusive: KeySet, nodes: &[NodeFacts<'_>]) -> KeySet {
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
