//! Joins that can wait for a side that never arrives, while nothing else can run.

use std::collections::VecDeque;

use super::state_space::StateSpace;
use super::superstep::Shape;
use crate::edges::{EdgesBySource, batches, routes};
use crate::graph::{Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::skips::merges;
use crate::sorted::{SortedMap, SortedSet};

/// A join at which some sides can arrive and others never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The join.
    pub join: JoinIdx,
    /// The sides that have arrived. Empty if the graph was not explored exactly.
    pub arrived: Vec<Source>,
    /// The sides that have not arrived.
    pub missing: Vec<Source>,
    /// The node that can skip a missing side: it chooses a route, or its failure is caught.
    pub skipped_by: Option<NodeIdx>,
    /// Whether that node skips the side by failing, rather than by choosing.
    pub by_failure: bool,
}

impl Stuck {
    /// The node at which the join is reported: one that skips a side, else one that is a side, else one that runs after the join.
    #[inline]
    pub(crate) fn report_at(&self, graph: &Graph) -> Option<NodeIdx> {
        let node = |source: &Source| {
            if let Source::Node(node) = *source {
                Some(node)
            } else {
                None
            }
        };
        let side = || self.missing.iter().chain(&self.arrived).find_map(node);
        let after = || {
            graph.edges.iter().find_map(|edge| {
                if let (true, Target::Node(node)) = (edge.from == Source::Join(self.join), edge.to)
                {
                    Some(node)
                } else {
                    None
                }
            })
        };
        self.skipped_by.or_else(side).or_else(after)
    }
}

/// The joins at which some sides have arrived at an end of the run. Each join is described by the first such end.
#[inline]
pub(crate) fn found(graph: &Graph, shape: &Shape, space: &StateSpace) -> Vec<Stuck> {
    let mut stuck = SortedMap::new();
    let ends = space
        .states
        .iter()
        .skip(1)
        .filter(|state| state.frontier.is_empty());
    for end in ends {
        let joins: SortedSet<JoinIdx> = end
            .arrived
            .iter()
            .map(|&side| shape.sides[side as usize].0)
            .collect();
        for join in joins {
            stuck.get_or(join, || {
                let sides = (0u32..)
                    .zip(&shape.sides)
                    .filter(|(_, (of, _))| *of == join);
                let (arrived, missing): (Vec<_>, Vec<_>) =
                    sides.partition(|(side, _)| end.arrived.contains(side));
                let sources = |sides: Vec<(u32, &(JoinIdx, Source))>| {
                    sides.into_iter().map(|(_, (_, source))| *source).collect()
                };
                describe(graph, join, sources(arrived), sources(missing))
            });
        }
    }
    stuck.into_values().collect()
}

#[inline]
fn describe(graph: &Graph, join: JoinIdx, arrived: Vec<Source>, missing: Vec<Source>) -> Stuck {
    let skipping = missing.iter().find_map(|&side| skipping_node(graph, side));
    Stuck {
        join,
        arrived,
        missing,
        skipped_by: skipping.map(|(node, _)| node),
        by_failure: skipping.is_some_and(|(_, failure)| failure),
    }
}

/// The nearest node before this side of a join that can skip the side: by its route or, if there is no such node, by failing.
#[inline]
fn skipping_node(graph: &Graph, side: Source) -> Option<(NodeIdx, bool)> {
    let into = sources_into(graph);
    let edges = EdgesBySource::of(graph);
    let batches = batches(graph);
    let mut seen = SortedSet::from([side]);
    let mut queue = VecDeque::from([side]);
    let (mut routing, mut failing) = (None, None);
    while let Some(at) = queue.pop_front() {
        if let Source::Node(node) = at {
            let out = &edges.nodes[node.index()];
            let several = batches[node.index()] || graph.nodes[node.index()].many;
            let routes = routes(out);
            // The side itself chooses only after it has run.
            let chooses = routes.len() > 1 || several && !routes.is_empty();
            if chooses && at != side {
                let skips = routes
                    .iter()
                    .any(|(_, edges)| !edges.iter().any(|edge| leads_to(graph, edge.to, side, at)));
                if skips {
                    return Some((node, false));
                }
                routing = routing.or(Some((node, false)));
            }
            if out.iter().any(|edge| edge.via == Via::Catch) {
                failing = failing.or(Some((node, true)));
            }
        }
        for &from in into.get(&at).into_iter().flatten() {
            if seen.insert(from) {
                queue.push_back(from);
            }
        }
    }
    routing.or(failing)
}

/// Whether an edge to `to` can lead to `side` without running `except` again.
#[inline]
fn leads_to(graph: &Graph, to: Target, side: Source, except: Source) -> bool {
    let edges = EdgesBySource::of(graph);
    let mut seen = SortedSet::new();
    let mut queue: Vec<Source> = as_source(to).into_iter().collect();
    while let Some(at) = queue.pop() {
        if at == side {
            return true;
        }
        if at != except && seen.insert(at) {
            queue.extend(edges.from(at).iter().filter_map(|edge| as_source(edge.to)));
        }
    }
    false
}

#[inline]
fn as_source(target: Target) -> Option<Source> {
    match target {
        Target::Node(node) => Some(Source::Node(node)),
        Target::Join(join) => Some(Source::Join(join)),
        Target::End => None,
    }
}

#[inline]
fn sources_into(graph: &Graph) -> SortedMap<Source, Vec<Source>> {
    let mut into: SortedMap<Source, Vec<Source>> = SortedMap::new();
    for edge in &*graph.edges {
        if let Some(to) = as_source(edge.to) {
            into.get_or(to, Default::default).push(edge.from);
        }
    }
    into
}

/// The joins that may not complete, of a graph that is too large to explore.
///
/// A join surely completes if all its sides lead back to one origin, over nodes that have one plain edge into them and cannot
/// fail, and if the sides arrive in the same superstep or the origin runs at most once.
#[inline]
pub(crate) fn suspected(graph: &Graph) -> Vec<Stuck> {
    let into = edges_into(graph);
    let mut sides: SortedMap<JoinIdx, Vec<(Source, &Via)>> = SortedMap::new();
    for edge in &*graph.edges {
        if let Target::Join(join) = edge.to {
            sides
                .get_or(join, Default::default)
                .push((edge.from, &edge.via));
        }
    }
    let unsure = unsure(graph);
    let merges = merges(graph);
    let suspected = sides.into_iter().filter(|(join, sides)| {
        merges[join.index()].is_none() && !surely_completes(graph, &into, &unsure, sides)
    });
    suspected
        .map(|(join, sides)| {
            describe(
                graph,
                join,
                Vec::new(),
                sides.into_iter().map(|(side, _)| side).collect(),
            )
        })
        .collect()
}

type Into<'a> = SortedMap<NodeIdx, Vec<(Source, &'a Via)>>;

#[inline]
fn edges_into(graph: &Graph) -> Into<'_> {
    let mut into: Into<'_> = SortedMap::new();
    for edge in &*graph.edges {
        if let Target::Node(node) = edge.to {
            into.get_or(node, Default::default)
                .push((edge.from, &edge.via));
        }
    }
    into
}

/// The nodes whose plain edges may not fire, because the node fails or chooses.
#[inline]
fn unsure(graph: &Graph) -> SortedSet<Source> {
    graph
        .edges
        .iter()
        .filter(|edge| !matches!(edge.via, Via::Plain | Via::Each))
        .map(|edge| edge.from)
        .collect()
}

#[inline]
fn surely_completes(
    graph: &Graph,
    into: &Into<'_>,
    unsure: &SortedSet<Source>,
    sides: &[(Source, &Via)],
) -> bool {
    if sides
        .iter()
        .any(|(side, via)| **via != Via::Plain || unsure.contains(side))
    {
        return false;
    }
    let chains: Vec<_> = sides
        .iter()
        .map(|&(side, _)| chain(graph, into, unsure, side))
        .collect();
    let (first, _) = &chains[0];
    first.iter().enumerate().any(|(depth, origin)| {
        let depths: Option<Vec<usize>> = chains
            .iter()
            .map(|(chain, _)| chain.iter().position(|at| at == origin))
            .collect();
        depths.is_some_and(|depths| {
            // Deferred nodes and empty lists change the superstep in which a side arrives.
            let steady = chains
                .iter()
                .zip(&depths)
                .all(|((_, steady), &depth)| steady[..depth].iter().all(|&step| step));
            steady && depths.iter().all(|&other| other == depth) || runs_once(graph, into, *origin)
        })
    })
}

/// The only path to this side, backwards, and for each step whether it takes exactly one superstep.
#[inline]
fn chain(
    graph: &Graph,
    into: &Into<'_>,
    unsure: &SortedSet<Source>,
    side: Source,
) -> (Vec<Source>, Vec<bool>) {
    let (mut path, mut steady) = (vec![side], Vec::new());
    let mut at = side;
    while let Source::Node(node) = at {
        let [(from, via)] = into.get(&node).map_or(&[][..], Vec::as_slice) else {
            break;
        };
        if !matches!(via, Via::Plain | Via::Each) || unsure.contains(from) || path.contains(from) {
            break;
        }
        steady.push(**via == Via::Plain && !graph.nodes[node.index()].deferred);
        path.push(*from);
        at = *from;
    }
    (path, steady)
}

#[inline]
fn runs_once(graph: &Graph, into: &Into<'_>, mut at: Source) -> bool {
    for _ in 0..=graph.nodes.len() {
        match at {
            Source::Start => return true,
            Source::Join(_) => return false,
            Source::Node(node) => match into.get(&node).map(Vec::as_slice) {
                Some([(from, _)]) => at = *from,
                _ => return false,
            },
        }
    }
    false
}
