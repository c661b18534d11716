//! The states that a run can be in, visited one by one.

use std::collections::{BTreeMap, HashMap};

use super::outcomes::{Outcome, union};
use super::superstep::{Shape, State};
use super::work::{TooMuchWork, Work};
use crate::idx::{NodeIdx, to_u32};

/// The maximum number of explored states.
const MAX_STATES: usize = 20_000;
/// The maximum number of explored transitions.
const MAX_TRANSITIONS: usize = 200_000;
/// The maximum number of explored outcomes of one superstep: twelve nodes that choose one of two routes each.
const MAX_OUTCOMES: usize = 4096;
/// Above this many sets of failed nodes between two states, the sets are merged.
const MAX_LOST: usize = 8;

/// The states that a run can be in, and the transitions between them.
pub(crate) struct StateSpace {
    /// The first state is START. The other states with an empty frontier are the ends of the run.
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
}

pub(crate) struct Transition {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The nodes that have failed on this transition.
    pub(crate) lost: Vec<NodeIdx>,
}

/// Sets of failed nodes, none of which is a subset of another: with more failures, fewer writes are sure.
type Losses = Vec<Vec<NodeIdx>>;

impl StateSpace {
    /// Visits all states.
    pub(crate) fn explore(shape: &Shape, work: &mut Work) -> Result<Self, TooMuchWork> {
        let mut space = StateSpace {
            states: vec![State::default()],
            transitions: Vec::new(),
        };
        let mut known = Numbers::default();
        let mut from = 0;
        while from < space.states.len() {
            let state = &space.states[from];
            let following = match from {
                0 => start_states(shape, state, work)?,
                _ => following_states(shape, state, work)?,
            };
            for (state, losses) in following {
                work.spend(state.frontier.len() + state.arrived.len())?;
                // START has no number.
                let to = known.number(&state) + 1;
                if to == space.states.len() {
                    space.states.push(state);
                }
                space
                    .transitions
                    .extend(losses.into_iter().map(|lost| Transition {
                        from: to_u32(from),
                        to: to_u32(to),
                        lost,
                    }));
            }
            if space.states.len() > MAX_STATES || space.transitions.len() > MAX_TRANSITIONS {
                return Err(TooMuchWork);
            }
            from += 1;
        }
        Ok(space)
    }
}

/// The numbers of states, in the order in which they are found.
#[derive(Default)]
struct Numbers(HashMap<State, usize>);

impl Numbers {
    fn number(&mut self, state: &State) -> usize {
        if let Some(&known) = self.0.get(state) {
            return known;
        }
        let new = self.0.len();
        self.0.insert(state.clone(), new);
        new
    }
}

/// The states with which a run can begin. No node has failed before.
fn start_states(
    shape: &Shape,
    state: &State,
    work: &mut Work,
) -> Result<Vec<(State, Losses)>, TooMuchWork> {
    let starts = shape.starts.iter();
    starts
        .map(|outcome| Ok((shape.close(&outcome.tokens, state, work)?, vec![Vec::new()])))
        .collect()
}

/// The states that can follow, each with the sets of nodes that may have failed on the transition.
fn following_states(
    shape: &Shape,
    state: &State,
    work: &mut Work,
) -> Result<Vec<(State, Losses)>, TooMuchWork> {
    if state.frontier.is_empty() {
        return Ok(Vec::new());
    }
    // Nodes with one outcome come first, so that the others are combined with few sets.
    let mut open = Vec::new();
    let mut common = Vec::new();
    for &node in &state.frontier {
        match outcomes(shape, node) {
            [only] => {
                work.spend(only.tokens.len())?;
                common.extend_from_slice(&only.tokens);
            }
            _ => open.push(node),
        }
    }
    #[expect(clippy::stable_sort_primitive, reason = "it merges sorted runs")]
    common.sort();
    common.dedup();
    let mut partial = BTreeMap::from([(common, vec![Vec::new()])]);
    for node in open {
        let mut next: BTreeMap<Vec<u32>, Losses> = BTreeMap::new();
        for (tokens, losses) in &partial {
            for outcome in outcomes(shape, node) {
                work.spend(tokens.len() + outcome.tokens.len() + losses.len())?;
                let known = next.entry(union(tokens, &outcome.tokens)).or_default();
                for lost in losses {
                    add_loss(known, lost, outcome.failed.then_some(node));
                }
            }
        }
        if next.len() > MAX_OUTCOMES {
            return Err(TooMuchWork);
        }
        partial = next;
    }
    let mut following: Vec<(State, Losses)> = Vec::new();
    let mut positions = Numbers::default();
    for (tokens, losses) in partial {
        let state = shape.close(&tokens, state, work)?;
        let at = positions.number(&state);
        if at == following.len() {
            following.push((state, losses));
        } else {
            for lost in &losses {
                add_loss(&mut following[at].1, lost, None);
            }
        }
    }
    Ok(following)
}

fn outcomes(shape: &Shape, node: NodeIdx) -> &[Outcome] {
    &shape.nodes[node.index()].outcomes
}

fn add_loss(losses: &mut Losses, lost: &[NodeIdx], failed: Option<NodeIdx>) {
    let lost = union(lost, failed.as_slice());
    if losses.iter().any(|known| subset(&lost, known)) {
        return;
    }
    losses.retain(|known| !subset(known, &lost));
    losses.push(lost);
    if losses.len() > MAX_LOST {
        // The union leaves fewer sure writes than each set, which is sound.
        let all = losses
            .iter()
            .fold(Vec::new(), |all, lost| union(&all, lost));
        *losses = vec![all];
    }
}

/// Whether every element of the sorted set `a` is in the sorted set `b`.
fn subset(a: &[NodeIdx], b: &[NodeIdx]) -> bool {
    a.iter().all(|node| b.binary_search(node).is_ok())
}
