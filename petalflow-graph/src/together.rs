//! Which nodes can run in one superstep.

use crate::graph::{Graph, Source, Target, Via, index};
use crate::steps::{EdgesBySource, Routes, batches, routes};

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

/// What a graph can do at most, where exploring it state by state takes too long: the pairs, and the nodes that can run.
///
/// Two nodes can run together if one node set off both or if two nodes that can run together set off one each. A join is
/// taken to follow each of its sides alone, which can only add pairs.
#[inline]
pub(crate) fn by_pairs(graph: &Graph, all_routes: Routes, several: &[bool]) -> (Pairs, Vec<bool>) {
    let follow = Follow::of(graph, all_routes, several);
    let mut pairs = Pairs::none(graph.nodes.len());
    let mut reached = vec![false; graph.nodes.len()];
    let (mut singles, mut doubles): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let add = |pairs: &mut Pairs, doubles: &mut Vec<(u32, u32)>, a: u32, b: u32| {
        // A deferred node runs beside deferred nodes only; those are paired below.
        let apart = graph.nodes[a as usize].deferred || graph.nodes[b as usize].deferred;
        if a != b && !apart && pairs.insert(a, b) {
            doubles.push((a, b));
        }
    };
    singles.extend(&follow.start.all);
    for &(a, b) in &follow.start.together {
        add(&mut pairs, &mut doubles, a, b);
    }
    let mut deferred = Vec::new();
    loop {
        if let Some(node) = singles.pop() {
            if std::mem::replace(&mut reached[node as usize], true) {
                continue;
            }
            let next = &follow.nodes[node as usize];
            singles.extend(&next.all);
            for &(a, b) in &next.together {
                add(&mut pairs, &mut doubles, a, b);
            }
            if graph.nodes[node as usize].deferred {
                for &other in &deferred {
                    if pairs.insert(node, other) {
                        doubles.push((node, other));
                    }
                }
                deferred.push(node);
            }
        } else if let Some((a, b)) = doubles.pop() {
            for &x in &follow.nodes[a as usize].all {
                for &y in &follow.nodes[b as usize].all {
                    add(&mut pairs, &mut doubles, x, y);
                }
            }
        } else {
            break;
        }
    }
    pairs.insert_repeated(graph, &reached, all_routes, |_, _| true);
    (pairs, reached)
}

/// Which nodes each node can set off, alone and together.
struct Follow {
    start: Next,
    nodes: Vec<Next>,
}

struct Next {
    all: Vec<u32>,
    together: Vec<(u32, u32)>,
}

impl Follow {
    #[inline]
    fn of(graph: &Graph, all_routes: Routes, several: &[bool]) -> Self {
        let edges = EdgesBySource::of(graph);
        let next = |source: Source, together: bool, several: bool| {
            let (mut choices, mut fixed, mut caught) = (Vec::new(), Vec::new(), Vec::new());
            for edge in edges.from(source) {
                match edge.via {
                    Via::Plain | Via::Each => fixed.push(ways(&edges, edge.to, is_each(&edge.via))),
                    Via::Catch => caught.push(ways(&edges, edge.to, false)),
                    Via::Route(_) | Via::RouteEach(_) => {}
                }
            }
            for (_, route) in routes(edges.from(source)) {
                choices.push(
                    route
                        .iter()
                        .map(|edge| ways(&edges, edge.to, is_each(&edge.via)))
                        .collect::<Vec<_>>(),
                );
            }
            if together {
                choices = vec![choices.concat()];
            }
            if choices.is_empty() {
                choices.push(Vec::new());
            }
            for choice in &mut choices {
                choice.extend(fixed.iter().cloned());
            }
            if several {
                // Some runs fail and others do not.
                choices
                    .iter_mut()
                    .for_each(|choice| choice.extend(caught.iter().cloned()));
            }
            choices.push(caught);
            Next::of(&choices)
        };
        let together =
            |place: usize| all_routes == Routes::Any || graph.nodes[place].many || several[place];
        Follow {
            start: next(Source::Start, false, false),
            nodes: (0..graph.nodes.len())
                .map(|place| next(Source::Node(index(place)), together(place), several[place]))
                .collect(),
        }
    }
}

impl Next {
    /// What edges that fire together set off; each edge sets off one of its ways.
    #[inline]
    fn of(choices: &[Vec<Ways>]) -> Self {
        let mut next = Next {
            all: Vec::new(),
            together: Vec::new(),
        };
        for edges in choices {
            for (i, ways) in edges.iter().enumerate() {
                for way in ways {
                    next.all.extend(way);
                    next.together
                        .extend(way.iter().flat_map(|&a| way.iter().map(move |&b| (a, b))));
                    let others = edges[i + 1..].iter().flatten().flatten();
                    next.together
                        .extend(others.flat_map(|&b| way.iter().map(move |&a| (a, b))));
                }
            }
        }
        next.together.retain(|(a, b)| a != b);
        next.all.sort_unstable();
        next.all.dedup();
        next
    }
}

/// The alternatives of one edge: the nodes each sets off.
type Ways = Vec<Vec<u32>>;

#[inline]
fn is_each(via: &Via) -> bool {
    matches!(via, Via::Each | Via::RouteEach(_))
}

#[inline]
fn ways(edges: &EdgesBySource<'_>, to: Target, each: bool) -> Ways {
    let mut ways = Vec::new();
    if let Target::Node(node) = to {
        ways.push(vec![node]);
        if each {
            ways.push(Vec::new());
            set_off(edges, node, &mut ways[1]);
        }
    } else {
        ways.push(Vec::new());
        pass_join(edges, to, &mut ways[0], &mut vec![to]);
    }
    ways
}

/// What an empty batch for this node sets off in its place.
#[inline]
fn set_off(edges: &EdgesBySource<'_>, node: u32, nodes: &mut Vec<u32>) {
    let mut empty = vec![node];
    let mut next = 0;
    while let Some(&node) = empty.get(next) {
        next += 1;
        let out = &edges.nodes[node as usize];
        if out
            .iter()
            .any(|edge| matches!(edge.via, Via::Route(_) | Via::RouteEach(_)))
        {
            continue;
        }
        for edge in out.iter().filter(|edge| edge.via != Via::Catch) {
            match edge.to {
                Target::Node(to) if edge.via == Via::Each => {
                    if !empty.contains(&to) {
                        empty.push(to);
                    }
                }
                to => pass_join(edges, to, nodes, &mut vec![to]),
            }
        }
    }
}

#[inline]
fn pass_join(
    edges: &EdgesBySource<'_>,
    to: Target,
    nodes: &mut Vec<u32>,
    passed: &mut Vec<Target>,
) {
    match to {
        Target::Node(node) => nodes.push(node),
        Target::End => {}
        Target::Join(join) => {
            for edge in &edges.joins[join as usize] {
                if !matches!(edge.to, Target::Join(_)) {
                    pass_join(edges, edge.to, nodes, passed);
                } else if !passed.contains(&edge.to) {
                    passed.push(edge.to);
                    pass_join(edges, edge.to, nodes, passed);
                }
            }
        }
    }
}
