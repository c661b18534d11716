//! Joins that can wait for a side that never arrives, while nothing else can run.

use std::collections::{BTreeMap, VecDeque};

use super::state_space::StateSpace;
use super::superstep::Shape;
use super::work::{TooMuchWork, Work};
use crate::bits::BitSet;
use crate::edges::{EdgesBySource, EdgesByTarget, batches, catch, first_node, routes};
use crate::graph::{Edge, Graph, Source, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::skips::merges;

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
    pub(crate) fn report_at(&self, graph: &Graph) -> Option<NodeIdx> {
        let after = || {
            let mut edges = graph
                .edges
                .iter()
                .filter(|edge| edge.from == Source::Join(self.join));
            edges.find_map(|edge| edge.to.node())
        };
        (self.skipped_by)
            .or(first_node(&self.missing))
            .or(first_node(&self.arrived))
            .or_else(after)
    }
}

/// The joins at which some sides have arrived at an end of the run. Each join is described by the first such end.
pub(crate) fn find_stuck(
    graph: &Graph,
    shape: &Shape,
    space: &StateSpace,
    work: &mut Work,
) -> Vec<Stuck> {
    let mut first_end = BTreeMap::new();
    // The first state is START.
    let ends = space.states.iter().skip(1);
    for end in ends.filter(|state| state.frontier.is_empty()) {
        for &side in &end.arrived {
            let (join, _) = shape.sides[side as usize];
            first_end.entry(join).or_insert(end);
        }
    }
    let skipping = Skipping::of(graph);
    let stuck = first_end.into_iter().map(|(join, end)| {
        let sides = shape.sides_of[join.index()].iter();
        let (arrived, missing): (Vec<u32>, Vec<u32>) =
            sides.partition(|side| end.arrived.binary_search(side).is_ok());
        let sources = |sides: Vec<u32>| {
            sides
                .iter()
                .map(|&side| shape.sides[side as usize].1)
                .collect()
        };
        skipping.describe(join, sources(arrived), sources(missing), work)
    });
    stuck.collect()
}

/// The search for the nodes that can skip a side of a join.
struct Skipping<'a> {
    graph: &'a Graph,
    into: EdgesByTarget<'a>,
    /// For each node the targets of each of its routes, if it can choose between some.
    routes: Vec<Vec<Vec<&'a Edge>>>,
    /// Whether the failure of the node is caught.
    catches: Vec<bool>,
}

impl<'a> Skipping<'a> {
    fn of(graph: &'a Graph) -> Self {
        let edges = EdgesBySource::of(graph);
        let batches = batches(graph);
        let routes = edges.nodes.iter().enumerate().map(|(node, out)| {
            let several = batches[node] || graph.nodes[node].many;
            let routes = routes(out);
            if routes.len() > 1 || several {
                routes
            } else {
                Vec::new()
            }
        });
        Skipping {
            graph,
            into: EdgesByTarget::of(graph),
            routes: routes.collect(),
            catches: edges.nodes.iter().map(|out| catch(out)).collect(),
        }
    }

    fn describe(
        &self,
        join: JoinIdx,
        arrived: Vec<Source>,
        missing: Vec<Source>,
        work: &mut Work,
    ) -> Stuck {
        let skipping = missing
            .iter()
            .find_map(|side| self.skipping_node(*side, work));
        Stuck {
            join,
            arrived,
            missing,
            skipped_by: skipping.map(|(node, _)| node),
            by_failure: matches!(skipping, Some((_, true))),
        }
    }

    /// The nearest node before this side of a join that can skip the side: by its route or, if there is no such node, by failing.
    /// After too much work, the nearest node that chooses a route or fails.
    fn skipping_node(&self, side: Source, work: &mut Work) -> Option<(NodeIdx, bool)> {
        if self.routes.iter().all(Vec::is_empty) && !self.catches.contains(&true) {
            return None;
        }
        let (mut routing, mut failing) = (None, None);
        let mut seen = BitSet::of([self.graph.vertex(side)]);
        let mut queue = VecDeque::from([side]);
        while let Some(at) = queue.pop_front() {
            if let Source::Node(node) = at {
                let routes = &self.routes[node.index()];
                // The side itself chooses only after it has run.
                if !routes.is_empty() && at != side {
                    match self.leads_elsewhere(routes, side, at, work) {
                        Ok(false) => routing = routing.or(Some((node, false))),
                        Ok(true) => return Some((node, false)),
                        Err(TooMuchWork) => return routing.or(Some((node, false))),
                    }
                }
                if self.catches[node.index()] {
                    failing = failing.or(Some((node, true)));
                }
            }
            let into = self.into.to(at);
            if work.spend(into.len()).is_err() {
                break;
            }
            for edge in into {
                if seen.insert(self.graph.vertex(edge.from)) {
                    queue.push_back(edge.from);
                }
            }
        }
        routing.or(failing)
    }

    /// Whether one of the routes of `at` cannot lead to `side` without running `at` again.
    fn leads_elsewhere(
        &self,
        routes: &[Vec<&Edge>],
        side: Source,
        at: Source,
        work: &mut Work,
    ) -> Result<bool, TooMuchWork> {
        let mut leading = BitSet::of([self.graph.vertex(side)]);
        let mut queue = vec![side];
        while let Some(to) = queue.pop() {
            let into = self.into.to(to);
            work.spend(into.len())?;
            for edge in into {
                if edge.from != at && leading.insert(self.graph.vertex(edge.from)) {
                    queue.push(edge.from);
                }
            }
        }
        let leads = |edge: &&Edge| {
            let to = edge.to.source();
            to.is_some_and(|to| leading.contains(self.graph.vertex(to)))
        };
        Ok(routes.iter().any(|route| !route.iter().any(leads)))
    }
}

/// The joins that may not complete, of a graph that is too large to explore.
///
/// A join surely completes if all its sides lead back to one origin, over nodes that have one plain edge into them and cannot
/// fail, and if the sides arrive in the same superstep or the origin runs at most once.
pub(crate) fn suspect_stuck(graph: &Graph, work: &mut Work) -> Vec<Stuck> {
    let skipping = Skipping::of(graph);
    let into = &skipping.into;
    let unsure = unsure(graph);
    let joins = JoinIdx::all(into.joins.len()).zip(merges(graph));
    let suspected = joins.filter_map(|(join, merge)| {
        let sides = &into.joins[join.index()];
        if merge.is_some() || sides.is_empty() || surely_completes(graph, into, &unsure, sides) {
            return None;
        }
        let missing = sides.iter().map(|side| side.from).collect();
        Some(skipping.describe(join, Vec::new(), missing, work))
    });
    suspected.collect()
}

/// The sources whose plain edges may not fire, because the node fails or chooses, by [`Graph::vertex`].
fn unsure(graph: &Graph) -> BitSet {
    let unsure = |edge: &&Edge| !matches!(edge.via, Via::Plain | Via::Each);
    let sources = graph
        .edges
        .iter()
        .filter(unsure)
        .map(|edge| graph.vertex(edge.from));
    BitSet::of(sources)
}

fn surely_completes(
    graph: &Graph,
    into: &EdgesByTarget<'_>,
    unsure: &BitSet,
    sides: &[&Edge],
) -> bool {
    let is_sure =
        |side: &&Edge| side.via == Via::Plain && !unsure.contains(graph.vertex(side.from));
    if !sides.iter().all(is_sure) {
        return false;
    }
    let chains: Vec<Chain> = sides
        .iter()
        .map(|side| Chain::of(graph, into, unsure, side.from))
        .collect();
    chains[0].depths.iter().any(|(origin, &depth)| {
        // Deferred nodes and empty lists change the superstep in which a side arrives.
        let together = |chain: &Chain| chain.depths[origin] == depth && depth <= chain.steady;
        chains.iter().all(|chain| chain.depths.contains_key(origin))
            && (chains.iter().all(together) || runs_once(graph, into, *origin))
    })
}

/// The only path to a side, backwards.
struct Chain {
    /// The number of steps from each source on the path to the side.
    depths: BTreeMap<Source, usize>,
    /// How many steps, from the side on, take exactly one superstep each.
    steady: usize,
}

impl Chain {
    fn of(graph: &Graph, into: &EdgesByTarget<'_>, unsure: &BitSet, side: Source) -> Self {
        let mut chain = Chain {
            depths: BTreeMap::from([(side, 0)]),
            steady: 0,
        };
        let mut at = side;
        while let Source::Node(node) = at {
            let [edge] = into.nodes[node.index()][..] else {
                break;
            };
            let depth = chain.depths.len();
            if !matches!(edge.via, Via::Plain | Via::Each)
                || unsure.contains(graph.vertex(edge.from))
                || chain.depths.contains_key(&edge.from)
            {
                break;
            }
            let is_steady = edge.via == Via::Plain && !graph.node(node).deferred;
            if is_steady && chain.steady + 1 == depth {
                chain.steady += 1;
            }
            chain.depths.insert(edge.from, depth);
            at = edge.from;
        }
        chain
    }
}

fn runs_once(graph: &Graph, into: &EdgesByTarget<'_>, mut at: Source) -> bool {
    for _ in 0..=graph.nodes.len() {
        match at {
            Source::Start => return true,
            Source::Join(_) => return false,
            Source::Node(node) => match into.nodes[node.index()][..] {
                [edge] => at = edge.from,
                _ => return false,
            },
        }
    }
    false
}
