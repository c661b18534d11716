//! The outcomes of a task: which edges of its node fire together.

use crate::edges::routes;
use crate::graph::{Edge, Source, Target, Via};
use crate::idx::{JoinIdx, to_u32};
use crate::sorted::{SortedMap, sort};

/// The activations of a task, as sorted tokens; see [`TokensOf::token`].
pub(crate) type Tokens = Vec<u32>;

/// A node with more choices is not explored.
const MAX_CHOICES: u32 = 12;

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
    pub(crate) sides: SortedMap<(JoinIdx, Source), u32>,
}

impl TokensOf {
    /// All outcomes of a task with these edges. `None` if there are too many.
    #[inline]
    pub(crate) fn outcomes(
        &self,
        edges: &[&Edge],
        pick: Pick,
        several: bool,
    ) -> Option<Vec<Outcome>> {
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
                // Some tasks fail and others do not.
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

    /// The activations if each list, independently of the others, is empty or not.
    #[inline]
    fn with_or_without_items(&self, edges: &[&Edge]) -> Option<Vec<Tokens>> {
        let lists: Vec<&Edge> = edges
            .iter()
            .copied()
            .filter(|edge| edge.sends_list())
            .collect();
        let lists_count = to_u32(lists.len());
        if lists_count > MAX_CHOICES {
            return None;
        }
        let sure: Vec<&Edge> = edges
            .iter()
            .copied()
            .filter(|edge| !edge.sends_list())
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
    pub(crate) fn with_items(&self, edges: &[&Edge]) -> Tokens {
        sorted(
            edges
                .iter()
                .filter_map(|edge| self.token(edge, false))
                .collect(),
        )
    }

    #[inline]
    pub(crate) fn without_items(&self, edges: &[&Edge]) -> Tokens {
        sorted(
            edges
                .iter()
                .filter(|edge| edge.via != Via::Catch)
                .filter_map(|edge| self.token(edge, edge.sends_list()))
                .collect(),
        )
    }

    #[inline]
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
#[inline]
fn choices<'a>(routes: &[(&str, Vec<&'a Edge>)], pick: Pick) -> Option<Vec<Vec<&'a Edge>>> {
    if routes.is_empty() {
        return Some(vec![Vec::new()]);
    }
    let count = to_u32(routes.len());
    let first = match pick {
        Pick::One => return Some(routes.iter().map(|(_, edges)| edges.clone()).collect()),
        Pick::Some => 1,
        Pick::Any => 0,
    };
    if count > MAX_CHOICES {
        return None;
    }
    let mut subsets = Vec::new();
    for mask in first..1u32 << count {
        let mut subset = Vec::new();
        for (i, (_, edges)) in routes.iter().enumerate() {
            if mask >> i & 1 == 1 {
                subset.extend_from_slice(edges);
            }
        }
        subsets.push(subset);
    }
    Some(subsets)
}

#[inline]
fn sorted(mut tokens: Tokens) -> Tokens {
    sort(&mut tokens);
    tokens.dedup();
    tokens
}
