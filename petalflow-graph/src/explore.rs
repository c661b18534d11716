//! Everything a graph can do, explored state by state.

use crate::sorted::SortedMap;
use std::collections::HashMap;

use crate::frontiers::Frontiers;
use crate::graph::{Graph, index};
use crate::steps::{Outcome, Routes, Shape, State, batches, diverges, subset, union};
use crate::stuck::{self, Stuck};
use crate::together::{Pairs, by_pairs};
use crate::trapped;

/// More states than this are not explored.
const MOST_STATES: usize = 20_000;
/// More ways from state to state than this are not explored.
const MOST_TRANSITIONS: usize = 200_000;
/// Bounds the time and the memory: the lengths of all sets that were built.
const MOST_WORK: usize = 2_000_000;
/// More outcomes of one superstep than this are not explored: twelve nodes that choose one of two ways each.
const MOST_OUTCOMES: usize = 4096;
/// Between two states, more sets of failed nodes than this are taken together.
const MOST_LOST: usize = 8;

/// What a graph can do.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Whether every state was visited. If not, the rest is still sound: it may hold more than can happen, never less.
    pub exact: bool,
    /// Which nodes can run in one superstep.
    pub pairs: Pairs,
    /// The joins that can be left holding an arrival, by number.
    pub stuck: Vec<Stuck>,
    /// Nodes that keep a run going for ever once it has come to them, whatever they do: each set by itself. Only what joins
    /// keep going is looked for here; the rest can be told from the edges.
    pub endless: Vec<Vec<u32>>,
    /// The states, unless they were not all visited or are too many to write down.
    pub frontiers: Option<Frontiers>,
}

/// Explores what a graph can do, up to 20,000 states; beyond, what can be said without visiting them all.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, Routes, Source, Target, Via, explore};
/// let edge = |from, to| Edge { from, via: Via::Plain, to };
/// let graph = Graph {
///     nodes: ["write", "draw"].map(Node::named).to_vec().into(),
///     edges: [0, 1].map(|node| edge(Source::Start, Target::Node(node))).to_vec().into(),
///     joins: 0,
/// };
/// let exploration = explore(&graph, Routes::AsDeclared);
/// assert!(exploration.exact && exploration.pairs.contains(0, 1));
/// ```
#[inline]
pub fn explore(graph: &Graph, routes: Routes) -> Exploration {
    let mut several = batches(graph);
    loop {
        let exploration = explore_with(graph, routes, &several);
        // As long as no node runs several times that was taken to run once, what was explored is all that can happen.
        let more = match routes {
            Routes::AsDeclared => Vec::new(),
            _ => delivered_several(graph, &exploration.pairs, &several, routes),
        };
        if more.is_empty() {
            return exploration;
        }
        more.iter().for_each(|&node| several[node as usize] = true);
    }
}

/// The nodes beyond `several` that can be delivered to more than once in a superstep, where that makes a difference.
#[inline]
pub(crate) fn delivered_several(
    graph: &Graph,
    pairs: &Pairs,
    several: &[bool],
    routes: Routes,
) -> Vec<u32> {
    let more = |node: u32| !several[node as usize] && pairs.contains(node, node);
    (0..index(graph.nodes.len()))
        .filter(|&node| more(node) && diverges(graph, node, routes))
        .collect()
}

#[inline]
fn explore_with(graph: &Graph, routes: Routes, several: &[bool]) -> Exploration {
    let shape = Shape::of(graph, routes, several);
    let Some(walk) = Walk::through(&shape) else {
        let (pairs, _) = by_pairs(graph, routes, several);
        return Exploration {
            exact: false,
            pairs,
            stuck: stuck::suspected(graph),
            endless: Vec::new(),
            frontiers: None,
        };
    };
    let mut pairs = Pairs::none(graph.nodes.len());
    let mut reached = vec![false; graph.nodes.len()];
    for state in &walk.states {
        pairs.insert_all(&state.frontier);
        for &node in &state.frontier {
            reached[node as usize] = true;
        }
    }
    let waits = |to: u32, from: u32| {
        walk.states.iter().any(|state| {
            state.pending.binary_search(&to).is_ok() && state.frontier.binary_search(&from).is_ok()
        })
    };
    pairs.insert_repeated(graph, &reached, routes, waits);
    let stuck = stuck::found(graph, &shape, &walk);
    let endless = if graph.joins == 0 {
        Vec::new()
    } else {
        trapped::sets(graph, &walk)
    };
    let frontiers = Frontiers::of(&walk, graph.nodes.len());
    Exploration {
        exact: true,
        pairs,
        stuck,
        endless,
        frontiers,
    }
}

/// The states that a run can be in, and the ways between them.
pub(crate) struct Walk {
    /// The first one stands for START; the others without a frontier are the ends of the run.
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
}

pub(crate) struct Transition {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The nodes that have failed on the way.
    pub(crate) lost: Vec<u32>,
}

/// Sets of lost nodes of which none is within another: a way that loses more promises less.
type Losses = Vec<Vec<u32>>;

impl Walk {
    #[inline]
    fn through(shape: &Shape) -> Option<Self> {
        if !shape.complete {
            return None;
        }
        let mut walk = Walk {
            states: vec![State::default()],
            transitions: Vec::new(),
        };
        let mut known = HashMap::new();
        let mut work = Work(0);
        let mut from = 0;
        while from < walk.states.len() {
            let ways = ways(shape, &walk.states[from], from == 0, &mut work)?;
            for (state, losses) in ways {
                work.spend(state.frontier.len() + state.arrived.len())?;
                let to = *known.entry(state).or_insert_with_key(|state| {
                    walk.states.push(state.clone());
                    index(walk.states.len() - 1)
                });
                walk.transitions
                    .extend(losses.into_iter().map(|lost| Transition {
                        from: index(from),
                        to,
                        lost,
                    }));
            }
            if walk.states.len() > MOST_STATES || walk.transitions.len() > MOST_TRANSITIONS {
                return None;
            }
            from += 1;
        }
        Some(walk)
    }
}

struct Work(usize);

impl Work {
    #[inline]
    fn spend(&mut self, work: usize) -> Option<()> {
        self.0 += work + 1;
        (self.0 <= MOST_WORK).then_some(())
    }
}

/// The states that can follow, each with the sets of nodes that may have failed on the way.
#[inline]
fn ways(
    shape: &Shape,
    state: &State,
    start: bool,
    work: &mut Work,
) -> Option<Vec<(State, Losses)>> {
    if start {
        let outcomes = shape
            .starts
            .iter()
            .map(|outcome| (shape.close(&outcome.tokens, state), vec![Vec::new()]));
        return Some(outcomes.collect());
    }
    if state.frontier.is_empty() {
        return Some(Vec::new());
    }
    // Nodes with one outcome come first: what branches is then folded into few sets.
    let (sure, open): (Vec<u32>, Vec<u32>) = state
        .frontier
        .iter()
        .partition(|&&node| outcomes(shape, node).len() == 1);
    let mut common: Vec<u32> = sure
        .iter()
        .flat_map(|&node| &outcomes(shape, node)[0].tokens)
        .copied()
        .collect();
    common.sort_unstable();
    common.dedup();
    work.spend(common.len())?;
    let mut partial = SortedMap::from_iter([(common, vec![Vec::new()])]);
    for node in open {
        let mut next: SortedMap<Vec<u32>, Losses> = SortedMap::new();
        for (tokens, losses) in partial.iter() {
            for outcome in outcomes(shape, node) {
                work.spend(tokens.len() + outcome.tokens.len() + losses.len())?;
                let known = next.get_or(union(tokens, &outcome.tokens), Default::default);
                for lost in losses {
                    add_loss(known, lost, outcome.failed.then_some(node));
                }
            }
        }
        if next.len() > MOST_OUTCOMES {
            return None;
        }
        partial = next;
    }
    let mut ways: Vec<(State, Losses)> = Vec::new();
    let mut places = HashMap::new();
    for (tokens, losses) in partial {
        work.spend(tokens.len())?;
        let state = shape.close(&tokens, state);
        let at = *places.entry(state.clone()).or_insert(ways.len());
        if at == ways.len() {
            ways.push((state, losses));
        } else {
            for lost in &losses {
                add_loss(&mut ways[at].1, lost, None);
            }
        }
    }
    Some(ways)
}

#[inline]
fn outcomes(shape: &Shape, node: u32) -> &[Outcome] {
    &shape.nodes[node as usize].outcomes
}

#[inline]
fn add_loss(losses: &mut Losses, lost: &[u32], failed: Option<u32>) {
    let lost = union(lost, failed.as_slice());
    if losses.iter().any(|known| subset(&lost, known)) {
        return;
    }
    losses.retain(|known| !subset(known, &lost));
    losses.push(lost);
    if losses.len() > MOST_LOST {
        // Taken together they promise less than each alone, which is sound.
        *losses = vec![
            losses
                .iter()
                .fold(Vec::new(), |all, lost| union(&all, lost)),
        ];
    }
}
