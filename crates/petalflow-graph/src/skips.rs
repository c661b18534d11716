//! Joins that do not wait for sides that nothing can reach any more.

use crate::graph::{Graph, Source, Target};
use crate::idx::{JoinIdx, NodeIdx};
use crate::lists::lists;
use crate::sorted::{insert, search};

/// A join of a [merge](crate::Node::merge), with the nodes that can reach its sides.
///
/// ```
/// use petalflow_graph::{Edge, Graph, JoinIdx, Node, NodeIdx, SkippableJoin, Source, Target, Via};
///
/// // pick -> match { A => a, B => b }; a & b -> last, where `last` is a merge
/// let [pick, a, b, last] = [0, 1, 2, 3].map(NodeIdx::new);
/// let (both, route) = (JoinIdx::new(0), |name: &'static str| Via::Route(name.into()));
/// let edge = |from, via, to| Edge { from, via, to };
/// let graph = Graph {
///     nodes: vec![Node::named("pick"), Node::named("a"), Node::named("b"), Node { merge: true, ..Node::named("last") }].into(),
///     edges: vec![
///         edge(Source::Start, Via::Plain, Target::Node(pick)),
///         edge(Source::Node(pick), route("A"), Target::Node(a)),
///         edge(Source::Node(pick), route("B"), Target::Node(b)),
///         edge(Source::Node(a), Via::Plain, Target::Join(both)),
///         edge(Source::Node(b), Via::Plain, Target::Join(both)),
///         edge(Source::Join(both), Via::Plain, Target::Node(last)),
///     ]
///     .into(),
///     joins: 1,
/// };
/// let joins = SkippableJoin::all(&graph);
/// let arrived = |_| Some(&[true, false][..]);
/// // While `pick` runs, `b` may still run. After `a`, nothing that runs can reach it.
/// assert_eq!(SkippableJoin::next(&joins, arrived, [pick].into_iter()), None);
/// assert_eq!(SkippableJoin::next(&joins, arrived, [].into_iter()), Some(both));
/// ```
#[derive(Clone, Debug)]
pub struct SkippableJoin {
    join: JoinIdx,
    /// For each side, the nodes that can reach it, as bits.
    reached_from: Vec<Vec<u64>>,
    merge: NodeIdx,
}

impl SkippableJoin {
    /// The joins of all merges of a graph.
    pub fn all(graph: &Graph) -> Vec<Self> {
        if !has_merge(graph) {
            return Vec::new();
        }
        let into = Into::of(graph);
        let merges = merges(graph);
        let mut found: Vec<Self> = Vec::new();
        for join in JoinIdx::all(merges.len()) {
            if let Some(merge) = merges[join.index()] {
                let mut reached_from = Vec::new();
                for side in &into.joins[join.index()] {
                    reached_from.push(into.reach(*side, join, merge, &found));
                }
                found.push(SkippableJoin {
                    join,
                    reached_from,
                    merge,
                });
            }
        }
        found
    }

    /// The nodes that can reach a side of this join, if none of them comes after the merge: for a search that would find the same
    /// nodes again.
    fn found_before(known: &[Self], join: JoinIdx, merge: NodeIdx) -> Option<&Self> {
        let index = search(known.len(), &|at| known[at].join.cmp(&join)).ok()?;
        for nodes in &known[index].reached_from {
            if has(nodes, merge) {
                return None;
            }
        }
        Some(&known[index])
    }

    /// The join that fires next without its missing sides, if there is one.
    ///
    /// `arrived` returns the sides of a join that have arrived, by index, and `None` if the join is empty. `active` has the
    /// nodes that will run. If several joins can fire, those come first that others wait for, then the first by index.
    pub fn next<'a>(
        joins: &[Self],
        arrived: impl Fn(JoinIdx) -> Option<&'a [bool]>,
        active: impl Iterator<Item = NodeIdx> + Clone,
    ) -> Option<JoinIdx> {
        let mut ready: Vec<(&Self, &[bool])> = Vec::new();
        'joins: for join in joins {
            if let Some(arrived) = arrived(join.join) {
                for node in active.clone() {
                    if join.waits_for(arrived, node) {
                        continue 'joins;
                    }
                }
                ready.push((join, arrived));
            }
        }
        'ready: for (join, arrived) in &ready {
            for (other, other_arrived) in &ready {
                if other.join != join.join
                    && join.waits_for(arrived, other.merge)
                    && !other.waits_for(other_arrived, join.merge)
                {
                    continue 'ready;
                }
            }
            return Some(join.join);
        }
        ready.first().map(|(join, _)| join.join)
    }

    /// Whether this node can reach a missing side.
    fn waits_for(&self, arrived: &[bool], node: NodeIdx) -> bool {
        for (side, nodes) in self.reached_from.iter().enumerate() {
            if arrived.get(side) == Some(&false) && has(nodes, node) {
                return true;
            }
        }
        false
    }
}

/// Whether a node is among these, which are bits.
fn has(nodes: &[u64], node: NodeIdx) -> bool {
    nodes[node.index() / 64] >> (node.index() % 64) & 1 == 1
}

/// The sources of the edges to each node, and the sides of each join.
struct Into {
    nodes: Vec<Vec<Source>>,
    joins: Vec<Vec<Source>>,
}

impl Into {
    fn of(graph: &Graph) -> Self {
        let mut into = Into {
            nodes: lists(graph.nodes().len()),
            joins: lists(graph.joins as usize),
        };
        for edge in graph.edges() {
            match edge.to {
                Target::Node(node) => into.nodes[node.index()].push(edge.from),
                Target::Join(join) if !into.joins[join.index()].contains(&edge.from) => {
                    into.joins[join.index()].push(edge.from);
                }
                Target::Join(_) | Target::End => {}
            }
        }
        into
    }

    /// The nodes that can reach this side, as bits. What only follows after the join itself does not count. `known` has the joins
    /// of lower indices, so that a chain of merges is not searched again from each of them.
    fn reach(
        &self,
        side: Source,
        join: JoinIdx,
        merge: NodeIdx,
        known: &[SkippableJoin],
    ) -> Vec<u64> {
        let mut nodes = vec![0; self.nodes.len().div_ceil(64)];
        let mut joins = vec![join];
        let mut queue = vec![side];
        while let Some(source) = queue.pop() {
            match source {
                Source::Start => {}
                Source::Join(join) if !insert(&mut joins, join) => {}
                Source::Join(join) => match SkippableJoin::found_before(known, join, merge) {
                    Some(known) => {
                        for side in &known.reached_from {
                            for (word, more) in side.iter().enumerate() {
                                nodes[word] |= more;
                            }
                        }
                    }
                    None => queue.extend_from_slice(&self.joins[join.index()]),
                },
                Source::Node(node) => {
                    let (word, bit) = (&mut nodes[node.index() / 64], 1 << (node.index() % 64));
                    if *word & bit == 0 {
                        *word |= bit;
                        queue.extend_from_slice(&self.nodes[node.index()]);
                    }
                }
            }
        }
        nodes
    }
}

pub(crate) fn has_merge(graph: &Graph) -> bool {
    for node in graph.nodes() {
        if node.merge {
            return true;
        }
    }
    false
}

/// For each join of a merge, the merge.
pub(crate) fn merges(graph: &Graph) -> Vec<Option<NodeIdx>> {
    let mut merges = vec![None; graph.joins as usize];
    for edge in graph.edges() {
        if let (Source::Join(join), Some(node)) = (edge.from, edge.to.node())
            && graph.node(node).merge
        {
            merges[join.index()] = Some(node);
        }
    }
    merges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Node, Via};

    /// A graph of nodes and joins with edges that a generator of pseudo-random numbers chooses, in both directions.
    fn random(seed: &mut u64) -> Graph {
        let mut below = |limit: u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u32::try_from((*seed >> 33) % limit).expect("it is small")
        };
        let (joins, others) = (1 + below(4), 2 + below(6));
        let node = |index: u32| Source::Node(NodeIdx::new(index));
        let edge = |from, to| Edge {
            from,
            via: Via::Plain,
            to,
        };
        let mut edges: Vec<Edge> = (0..joins)
            .map(|join| {
                edge(
                    Source::Join(JoinIdx::new(join)),
                    Target::Node(NodeIdx::new(join)),
                )
            })
            .collect();
        for _ in 0..3 * (joins + others) {
            let (from, to) = (
                below(u64::from(joins + others)),
                below(u64::from(joins + others)),
            );
            // The first nodes are merges.
            edges.push(edge(
                node(from),
                if to < joins {
                    Target::Join(JoinIdx::new(to))
                } else {
                    Target::Node(NodeIdx::new(to))
                },
            ));
        }
        let merge = |index: u32| Node {
            merge: index < joins,
            ..Node::named("n")
        };
        Graph {
            nodes: (0..joins + others).map(merge).collect(),
            edges: edges.into(),
            joins,
        }
    }

    #[test]
    fn known_joins_do_not_change_what_reaches_a_side() {
        let mut seed = 7;
        for _ in 0..2_000 {
            let graph = random(&mut seed);
            let into = Into::of(&graph);
            for found in SkippableJoin::all(&graph) {
                let sides = into.joins[found.join.index()].iter();
                let searched = sides.map(|side| into.reach(*side, found.join, found.merge, &[]));
                assert_eq!(
                    found.reached_from,
                    searched.collect::<Vec<_>>(),
                    "{graph:?}"
                );
            }
        }
    }
}
