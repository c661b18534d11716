//! Joins that can wait for a side that never arrives, while nothing else can run.

use super::state_space::StateSpace;
use super::superstep::Shape;
use crate::edges::{EdgesBySource, EdgesByTarget, batches, catch, first_node, routes};
use crate::graph::{Edge, Graph, Source, Via};
use crate::idx::{JoinIdx, NodeIdx, to_u32};
use crate::skips::merges;
use crate::sorted::contains;

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
        let mut node = (self.skipped_by)
            .or(first_node(&self.missing))
            .or(first_node(&self.arrived));
        for edge in &*graph.edges {
            if edge.from == Source::Join(self.join) {
                node = node.or(edge.to.node());
            }
        }
        node
    }
}

/// The joins at which some sides have arrived at an end of the run. Each join is described by the first such end.
pub(crate) fn found(graph: &Graph, shape: &Shape, space: &StateSpace) -> Vec<Stuck> {
    // For each join the first such end. 0 if there is none, because that state is START.
    let mut first = vec![0; graph.joins as usize];
    for (at, state) in space.states.iter().enumerate() {
        if at == 0 || !state.frontier.is_empty() {
            continue;
        }
        for side in &state.arrived {
            let (join, _) = shape.sides[*side as usize];
            if first[join.index()] == 0 {
                first[join.index()] = at;
            }
        }
    }
    let mut stuck = Vec::new();
    for join in JoinIdx::all(first.len()) {
        let end = first[join.index()];
        if end == 0 {
            continue;
        }
        let (mut arrived, mut missing) = (Vec::new(), Vec::new());
        for (side, (of, source)) in shape.sides.iter().enumerate() {
            if *of != join {
                continue;
            }
            if contains(&space.states[end].arrived, &to_u32(side)) {
                arrived.push(*source);
            } else {
                missing.push(*source);
            }
        }
        stuck.push(describe(graph, join, arrived, missing));
    }
    stuck
}

fn describe(graph: &Graph, join: JoinIdx, arrived: Vec<Source>, missing: Vec<Source>) -> Stuck {
    let mut skipping = None;
    for side in &missing {
        skipping = skipping_node(graph, *side);
        if skipping.is_some() {
            break;
        }
    }
    Stuck {
        join,
        arrived,
        missing,
        skipped_by: skipping.map(|(node, _)| node),
        by_failure: matches!(skipping, Some((_, true))),
    }
}

/// The nearest node before this side of a join that can skip the side: by its route or, if there is no such node, by failing.
fn skipping_node(graph: &Graph, side: Source) -> Option<(NodeIdx, bool)> {
    let into = EdgesByTarget::of(graph);
    let edges = EdgesBySource::of(graph);
    let batches = batches(graph);
    let mut seen = graph.no_vertices();
    seen[graph.vertex(side)] = true;
    let mut queue = vec![side];
    let mut next = 0;
    let (mut routing, mut failing) = (None, None);
    while let Some(&at) = queue.get(next) {
        next += 1;
        if let Source::Node(node) = at {
            let out = &edges.nodes[node.index()];
            let several = batches[node.index()] || graph.nodes[node.index()].many;
            let routes = routes(out);
            // The side itself chooses only after it has run.
            let chooses = routes.len() > 1 || several && !routes.is_empty();
            if chooses && at != side {
                for (_, route) in &routes {
                    if !leads_to(graph, &edges, route, side, at) {
                        return Some((node, false));
                    }
                }
                routing = routing.or(Some((node, false)));
            }
            if catch(out) {
                failing = failing.or(Some((node, true)));
            }
        }
        for edge in into.to(at) {
            if !std::mem::replace(&mut seen[graph.vertex(edge.from)], true) {
                queue.push(edge.from);
            }
        }
    }
    routing.or(failing)
}

/// Whether one of the edges `first` can lead to `side` without running `except` again.
fn leads_to(
    graph: &Graph,
    edges: &EdgesBySource<'_>,
    first: &[&Edge],
    side: Source,
    except: Source,
) -> bool {
    let mut seen = graph.no_vertices();
    let mut queue = vec![first];
    while let Some(out) = queue.pop() {
        for edge in out {
            let Some(to) = edge.to.source() else {
                continue;
            };
            if to == side {
                return true;
            }
            if to != except && !std::mem::replace(&mut seen[graph.vertex(to)], true) {
                queue.push(edges.from(to));
            }
        }
    }
    false
}

/// The joins that may not complete, of a graph that is too large to explore.
///
/// A join surely completes if all its sides lead back to one origin, over nodes that have one plain edge into them and cannot
/// fail, and if the sides arrive in the same superstep or the origin runs at most once.
pub(crate) fn suspected(graph: &Graph) -> Vec<Stuck> {
    let into = EdgesByTarget::of(graph);
    let unsure = unsure(graph);
    let merges = merges(graph);
    let mut suspected = Vec::new();
    for join in JoinIdx::all(merges.len()) {
        let sides = &into.joins[join.index()];
        if sides.is_empty()
            || merges[join.index()].is_some()
            || surely_completes(graph, &into, &unsure, sides)
        {
            continue;
        }
        let mut missing = Vec::new();
        for side in sides {
            missing.push(side.from);
        }
        suspected.push(describe(graph, join, Vec::new(), missing));
    }
    suspected
}

/// The nodes whose plain edges may not fire, because the node fails or chooses, by [`Graph::vertex`].
fn unsure(graph: &Graph) -> Vec<bool> {
    let mut unsure = graph.no_vertices();
    for edge in &*graph.edges {
        if !matches!(edge.via, Via::Plain | Via::Each) {
            unsure[graph.vertex(edge.from)] = true;
        }
    }
    unsure
}

fn surely_completes(
    graph: &Graph,
    into: &EdgesByTarget<'_>,
    unsure: &[bool],
    sides: &[&Edge],
) -> bool {
    let mut chains = Vec::new();
    for side in sides {
        if side.via != Via::Plain || unsure[graph.vertex(side.from)] {
            return false;
        }
        chains.push(chain(graph, into, unsure, side.from));
    }
    'origins: for (depth, origin) in chains[0].path.iter().enumerate() {
        // Deferred nodes and empty lists change the superstep in which a side arrives.
        let mut together = true;
        for chain in &chains {
            let Some(other) = chain.path.iter().position(|at| at == origin) else {
                continue 'origins;
            };
            together &= other == depth && depth <= chain.steady;
        }
        if together || runs_once(graph, into, *origin) {
            return true;
        }
    }
    false
}

/// The only path to a side, backwards.
struct Chain {
    path: Vec<Source>,
    /// How many steps, from the side on, take exactly one superstep each.
    steady: usize,
}

fn chain(graph: &Graph, into: &EdgesByTarget<'_>, unsure: &[bool], side: Source) -> Chain {
    let mut chain = Chain {
        path: vec![side],
        steady: 0,
    };
    let mut at = side;
    while let Source::Node(node) = at {
        let [edge] = into.nodes[node.index()][..] else {
            break;
        };
        if !matches!(edge.via, Via::Plain | Via::Each)
            || unsure[graph.vertex(edge.from)]
            || chain.path.contains(&edge.from)
        {
            break;
        }
        let is_steady = edge.via == Via::Plain && !graph.nodes[node.index()].deferred;
        if is_steady && chain.steady + 1 == chain.path.len() {
            chain.steady += 1;
        }
        chain.path.push(edge.from);
        at = edge.from;
    }
    chain
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
