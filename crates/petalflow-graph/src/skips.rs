//! Joins that do not wait for sides that nothing can reach any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bits::BitSet;
use crate::graph::{Graph, Source, Target};
use crate::idx::{JoinIdx, NodeIdx};

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
    /// For each side, the nodes and joins that can reach it, by [`Graph::vertex`].
    reached_from: Vec<Arc<BitSet>>,
    merge: NodeIdx,
}

impl SkippableJoin {
    /// The joins of all merges of a graph.
    pub fn all(graph: &Graph) -> Vec<Self> {
        let merges = merges(graph);
        if merges.iter().all(Option::is_none) {
            return Vec::new();
        }
        let before = Before::of(graph);
        let mut known: BTreeMap<Source, Arc<BitSet>> = BTreeMap::new();
        let mut skippable = Vec::new();
        for (join, merge) in JoinIdx::all(merges.len()).zip(merges) {
            let Some(merge) = merge else { continue };
            let vertex = graph.vertex(Source::Join(join));
            let reached_from = before.sides[join.index()].iter().map(|&side| {
                let reached = known.entry(side);
                let reached = reached.or_insert_with(|| Arc::new(before.reach(graph, side, None)));
                // Without a cycle through the join, nothing that reaches the side comes after the join.
                if reached.contains(vertex) {
                    Arc::new(before.reach(graph, side, Some(join)))
                } else {
                    Arc::clone(reached)
                }
            });
            skippable.push(SkippableJoin {
                join,
                reached_from: reached_from.collect(),
                merge,
            });
        }
        skippable
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
        let ready: Vec<(&Self, &[bool])> = joins
            .iter()
            .filter_map(|join| Some((join, arrived(join.join)?)))
            .filter(|(join, arrived)| !active.clone().any(|node| join.waits_for(arrived, node)))
            .collect();
        let waits_for_another = |(join, arrived): &(&Self, &[bool])| {
            ready.iter().any(|(other, other_arrived)| {
                other.join != join.join
                    && join.waits_for(arrived, other.merge)
                    && !other.waits_for(other_arrived, join.merge)
            })
        };
        let first = ready.iter().find(|join| !waits_for_another(join));
        first.or(ready.first()).map(|(join, _)| join.join)
    }

    /// Whether this node can reach a missing side.
    fn waits_for(&self, arrived: &[bool], node: NodeIdx) -> bool {
        let mut sides = self.reached_from.iter().zip(arrived);
        sides.any(|(reached, arrived)| !arrived && reached.contains(node.index()))
    }
}

/// The edges in reverse.
struct Before {
    /// The sources of the edges to each node and join, by [`Graph::vertex`].
    sources: Vec<BitSet>,
    /// The sides of each join, in the order of the edges.
    sides: Vec<Vec<Source>>,
}

impl Before {
    fn of(graph: &Graph) -> Self {
        let vertices = graph.vertices();
        let mut before = Before {
            sources: vec![BitSet::default(); vertices],
            sides: vec![Vec::new(); graph.joins as usize],
        };
        for edge in graph.edges() {
            let from = graph.vertex(edge.from);
            if let Some(to) = edge.to.source()
                && before.sources[graph.vertex(to)].insert(from)
                && let Target::Join(join) = edge.to
            {
                before.sides[join.index()].push(edge.from);
            }
        }
        before
    }

    /// The vertices from which a path leads to this side and does not pass through the join `except`.
    fn reach(&self, graph: &Graph, side: Source, except: Option<JoinIdx>) -> BitSet {
        let mut reached = BitSet::default();
        let except = except.map(|join| graph.vertex(Source::Join(join)));
        if let Some(except) = except {
            reached.insert(except);
        }
        let mut queue = Vec::new();
        if reached.insert(graph.vertex(side)) {
            queue.push(graph.vertex(side));
        }
        while let Some(vertex) = queue.pop() {
            reached.insert_all(&self.sources[vertex], &mut queue);
        }
        reached
    }
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
    fn a_shared_search_does_not_change_what_reaches_a_side() {
        let mut seed = 7;
        for _ in 0..2_000 {
            let graph = random(&mut seed);
            let before = Before::of(&graph);
            for found in SkippableJoin::all(&graph) {
                for (side, reached) in before.sides[found.join.index()]
                    .iter()
                    .zip(found.reached_from)
                {
                    let alone = before.reach(&graph, *side, Some(found.join));
                    for node in graph.node_indices() {
                        assert_eq!(
                            reached.contains(node.index()),
                            alone.contains(node.index()),
                            "{graph:?}"
                        );
                    }
                }
            }
        }
    }
}
