//! The nodes that can run in one superstep.

mod by_pairs;

use super::superstep::Routes;
use crate::edges::batches;
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{NodeIdx, to_u32};
use crate::lists::lists;
use crate::tables::PairsRef;

pub(crate) use by_pairs::by_pairs;

/// The pairs of nodes that can run in one superstep; `(n, n)` if `n` can run more than once in it, on several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    nodes: usize,
    rows: Vec<Vec<u64>>,
}

impl Pairs {
    /// No pairs of this many nodes.
    pub(crate) fn none(nodes: usize) -> Self {
        Pairs {
            nodes,
            rows: vec![vec![0; nodes.div_ceil(64)]; nodes],
        }
    }

    /// All pairs of this many nodes.
    pub(crate) fn all(nodes: usize) -> Self {
        Pairs {
            nodes,
            rows: vec![vec![u64::MAX; nodes.div_ceil(64)]; nodes],
        }
    }

    /// Whether the two nodes can run in one superstep.
    pub fn contains(&self, a: NodeIdx, b: NodeIdx) -> bool {
        self.rows[a.index()][b.index() / 64] >> (b.index() % 64) & 1 == 1
    }

    /// All pairs `(a, b)` with `a <= b`, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (NodeIdx, NodeIdx)> {
        NodeIdx::all(self.nodes).flat_map(move |a| {
            NodeIdx::all(self.nodes)
                .skip(a.index())
                .filter(move |&b| self.contains(a, b))
                .map(move |b| (a, b))
        })
    }

    /// The pairs in the form of constants.
    pub fn table(&self) -> PairTable {
        let mut table = PairTable {
            offsets: vec![0],
            ranges: Vec::new(),
        };
        for a in NodeIdx::all(self.nodes) {
            let begin = table.ranges.len();
            // Most rows are empty, and a row has few words.
            let mut is_empty = true;
            for word in &self.rows[a.index()] {
                is_empty &= *word == 0;
            }
            if !is_empty {
                for b in a.index()..self.nodes {
                    let b = NodeIdx::from_usize(b);
                    if !self.contains(a, b) {
                        continue;
                    }
                    match table.ranges[begin..].last_mut() {
                        Some((_, last)) if *last + 1 == b.as_u32() => *last = b.as_u32(),
                        _ => table.ranges.push((b.as_u32(), b.as_u32())),
                    }
                }
            }
            table.offsets.push(to_u32(table.ranges.len()));
        }
        table
    }

    pub(crate) fn insert(&mut self, a: NodeIdx, b: NodeIdx) -> bool {
        let new = !self.contains(a, b);
        self.rows[a.index()][b.index() / 64] |= 1 << (b.index() % 64);
        self.rows[b.index()][a.index() / 64] |= 1 << (a.index() % 64);
        new
    }

    /// All pairs of different nodes of one superstep.
    pub(crate) fn insert_all(&mut self, frontier: &[NodeIdx]) {
        if frontier.len() < 2 {
            return;
        }
        let mut row = vec![0u64; self.nodes.div_ceil(64)];
        for node in frontier {
            row[node.index() / 64] |= 1 << (node.index() % 64);
        }
        for node in frontier {
            let (word, own) = (node.index() / 64, 1 << (node.index() % 64));
            let all = &mut self.rows[node.index()];
            let had = all[word] & own;
            for (i, more) in row.iter().enumerate() {
                all[i] |= more;
            }
            all[word] = all[word] & !own | had;
        }
    }

    /// Adds `(n, n)` for the nodes that can receive several items in one superstep. `waits(a, b)` is whether the deferred node
    /// `a` can be waiting while `b` runs: a waiting node collects its deliveries.
    pub(crate) fn insert_repeated(
        &mut self,
        graph: &Graph,
        reached: &[bool],
        all_routes: Routes,
        waits: &dyn Fn(NodeIdx, NodeIdx) -> bool,
    ) {
        let mut deliveries: Vec<Vec<Delivery>> = lists(self.nodes);
        let mut queue = Vec::new();
        let batches = batches(graph);
        for node in NodeIdx::all(self.nodes) {
            if batches[node.index()] && reached[node.index()] {
                queue.push(node);
            }
        }
        for edge in &*graph.edges {
            if let (Source::Node(from), Via::Route(_) | Via::Catch, Target::Node(to)) =
                (edge.from, &edge.via, edge.to)
                && reached[from.index()]
            {
                let caught = edge.via == Via::Catch;
                deliveries[to.index()].push(Delivery { from, caught });
            }
        }
        for to in NodeIdx::all(self.nodes) {
            let deliveries = &deliveries[to.index()];
            let mut repeated = self.repeats(graph, deliveries, all_routes);
            if graph.nodes[to.index()].deferred {
                for delivery in deliveries {
                    repeated = repeated || waits(to, delivery.from);
                }
            }
            if repeated {
                queue.push(to);
            }
        }
        // Several tasks of a sender can each deliver an item.
        while let Some(node) = queue.pop() {
            if self.insert(node, node) {
                for to in NodeIdx::all(self.nodes) {
                    if deliveries[to.index()].iter().any(|it| it.from == node) {
                        queue.push(to);
                    }
                }
            }
        }
    }

    /// Whether two of these deliveries can arrive in one superstep.
    fn repeats(&self, graph: &Graph, deliveries: &[Delivery], all_routes: Routes) -> bool {
        for (i, &Delivery { from, caught }) in deliveries.iter().enumerate() {
            // A node can return one of several routes twice. `Routes::Any` does not say which nodes return several, but
            // `diagnose` knows.
            let many = graph.nodes[from.index()].many;
            if many && !caught {
                return true;
            }
            for other in &deliveries[i + 1..] {
                let both = if from == other.from {
                    (many || all_routes == Routes::Any) && !caught && !other.caught
                } else {
                    self.contains(from, other.from)
                };
                if both {
                    return true;
                }
            }
        }
        false
    }
}

/// A payload of a route, or a caught failure, that a node can send to another one.
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
