//! The outcomes of a task: which edges of its node fire together.

use crate::collections::SortedMap;
use crate::edges::routes;
use crate::graph::{Edge, Source, Target, Via};
use crate::idx::{JoinIdx, to_u32};
use crate::sorted::{sort, union};

/// The activations of a task, as sorted tokens; see [`TokensOf::add_token`].
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
    pub(crate) fn outcomes(
        &self,
        edges: &[&Edge],
        pick: Pick,
        several: bool,
    ) -> Option<Vec<Outcome>> {
        let (mut fixed, mut caught) = (Vec::new(), Vec::new());
        for edge in edges {
            match edge.via {
                Via::Plain | Via::Each => fixed.push(*edge),
                Via::Catch => caught.push(*edge),
                Via::Route(_) | Via::RouteEach(_) => {}
            }
        }
        let mut outcomes = Vec::new();
        for choice in &choices(&routes(edges), pick)? {
            let mut fired = choice.clone();
            fired.extend_from_slice(&fixed);
            self.with_or_without_items(&fired, &mut outcomes)?;
        }
        if !caught.is_empty() {
            let caught = self.with_items(&caught);
            if several {
                // Some tasks fail and others do not.
                for at in 0..outcomes.len() {
                    outcomes.push(Outcome {
                        tokens: union(&outcomes[at].tokens, &caught),
                        failed: false,
                    });
                }
            }
            outcomes.push(Outcome {
                tokens: caught,
                failed: true,
            });
        }
        Some(outcomes)
    }

    /// Adds the outcomes if each list, independently of the others, is empty or not. `None` if there are too many.
    fn with_or_without_items(&self, edges: &[&Edge], outcomes: &mut Vec<Outcome>) -> Option<()> {
        let (mut sure, mut lists) = (Vec::new(), Vec::new());
        for edge in edges {
            if edge.sends_list() {
                lists.push(*edge);
            } else {
                sure.push(*edge);
            }
        }
        let lists_count = to_u32(lists.len());
        if lists_count > MAX_CHOICES {
            return None;
        }
        let sure = self.with_items(&sure);
        for empty in 0..1u32 << lists_count {
            let mut tokens = sure.clone();
            for (i, edge) in lists.iter().enumerate() {
                self.add_token(edge, empty >> i & 1 == 1, &mut tokens);
            }
            outcomes.push(Outcome {
                tokens: sorted(tokens),
                failed: false,
            });
        }
        Some(())
    }

    pub(crate) fn with_items(&self, edges: &[&Edge]) -> Tokens {
        let mut tokens = Vec::new();
        for edge in edges {
            self.add_token(edge, false, &mut tokens);
        }
        sorted(tokens)
    }

    pub(crate) fn without_items(&self, edges: &[&Edge]) -> Tokens {
        let mut tokens = Vec::new();
        for edge in edges {
            if edge.via != Via::Catch {
                self.add_token(edge, edge.sends_list(), &mut tokens);
            }
        }
        sorted(tokens)
    }

    /// Adds the activation of an edge. `empty` is whether it sends an empty list.
    fn add_token(&self, edge: &Edge, empty: bool, tokens: &mut Tokens) {
        match edge.to {
            Target::Node(node) if empty => tokens.push(self.nodes + node.as_u32()),
            Target::Node(node) => tokens.push(node.as_u32()),
            Target::Join(join) => {
                tokens.push(2 * self.nodes + self.sides[&(join, edge.from)]);
            }
            Target::End => {}
        }
    }
}

/// The sets of edges that a choice among these routes can fire.
fn choices<'a>(routes: &[(&str, Vec<&'a Edge>)], pick: Pick) -> Option<Vec<Vec<&'a Edge>>> {
    if routes.is_empty() {
        return Some(vec![Vec::new()]);
    }
    let count = to_u32(routes.len());
    let mut subsets = Vec::new();
    let first = match pick {
        Pick::One => {
            for (_, edges) in routes {
                subsets.push(edges.clone());
            }
            return Some(subsets);
        }
        Pick::Some => 1,
        Pick::Any => 0,
    };
    if count > MAX_CHOICES {
        return None;
    }
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

fn sorted(mut tokens: Tokens) -> Tokens {
    sort(&mut tokens);
    tokens.dedup();
    tokens
}
