//! One superstep, abstractly: what a node's run may set off, and which state follows from it.

use crate::graph::{Edge, Graph, Source, Target, Via, index};
use crate::sorted::{SortedMap, SortedSet};

/// What running a node set off, as sorted tokens; see [`Shape::node`], [`Shape::nothing`] and [`Shape::side`].
pub(crate) type Tokens = Vec<u32>;

/// A node with more choices than this is not explored.
const MOST_CHOICES: u32 = 12;

/// How the routes of a node are picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routes {
    /// Exactly one, or any number where [`Node::many`](crate::Node::many) says so; a node that runs on the items of `each`
    /// picks for every item.
    AsDeclared,
    /// The same, and a node that can be delivered to more than once in a superstep (payloads of routes, failures) picks, or
    /// fails, for every delivery: what happens if it takes items.
    PerDelivery,
    /// Any number by every node, for every delivery: for a caller that does not know yet which nodes pick several.
    Any,
}

/// A graph prepared for stepping.
pub(crate) struct Shape {
    pub(crate) nodes: Vec<Shaped>,
    /// The sides of all joins: join and source.
    pub(crate) sides: Vec<(u32, Source)>,
    /// How many sides each join has.
    pub(crate) widths: Vec<u32>,
    /// What a join sets off.
    outs: Vec<Tokens>,
    /// What START may set off.
    pub(crate) starts: Vec<Outcome>,
    /// Whether all choices are listed; a node with very many has none.
    pub(crate) complete: bool,
}

pub(crate) struct Shaped {
    pub(crate) deferred: bool,
    /// Each way a run can go.
    pub(crate) outcomes: Vec<Outcome>,
    /// What is set off in its place when it was sent no items.
    done: Tokens,
}

/// One way a run can go.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) tokens: Tokens,
    /// The node failed: its writes are lost.
    pub(crate) failed: bool,
}

/// What a run waits for and what it does next, between two supersteps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The nodes of the next superstep, ascending.
    pub(crate) frontier: Vec<u32>,
    /// The sides that have arrived at joins, ascending.
    pub(crate) arrived: Vec<u32>,
    /// Deferred nodes that have been triggered, ascending.
    pub(crate) pending: Vec<u32>,
}

impl Shape {
    /// `several` says which nodes can run more than once in a superstep.
    #[inline]
    pub(crate) fn of(graph: &Graph, routes: Routes, several: &[bool]) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut shape = Shape {
            nodes: Vec::with_capacity(graph.nodes.len()),
            sides: Vec::new(),
            widths: vec![0; graph.joins as usize],
            outs: Vec::new(),
            starts: Vec::new(),
            complete: true,
        };
        let mut sides = SortedMap::new();
        for edge in &*graph.edges {
            if let Target::Join(join) = edge.to {
                sides.get_or((join, edge.from), || {
                    shape.sides.push((join, edge.from));
                    shape.widths[join as usize] += 1;
                    index(shape.sides.len() - 1)
                });
            }
        }
        let tokens = TokensOf {
            nodes: index(graph.nodes.len()),
            sides,
        };
        for (place, node) in graph.nodes.iter().enumerate() {
            let pick = match routes {
                Routes::Any => Pick::Any,
                _ if node.many => Pick::Any,
                // Every run picks one route: together they pick at least one.
                _ if several[place] => Pick::Some,
                _ => Pick::One,
            };
            let outcomes = tokens.outcomes(&edges.nodes[place], pick, several[place]);
            shape.complete &= outcomes.is_some();
            let chooses = edges.nodes[place]
                .iter()
                .any(|edge| matches!(edge.via, Via::Route(_) | Via::RouteEach(_)));
            let done = if chooses {
                Vec::new()
            } else {
                tokens.without_items(&edges.nodes[place])
            };
            shape.nodes.push(Shaped {
                deferred: node.deferred,
                outcomes: outcomes.unwrap_or_default(),
                done,
            });
        }
        shape.outs = edges
            .joins
            .iter()
            .map(|edges| tokens.with_items(edges))
            .collect();
        let starts = tokens.outcomes(&edges.start, Pick::One, false);
        shape.complete &= starts.is_some();
        shape.starts = starts.unwrap_or_default();
        shape
    }

    #[inline]
    fn token(&self, token: u32) -> Token {
        let nodes = index(self.nodes.len());
        match token {
            token if token < nodes => Token::Node(token),
            token if token < 2 * nodes => Token::Nothing(token - nodes),
            token => Token::Side(token - 2 * nodes),
        }
    }

    /// The state after a superstep that set off these tokens.
    ///
    /// The order in which the tokens are looked at does not matter: a side only ever arrives, and whether a batch is empty
    /// depends only on what the nodes themselves set off.
    #[inline]
    pub(crate) fn close(&self, tokens: &[u32], before: &State) -> State {
        let mut next = State {
            frontier: Vec::new(),
            arrived: before.arrived.clone(),
            pending: before.pending.clone(),
        };
        let mut counts = SortedMap::new();
        for &side in &next.arrived {
            *counts.get_or(self.sides[side as usize].0, || 0) += 1;
        }
        let mut fired = SortedSet::new();
        let mut seen = SortedSet::new();
        let mut queue = tokens.to_vec();
        while let Some(token) = queue.pop() {
            if !seen.insert(token) {
                continue;
            }
            match self.token(token) {
                Token::Node(node) if self.nodes[node as usize].deferred => {
                    insert(&mut next.pending, node);
                }
                Token::Node(node) => next.frontier.push(node),
                Token::Nothing(node) => {
                    // Another sender did send items: the batch runs, and its end sets off what follows.
                    if tokens.binary_search(&node).is_err()
                        && before.pending.binary_search(&node).is_err()
                    {
                        queue.extend(&self.nodes[node as usize].done);
                    }
                }
                Token::Side(side) => {
                    let (join, _) = self.sides[side as usize];
                    if next.arrived.binary_search(&side).is_err() {
                        insert(&mut next.arrived, side);
                        *counts.get_or(join, || 0) += 1;
                    }
                    if counts[&join] == self.widths[join as usize] && fired.insert(join) {
                        queue.extend(&self.outs[join as usize]);
                    }
                }
            }
        }
        if !fired.is_empty() {
            next.arrived
                .retain(|&side| !fired.contains(&self.sides[side as usize].0));
        }
        next.frontier.sort_unstable();
        if next.frontier.is_empty() {
            next.frontier = std::mem::take(&mut next.pending);
        }
        next
    }
}

enum Token {
    Node(u32),
    /// The node was sent an empty batch.
    Nothing(u32),
    /// A side arrived.
    Side(u32),
}

/// Which nodes run once per item of a batch.
#[inline]
pub(crate) fn batches(graph: &Graph) -> Vec<bool> {
    let mut batches = vec![false; graph.nodes.len()];
    for edge in &*graph.edges {
        if let (Via::Each | Via::RouteEach(_), Target::Node(node)) = (&edge.via, edge.to) {
            batches[node as usize] = true;
        }
    }
    batches
}

/// Whether it matters how often the node runs in one superstep: runs that choose, or fail, can go different ways.
#[inline]
pub(crate) fn diverges(graph: &Graph, node: u32, routes: Routes) -> bool {
    let many = routes == Routes::Any || graph.nodes[node as usize].many;
    let mut first = None;
    graph.edges.iter().any(|edge| match &edge.via {
        _ if edge.from != Source::Node(node) => false,
        Via::Catch => true,
        Via::Route(name) | Via::RouteEach(name) => !many && *first.get_or_insert(name) != name,
        Via::Plain | Via::Each => false,
    })
}

/// The edges by where they begin.
pub(crate) struct EdgesBySource<'a> {
    pub(crate) start: Vec<&'a Edge>,
    pub(crate) nodes: Vec<Vec<&'a Edge>>,
    pub(crate) joins: Vec<Vec<&'a Edge>>,
}

impl<'a> EdgesBySource<'a> {
    #[inline]
    pub(crate) fn of(graph: &'a Graph) -> Self {
        let mut edges = EdgesBySource {
            start: Vec::new(),
            nodes: vec![Vec::new(); graph.nodes.len()],
            joins: vec![Vec::new(); graph.joins as usize],
        };
        for edge in &*graph.edges {
            match edge.from {
                Source::Start => edges.start.push(edge),
                Source::Node(node) => edges.nodes[node as usize].push(edge),
                Source::Join(join) => edges.joins[join as usize].push(edge),
            }
        }
        edges
    }

    #[inline]
    pub(crate) fn from(&self, source: Source) -> &[&'a Edge] {
        match source {
            Source::Start => &self.start,
            Source::Node(node) => &self.nodes[node as usize],
            Source::Join(join) => &self.joins[join as usize],
        }
    }
}

/// The routes among these edges: the edges of each name, in the order the names first appear.
#[inline]
pub(crate) fn routes<'a>(edges: &[&'a Edge]) -> Vec<(&'a str, Vec<&'a Edge>)> {
    let mut routes: Vec<(&str, Vec<&Edge>)> = Vec::new();
    let mut by_name = SortedMap::new();
    for edge in edges {
        if let Via::Route(name) | Via::RouteEach(name) = &edge.via {
            let at = *by_name.get_or(&**name, || {
                routes.push((name, Vec::new()));
                routes.len() - 1
            });
            routes[at].1.push(edge);
        }
    }
    routes
}

#[derive(Clone, Copy)]
enum Pick {
    One,
    Some,
    Any,
}

struct TokensOf {
    nodes: u32,
    sides: SortedMap<(u32, Source), u32>,
}

impl TokensOf {
    /// All ways in which a run with these edges can go; none if there are too many.
    #[inline]
    fn outcomes(&self, edges: &[&Edge], pick: Pick, several: bool) -> Option<Vec<Outcome>> {
        let fixed: Vec<&Edge> = edges
            .iter()
            .copied()
            .filter(|edge| matches!(edge.via, Via::Plain | Via::Each))
            .collect();
        let caught: Vec<&Edge> = edges
            .iter()
            .copied()
            .filter(|edge| edge.via == Via::Catch)
            .collect();
        let mut outcomes = Vec::new();
        for mut choice in choices(&routes(edges), pick)? {
            choice.extend(&fixed);
            for tokens in self.with_or_without_items(&choice)? {
                outcomes.push(Outcome {
                    tokens,
                    failed: false,
                });
            }
        }
        if !caught.is_empty() {
            let caught = self.with_items(&caught);
            if several {
                // Some runs fail and others do not.
                let mixed: Vec<Outcome> = outcomes
                    .iter()
                    .map(|outcome| Outcome {
                        tokens: sorted([&outcome.tokens[..], &caught].concat()),
                        failed: false,
                    })
                    .collect();
                outcomes.extend(mixed);
            }
            outcomes.push(Outcome {
                tokens: caught,
                failed: true,
            });
        }
        Some(outcomes)
    }

    /// Each list is sent items or none, independently of the others.
    #[inline]
    fn with_or_without_items(&self, edges: &[&Edge]) -> Option<Vec<Tokens>> {
        let lists: Vec<&Edge> = edges.iter().copied().filter(|edge| is_list(edge)).collect();
        let lists_count = index(lists.len());
        if lists_count > MOST_CHOICES {
            return None;
        }
        let sure: Vec<&Edge> = edges
            .iter()
            .copied()
            .filter(|edge| !is_list(edge))
            .collect();
        let sure = self.with_items(&sure);
        let mut all = Vec::new();
        for empty in 0..1u32 << lists_count {
            let mut tokens = sure.clone();
            for (i, edge) in lists.iter().enumerate() {
                tokens.extend(self.token(edge, empty >> i & 1 == 1));
            }
            all.push(sorted(tokens));
        }
        Some(all)
    }

    #[inline]
    fn with_items(&self, edges: &[&Edge]) -> Tokens {
        sorted(
            edges
                .iter()
                .filter_map(|edge| self.token(edge, false))
                .collect(),
        )
    }

    #[inline]
    fn without_items(&self, edges: &[&Edge]) -> Tokens {
        sorted(
            edges
                .iter()
                .filter(|edge| edge.via != Via::Catch)
                .filter_map(|edge| self.token(edge, is_list(edge)))
                .collect(),
        )
    }

    #[inline]
    fn token(&self, edge: &Edge, empty: bool) -> Option<u32> {
        match edge.to {
            Target::Node(node) if empty => Some(self.nodes + node),
            Target::Node(node) => Some(node),
            Target::Join(join) => Some(2 * self.nodes + self.sides[&(join, edge.from)]),
            Target::End => None,
        }
    }
}

#[inline]
fn is_list(edge: &Edge) -> bool {
    matches!(
        (&edge.via, edge.to),
        (Via::Each | Via::RouteEach(_), Target::Node(_))
    )
}

/// The sets of edges that a choice among these routes can fire.
#[inline]
fn choices<'a>(routes: &[(&str, Vec<&'a Edge>)], pick: Pick) -> Option<Vec<Vec<&'a Edge>>> {
    if routes.is_empty() {
        return Some(vec![Vec::new()]);
    }
    let count = index(routes.len());
    let first = match pick {
        Pick::One => return Some(routes.iter().map(|(_, edges)| edges.clone()).collect()),
        Pick::Some => 1,
        Pick::Any => 0,
    };
    if count > MOST_CHOICES {
        return None;
    }
    let subset = |mask: u32| {
        routes
            .iter()
            .enumerate()
            .filter(move |(i, _)| mask >> i & 1 == 1)
            .flat_map(|(_, route)| &route.1)
    };
    Some(
        (first..1u32 << count)
            .map(|mask| subset(mask).copied().collect())
            .collect(),
    )
}

#[inline]
fn sorted(mut tokens: Tokens) -> Tokens {
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

#[inline]
fn insert(set: &mut Vec<u32>, element: u32) {
    if let Err(at) = set.binary_search(&element) {
        set.insert(at, element);
    }
}

/// The union of two sorted sets.
#[inline]
pub(crate) fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let order = a[i].cmp(&b[j]);
        all.push(a[i].min(b[j]));
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    all.extend(&a[i..]);
    all.extend(&b[j..]);
    all
}

/// Whether every element of the sorted set `a` is in the sorted set `b`.
#[inline]
pub(crate) fn subset(a: &[u32], b: &[u32]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|x| rest.any(|y| x == y))
}
