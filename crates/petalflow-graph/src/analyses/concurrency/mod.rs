//! The nodes that can run in one superstep.

mod by_pairs;

use super::superstep::Routes;
use crate::bits::BitSet;
use crate::edges::batches;
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{NodeIdx, to_u32};
use crate::tables::PairsRef;

pub(crate) use by_pairs::by_pairs;

/// The pairs of nodes that can run in one superstep; `(n, n)` if `n` can run more than once in it, on several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    nodes: usize,
    rows: Vec<BitSet>,
}

impl Pairs {
    /// No pairs of this many nodes.
    pub(crate) fn none(nodes: usize) -> Self {
        Pairs {
            nodes,
            rows: vec![BitSet::default(); nodes],
        }
    }

    /// All pairs of this many nodes.
    pub(crate) fn all(nodes: usize) -> Self {
        Pairs {
            nodes,
            rows: vec![BitSet::all(nodes); nodes],
        }
    }

    /// Whether the two nodes can run in one superstep.
    pub fn contains(&self, a: NodeIdx, b: NodeIdx) -> bool {
        self.rows[a.index()].contains(b.index())
    }

    /// All pairs `(a, b)` with `a <= b`, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (NodeIdx, NodeIdx)> {
        NodeIdx::all(self.nodes).flat_map(move |a| {
            let row = self.rows[a.index()].iter();
            let row = row.filter(move |&b| a.index() <= b && b < self.nodes);
            row.map(move |b| (a, NodeIdx::from_usize(b)))
        })
    }

    /// The pairs in the form of constants.
    pub fn table(&self) -> PairTable {
        let mut table = PairTable {
            offsets: vec![0],
            ranges: Vec::new(),
        };
        for (a, row) in self.rows.iter().enumerate() {
            let after = row.ranges().into_iter().filter_map(|(first, last)| {
                let (first, last) = (first.max(a), last.min(self.nodes - 1));
                (first <= last).then(|| (to_u32(first), to_u32(last)))
            });
            table.ranges.extend(after);
            table.offsets.push(to_u32(table.ranges.len()));
        }
        table
    }

    pub(crate) fn insert(&mut self, a: NodeIdx, b: NodeIdx) -> bool {
        let new = self.rows[a.index()].insert(b.index());
        self.rows[b.index()].insert(a.index());
        new
    }

    /// All pairs of different nodes of one superstep.
    pub(crate) fn insert_all(&mut self, frontier: &BitSet) {
        for node in frontier.iter() {
            let row = &mut self.rows[node];
            let repeated = row.contains(node);
            row.union(frontier);
            if !repeated {
                row.remove(node);
            }
        }
    }

    /// Adds `(n, n)` for the nodes that can receive several items in one superstep. `waits(a, b)` is whether the deferred node
    /// `a` can be waiting while `b` runs: a waiting node collects its deliveries.
    pub(crate) fn insert_repeated(
        &mut self,
        graph: &Graph,
        reached: &BitSet,
        all_routes: Routes,
        waits: &dyn Fn(NodeIdx, NodeIdx) -> bool,
    ) {
        let mut deliveries = vec![Vec::new(); self.nodes];
        let mut receivers = vec![Vec::new(); self.nodes];
        for edge in graph.edges() {
            if let (Source::Node(from), Via::Route(_) | Via::Catch, Target::Node(to)) =
                (edge.from, &edge.via, edge.to)
                && reached.contains(from.index())
            {
                let caught = edge.via == Via::Catch;
                deliveries[to.index()].push(Delivery { from, caught });
                receivers[from.index()].push(to);
            }
        }
        let batches = batches(graph);
        let mut queue = Vec::new();
        for (to, deliveries) in graph.node_indices().zip(&deliveries) {
            let waits = || deliveries.iter().any(|delivery| waits(to, delivery.from));
            if batches[to.index()] && reached.contains(to.index())
                || self.repeats(graph, deliveries, all_routes)
                || graph.node(to).deferred && waits()
            {
                queue.push(to);
            }
        }
        // Several tasks of a sender can each deliver an item.
        while let Some(node) = queue.pop() {
            if self.insert(node, node) {
                queue.extend_from_slice(&receivers[node.index()]);
            }
        }
    }

    /// Whether two of these deliveries can arrive in one superstep.
    fn repeats(&self, graph: &Graph, deliveries: &[Delivery], all_routes: Routes) -> bool {
        let mut senders = BitSet::default();
        let mut choosing = BitSet::default();
        deliveries.iter().any(|&Delivery { from, caught }| {
            // A node can return one of several routes twice. `Routes::Any` does not say which nodes return several, but
            // `diagnose` knows.
            let returned_twice = !caught && graph.node(from).many;
            let two_routes = !caught && !choosing.insert(from.index()) && all_routes == Routes::Any;
            let beside_another = senders.intersects(&self.rows[from.index()]);
            senders.insert(from.index());
            returned_twice || two_routes || beside_another
        })
    }
}

/// A payload of a route, or a caught failure, that a node can send to another one.
#[derive(Clone, Copy)]
struct Delivery {
    from: NodeIdx,
    caught: bool,
}

/// [`Pairs`] in the form of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTable {
    /// See [`PairsRef::offsets`].
    pub offsets: Vec<u32>,
    /// See [`PairsRef::ranges`].
    pub ranges: Vec<(u32, u32)>,
}

impl PairTable {
    /// The form that constant evaluation reads.
    pub fn view(&self) -> PairsRef<'_> {
        PairsRef {
            offsets: &self.offsets,
            ranges: &self.ranges,
        }
    }
}
