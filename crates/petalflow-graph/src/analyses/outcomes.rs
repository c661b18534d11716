//! The outcomes of a task: which edges of its node fire together.

use std::collections::BTreeMap;

use super::work::{TooMuchWork, Work};
use crate::edges::{caught, routes, unconditional};
use crate::graph::{Edge, Source, Target, Via};
use crate::idx::JoinIdx;

/// The activations of a task, as sorted tokens; see [`TokensOf::token`].
pub(crate) type Tokens = Vec<u32>;

/// A node with more choices is not explored.
const MAX_CHOICES: usize = 12;

/// One outcome of a task.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) tokens: Tokens,
    /// The task failed, so its writes are lost.
    pub(crate) failed: bool,
}

/// The number of routes that a choice picks.
#[derive(Clone, Copy)]
pub(crate) enum Pick {
    One,
    /// One or more.
    Some,
    /// Any number, including none.
    Any,
}

/// Translates edges to tokens. A token is a number for an activation.
pub(crate) struct TokensOf {
    /// The number of nodes.
    pub(crate) nodes: u32,
    /// The number of each side, by join and source.
    pub(crate) sides: BTreeMap<(JoinIdx, Source), u32>,
}

impl TokensOf {
    /// All outcomes of a task with these edges.
    pub(crate) fn outcomes(
        &self,
        edges: &[&Edge],
        pick: Pick,
        several: bool,
        work: &mut Work,
    ) -> Result<Vec<Outcome>, TooMuchWork> {
        let (fixed, caught) = (unconditional(edges), caught(edges));
        let mut outcomes = Vec::new();
        for choice in choices(&routes(edges), pick, work)? {
            self.with_or_without_items(&[choice, fixed.clone()].concat(), &mut outcomes, work)?;
        }
        if !caught.is_empty() {
            let caught = self.with_items(&caught);
            if several {
                // Some tasks fail and others do not.
                for at in 0..outcomes.len() {
                    let tokens = union(&outcomes[at].tokens, &caught);
                    work.spend(tokens.len())?;
                    outcomes.push(Outcome {
                        tokens,
                        failed: false,
                    });
                }
            }
            outcomes.push(Outcome {
                tokens: caught,
                failed: true,
            });
        }
        Ok(outcomes)
    }

    /// Adds the outcomes if each list, independently of the others, is empty or not.
    fn with_or_without_items(
        &self,
        edges: &[&Edge],
        outcomes: &mut Vec<Outcome>,
        work: &mut Work,
    ) -> Result<(), TooMuchWork> {
        let (lists, sure): (Vec<&Edge>, Vec<&Edge>) =
            edges.iter().partition(|edge| edge.sends_list());
        if lists.len() > MAX_CHOICES {
            return Err(TooMuchWork);
        }
        for empty in 0..1u32 << lists.len() {
            work.spend(edges.len())?;
            let sure = sure.iter().map(|edge| self.token(edge, false));
            let lists = lists.iter().enumerate();
            let lists = lists.map(|(i, edge)| self.token(edge, empty >> i & 1 == 1));
            outcomes.push(Outcome {
                tokens: sorted(sure.chain(lists)),
                failed: false,
            });
        }
        Ok(())
    }

    pub(crate) fn with_items(&self, edges: &[&Edge]) -> Tokens {
        sorted(edges.iter().map(|edge| self.token(edge, false)))
    }

    pub(crate) fn without_items(&self, edges: &[&Edge]) -> Tokens {
        let edges = edges.iter().filter(|edge| edge.via != Via::Catch);
        sorted(edges.map(|edge| self.token(edge, edge.sends_list())))
    }

    /// The activation of an edge: first the nodes, then the nodes that are sent an empty list, then the sides of joins.
    /// `empty` is whether the edge sends an empty list.
    fn token(&self, edge: &Edge, empty: bool) -> Option<u32> {
        match edge.to {
            Target::Node(node) if empty => Some(self.nodes + node.as_u32()),
            Target::Node(node) => Some(node.as_u32()),
            Target::Join(join) => Some(2 * self.nodes + self.sides[&(join, edge.from)]),
            Target::End => None,
        }
    }
}

/// The sets of edges that a choice among these routes can fire.
fn choices<'a>(
    routes: &[Vec<&'a Edge>],
    pick: Pick,
    work: &mut Work,
) -> Result<Vec<Vec<&'a Edge>>, TooMuchWork> {
    if routes.is_empty() {
        return Ok(vec![Vec::new()]);
    }
    let first = match pick {
        Pick::One => return Ok(routes.to_vec()),
        Pick::Some => 1,
        Pick::Any => 0,
    };
    if routes.len() > MAX_CHOICES {
        return Err(TooMuchWork);
    }
    let mut choices = Vec::new();
    for mask in first..1u32 << routes.len() {
        let picked = routes.iter().enumerate();
        let picked = picked.filter(|(i, _)| mask >> i & 1 == 1);
        let choice: Vec<&Edge> = picked.flat_map(|(_, edges)| edges).copied().collect();
        work.spend(choice.len())?;
        choices.push(choice);
    }
    Ok(choices)
}

fn sorted(tokens: impl Iterator<Item = Option<u32>>) -> Tokens {
    let mut tokens: Tokens = tokens.flatten().collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

/// The union of two sorted sets.
pub(super) fn union<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    let mut all = [a, b].concat();
    // The stable sort merges two sorted runs in linear time.
    all.sort();
    all.dedup();
    all
}
