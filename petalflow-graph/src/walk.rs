//! A walk through all states that a run can be in.

use std::collections::HashMap;

use crate::idx::{NodeIdx, to_u32};
use crate::outcomes::Outcome;
use crate::sorted::{SortedMap, subset, union};
use crate::steps::{Shape, State};

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
    pub(crate) lost: Vec<NodeIdx>,
}

/// Sets of lost nodes of which none is within another: a way that loses more promises less.
type Losses = Vec<Vec<NodeIdx>>;

impl Walk {
    #[inline]
    pub(crate) fn through(shape: &Shape) -> Option<Self> {
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
                    to_u32(walk.states.len() - 1)
                });
                walk.transitions
                    .extend(losses.into_iter().map(|lost| Transition {
                        from: to_u32(from),
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
    let (sure, open): (Vec<NodeIdx>, Vec<NodeIdx>) = state
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
fn outcomes(shape: &Shape, node: NodeIdx) -> &[Outcome] {
    &shape.nodes[node.index()].outcomes
}

#[inline]
fn add_loss(losses: &mut Losses, lost: &[NodeIdx], failed: Option<NodeIdx>) {
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
