//! Which nodes can run in one superstep.

use crate::edges::batches;
use crate::graph::{Graph, Source, Target, Via, index};
use crate::steps::Routes;

/// The pairs of nodes that can run in one superstep; `(n, n)` if `n` can run more than once in it, on several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    nodes: usize,
    rows: Vec<Vec<u64>>,
}

impl Pairs {
    /// No pairs of this many nodes.
    #[inline]
    pub(crate) fn none(nodes: usize) -> Self {
        Pairs {
            nodes,
            rows: vec![vec![0; nodes.div_ceil(64)]; nodes],
        }
    }

    /// Whether the two can run in one superstep.
    #[inline]
    pub fn contains(&self, a: u32, b: u32) -> bool {
        self.rows[a as usize][b as usize / 64] >> (b % 64) & 1 == 1
    }

    /// All pairs `(a, b)` with `a <= b`, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..index(self.nodes)).flat_map(move |a| {
            (a..index(self.nodes))
                .filter(move |&b| self.contains(a, b))
                .map(move |b| (a, b))
        })
    }

    /// The pairs as constants that a macro can write down.
    #[inline]
    pub fn table(&self) -> PairTable {
        let mut table = PairTable {
            offsets: vec![0],
            ranges: Vec::new(),
        };
        for a in 0..index(self.nodes) {
            let begin = table.ranges.len();
            // Most rows are empty, and a row is a handful of words.
            if self.rows[a as usize].iter().any(|&word| word != 0) {
                for b in (a..index(self.nodes)).filter(|&b| self.contains(a, b)) {
                    match table.ranges[begin..].last_mut() {
                        Some((_, last)) if *last + 1 == b => *last = b,
                        _ => table.ranges.push((b, b)),
                    }
                }
            }
            table.offsets.push(index(table.ranges.len()));
        }
        table
    }

    #[inline]
    pub(crate) fn insert(&mut self, a: u32, b: u32) -> bool {
        let new = !self.contains(a, b);
        self.rows[a as usize][b as usize / 64] |= 1 << (b % 64);
        self.rows[b as usize][a as usize / 64] |= 1 << (a % 64);
        new
    }

    /// All pairs of different nodes of one superstep.
    #[inline]
    pub(crate) fn insert_all(&mut self, frontier: &[u32]) {
        if frontier.len() < 2 {
            return;
        }
        let mut row = vec![0u64; self.nodes.div_ceil(64)];
        for &node in frontier {
            row[node as usize / 64] |= 1 << (node % 64);
        }
        for &node in frontier {
            let own = 1 << (node % 64);
            let had = self.rows[node as usize][node as usize / 64] & own;
            for (all, more) in self.rows[node as usize].iter_mut().zip(&row) {
                *all |= more;
            }
            let word = &mut self.rows[node as usize][node as usize / 64];
            *word = *word & !own | had;
        }
    }

    /// Adds `(n, n)` for the nodes that can be delivered several items in one superstep. `waits` says whether a deferred node
    /// can have been triggered already when another one runs: it keeps what is delivered to it until it runs.
    #[inline]
    pub(crate) fn insert_repeated(
        &mut self,
        graph: &Graph,
        reached: &[bool],
        all_routes: Routes,
        waits: impl Fn(u32, u32) -> bool,
    ) {
        let mut deliveries: Vec<Vec<(u32, &Via)>> = vec![Vec::new(); self.nodes];
        let many = |node: u32| all_routes == Routes::Any || graph.nodes[node as usize].many;
        let mut queue = Vec::new();
        for (node, batch) in batches(graph).into_iter().enumerate() {
            if batch && reached[node] {
                queue.push(index(node));
            }
        }
        for edge in &*graph.edges {
            if let (Source::Node(from), Via::Route(_) | Via::Catch, Target::Node(to)) =
                (edge.from, &edge.via, edge.to)
                && reached[from as usize]
            {
                deliveries[to as usize].push((from, &edge.via));
            }
        }
        for (to, from) in deliveries.iter().enumerate() {
            let twice = from.iter().enumerate().any(|(i, &(a, via))| {
                from[i + 1..].iter().any(|&(b, other)| {
                    if a == b {
                        many(a) && *via != Via::Catch && *other != Via::Catch
                    } else {
                        self.contains(a, b)
                    }
                })
            });
            let held = |&(from, _): &(u32, &Via)| waits(index(to), from);
            if twice || graph.nodes[to].deferred && from.iter().any(held) {
                queue.push(index(to));
            }
        }
        // Several runs of a sender can each deliver an item.
        while let Some(node) = queue.pop() {
            if self.insert(node, node) {
                let next = (0..self.nodes)
                    .filter(|&to| deliveries[to].iter().any(|&(from, _)| from == node));
                queue.extend(next.map(index));
            }
        }
    }
}

/// [`Pairs`] in the form of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTable {
    /// Where the ranges of each node begin, and where the last ones end.
    pub offsets: Vec<u32>,
    /// For each node `a` the ranges `(first, last)` of nodes `b >= a` that it can run with.
    pub ranges: Vec<(u32, u32)>,
}

impl PairTable {
    /// The form that constant evaluation reads.
    #[inline]
    pub fn view(&self) -> PairsRef<'_> {
        PairsRef {
            offsets: &self.offsets,
            ranges: &self.ranges,
        }
    }
}

/// A borrowed [`PairTable`].
#[derive(Clone, Copy, Debug)]
pub struct PairsRef<'a> {
    /// See [`PairTable::offsets`].
    pub offsets: &'a [u32],
    /// See [`PairTable::ranges`].
    pub ranges: &'a [(u32, u32)],
}

impl PairsRef<'_> {
    /// Whether the two can run in one superstep.
    #[inline]
    pub const fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let mut i = self.offsets[a as usize] as usize;
        while i < self.offsets[a as usize + 1] as usize {
            let (first, last) = self.ranges[i];
            if first <= b && b <= last {
                return true;
            }
            i += 1;
        }
        false
    }
}
