//! The states that a run can be in, visited one by one.

use std::collections::HashMap;

use super::outcomes::Outcome;
use super::superstep::{Shape, State};
use crate::collections::SortedMap;
use crate::idx::{NodeIdx, to_u32};
use crate::sorted::{sort, subset, union};

/// The maximum number of explored states.
const MAX_STATES: usize = 20_000;
/// The maximum number of explored transitions.
const MAX_TRANSITIONS: usize = 200_000;
/// The maximum amount of work. It limits time and memory. Work is the sum of the lengths of all sets that are built.
const MAX_WORK: usize = 2_000_000;
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
    /// Visits all states. `None` if there are too many.
    pub(crate) fn explore(shape: &Shape) -> Option<Self> {
        if !shape.complete {
            return None;
        }
        let mut space = StateSpace {
            states: vec![State::default()],
            transitions: Vec::new(),
        };
        let mut known = Numbers::default();
        let mut work = Work(0);
        let mut from = 0;
        while from < space.states.len() {
            let state = &space.states[from];
            let following = match from {
                0 => start_states(shape, state),
                _ => following_states(shape, state, &mut work)?,
            };
            for (state, losses) in &following {
                work.spend(state.frontier.len() + state.arrived.len())?;
                // START has no number.
                let to = known.number(state) + 1;
                if to == space.states.len() {
                    space.states.push(state.clone());
                }
                for lost in losses {
                    space.transitions.push(Transition {
                        from: to_u32(from),
                        to: to_u32(to),
                        lost: lost.clone(),
                    });
                }
            }
            if space.states.len() > MAX_STATES || space.transitions.len() > MAX_TRANSITIONS {
                return None;
            }
            from += 1;
        }
        Some(space)
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

struct Work(usize);

impl Work {
    fn spend(&mut self, work: usize) -> Option<()> {
        self.0 += work + 1;
        (self.0 <= MAX_WORK).then_some(())
    }
}

/// The states with which a run can begin. No node has failed before.
fn start_states(shape: &Shape, state: &State) -> Vec<(State, Losses)> {
    let mut states = Vec::new();
    for outcome in &shape.starts {
        states.push((shape.close(&outcome.tokens, state), vec![Vec::new()]));
    }
    states
}

/// The states that can follow, each with the sets of nodes that may have failed on the transition.
fn following_states(shape: &Shape, state: &State, work: &mut Work) -> Option<Vec<(State, Losses)>> {
    if state.frontier.is_empty() {
        return Some(Vec::new());
    }
    // Nodes with one outcome come first, so that the others are combined with few sets.
    let mut open = Vec::new();
    let mut common = Vec::new();
    for node in &state.frontier {
        match outcomes(shape, *node) {
            [only] => common.extend_from_slice(&only.tokens),
            _ => open.push(*node),
        }
    }
    sort(&mut common);
    common.dedup();
    work.spend(common.len())?;
    let mut partial: SortedMap<Vec<u32>, Losses> = SortedMap::new();
    partial.insert(common, vec![Vec::new()]);
    for node in &open {
        let mut next = SortedMap::new();
        for (tokens, losses) in partial.iter() {
            for outcome in outcomes(shape, *node) {
                work.spend(tokens.len() + outcome.tokens.len() + losses.len())?;
                let known = next.get_or_insert(union(tokens, &outcome.tokens), Losses::new());
                for lost in losses {
                    add_loss(known, lost, outcome.failed.then_some(*node));
                }
            }
        }
        if next.len() > MAX_OUTCOMES {
            return None;
        }
        partial = next;
    }
    let mut following: Vec<(State, Losses)> = Vec::new();
    let mut positions = Numbers::default();
    for (tokens, losses) in partial.iter() {
        work.spend(tokens.len())?;
        let state = shape.close(tokens, state);
        let at = positions.number(&state);
        if at == following.len() {
            following.push((state, losses.clone()));
        } else {
            for lost in losses {
                add_loss(&mut following[at].1, lost, None);
            }
        }
    }
    Some(following)
}

fn outcomes(shape: &Shape, node: NodeIdx) -> &[Outcome] {
    &shape.nodes[node.index()].outcomes
}

fn add_loss(losses: &mut Losses, lost: &[NodeIdx], failed: Option<NodeIdx>) {
    let lost = union(lost, failed.as_slice());
    for known in &*losses {
        if subset(&lost, known) {
            return;
        }
    }
    let mut at = 0;
    while at < losses.len() {
        if subset(&losses[at], &lost) {
            losses.remove(at);
        } else {
            at += 1;
        }
    }
    losses.push(lost);
    if losses.len() > MAX_LOST {
        // The union leaves fewer sure writes than each set, which is sound.
        let mut all = Vec::new();
        for lost in &*losses {
            all = union(&all, lost);
        }
        *losses = vec![all];
    }
}
