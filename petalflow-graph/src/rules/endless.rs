//! Sets of nodes that, once entered, never end.
//!
//! A set is endless if every way of every node in it activates at least one node of the set. A way is each route by itself,
//! all plain edges together, or the failure that is caught; a list may also be empty, and then what follows its target is
//! activated in its place. An edge into a join surely activates nothing: the other sides may not have arrived.

use super::cycles::{components, cycle_through, sinks, without_end};
use super::reach::Reach;
use crate::edges::{EdgesBySource, batches, choose, routes};
use crate::graph::{Edge, Graph, Target, Via};
use crate::idx::to_u32;
use crate::sorted::SortedSet;

/// Of one part, so many sets are told apart by the routing nodes that they depend on.
const MOST_SETS: usize = 16;

/// How many of its routes a node may pick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Picks {
    /// Exactly one, unless the graph says otherwise.
    Declared,
    /// Any number, also none: then its path can end.
    Any,
}

/// A row of [`Tables::endless`](crate::Tables::endless): a part of the graph, a set in it, the node to report it at, and one of
/// the routing nodes in the set, with the number of its routes that have arms.
///
/// A set never ends if none of its routing nodes picks several routes, or none. Of each part the first such set is reported.
pub type EndlessRow = (u32, u32, u32, u32, u32);

/// What a way activates.
enum Hit {
    Node(usize),
    /// The node, or what follows it if there are no items.
    List(usize),
}

/// What follows a node that was sent an empty list.
#[derive(Default)]
struct Done {
    activated: Vec<usize>,
    emptied: Vec<usize>,
}

pub(super) struct Endless<'a> {
    graph: &'a Graph,
    edges: &'a EdgesBySource<'a>,
    reach: &'a Reach,
    /// The ways of each node.
    ways: Vec<Vec<Vec<Hit>>>,
    /// What is activated in the place of each node when it is sent an empty list, and what is sent an empty list in turn.
    done: Vec<Done>,
}

impl<'a> Endless<'a> {
    #[inline]
    pub(super) fn of(graph: &'a Graph, edges: &'a EdgesBySource<'a>, reach: &'a Reach) -> Self {
        let nodes = 0..graph.nodes.len();
        let batches = batches(graph);
        Endless {
            graph,
            edges,
            reach,
            ways: nodes.clone().map(|node| ways(edges, node)).collect(),
            done: nodes
                .map(|node| {
                    if batches[node] {
                        done(edges, node)
                    } else {
                        Done::default()
                    }
                })
                .collect(),
        }
    }

    /// The strongly connected sets that are endless by themselves, each ascending, by their first node. What only leads into
    /// one is in none.
    #[inline]
    pub(super) fn parts(&self, picks: Picks) -> Vec<Vec<usize>> {
        let mut parts = Vec::new();
        self.parts_within(self.reach.nodes.clone(), picks, &mut parts);
        parts.sort_unstable();
        parts
    }

    #[inline]
    fn parts_within(&self, mut set: Vec<bool>, picks: Picks, parts: &mut Vec<Vec<usize>>) {
        self.shrink(&mut set, picks);
        let size = set.iter().filter(|&&within| within).count();
        if size == 0 {
            return;
        }
        let next = self.next(&set);
        for component in components(&next) {
            let first = component[0];
            if !set[first] {
                continue;
            }
            if component.len() == size {
                parts.push(component);
            } else if component.len() > 1 || next[first].contains(&first) {
                self.parts_within(self.only(&component), picks, parts);
            }
        }
    }

    /// Leaves the greatest endless set.
    #[inline]
    fn shrink(&self, set: &mut [bool], picks: Picks) {
        let mut changed = true;
        while changed {
            changed = false;
            // Mostly a node comes before those that it leads to.
            for node in (0..set.len()).rev() {
                if set[node] && !self.goes_on(node, set, picks) {
                    set[node] = false;
                    changed = true;
                }
            }
        }
    }

    #[inline]
    fn goes_on(&self, node: usize, set: &[bool], picks: Picks) -> bool {
        let hits = |hit: &Hit| match *hit {
            Hit::Node(to) => set[to],
            Hit::List(to) => self.passes(to, set),
        };
        let picks_none = self.routes(node) && (picks == Picks::Any || self.graph.nodes[node].many);
        !picks_none && self.ways[node].iter().all(|way| way.iter().any(hits))
    }

    /// Whether a list for the node activates a node of the set, with items or without. Each node that an empty list passes
    /// must be of the set itself: another list may have items for it, and then it runs instead.
    #[inline]
    fn passes(&self, node: usize, set: &[bool]) -> bool {
        let (mut empty, mut next) = (vec![node], 0);
        while let Some(&node) = empty.get(next) {
            next += 1;
            if !set[node] {
                continue;
            }
            let Done { activated, emptied } = &self.done[node];
            if activated.iter().any(|&to| set[to]) {
                return true;
            }
            for to in emptied {
                if !empty.contains(to) {
                    empty.push(*to);
                }
            }
        }
        false
    }

    #[inline]
    pub(super) fn routes(&self, node: usize) -> bool {
        choose(&self.edges.nodes[node])
    }

    /// The edges within a set.
    #[inline]
    fn next(&self, set: &[bool]) -> Vec<Vec<usize>> {
        let targets = |node: usize| {
            let hits = self.ways[node].iter().flatten();
            hits.map(|&(Hit::Node(to) | Hit::List(to))| to)
                .filter(|&to| set[to])
                .collect()
        };
        (0..set.len())
            .map(|node| if set[node] { targets(node) } else { Vec::new() })
            .collect()
    }

    #[inline]
    fn only(&self, nodes: &[usize]) -> Vec<bool> {
        let mut set = vec![false; self.graph.nodes.len()];
        nodes.iter().for_each(|&node| set[node] = true);
        set
    }

    /// The shortest cycle through the first node of a part.
    #[inline]
    pub(super) fn cycle(&self, part: &[usize]) -> Vec<usize> {
        cycle_through(part, &self.next(&self.only(part)), part[0], false)
    }

    /// The parts from which END cannot be reached, with the edges that lead on from each node.
    #[inline]
    pub(super) fn without_end(&self, picks: Picks) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let next = without_end(self.graph, self.edges, self.reach, picks);
        let sinks = sinks(&next)
            .into_iter()
            .filter(|component| !next[component[0]].is_empty());
        (sinks.collect(), next)
    }

    /// The parts that are endless only if their routing nodes pick exactly one route each.
    #[inline]
    pub(super) fn by_choice(&self) -> Vec<EndlessRow> {
        let mut told: SortedSet<usize> = SortedSet::new();
        told.extend(self.without_end(Picks::Any).0.into_iter().flatten());
        told.extend(self.parts(Picks::Any).into_iter().flatten());
        let (mut rows, mut part) = (Vec::new(), 0);
        let found = [
            self.without_end(Picks::Declared).0,
            self.parts(Picks::Declared),
        ];
        for nodes in found.concat() {
            // What never ends whatever its nodes pick is reported without asking for their types.
            if !nodes.iter().any(|node| told.contains(node)) {
                let mut sets = Vec::new();
                self.sets(&nodes, &mut sets);
                for (set, nodes) in (0..).zip(&sets) {
                    let routing = nodes.iter().filter(|&&node| self.routes(node));
                    rows.extend(routing.map(|&node| {
                        let arms = to_u32(routes(&self.edges.nodes[node]).len());
                        (part, set, to_u32(nodes[0]), to_u32(node), arms)
                    }));
                }
                part += 1;
            }
            told.extend(nodes);
        }
        rows
    }

    /// This set, and what is left of it if one after another of its routing nodes turns out to pick several.
    #[inline]
    fn sets(&self, nodes: &[usize], sets: &mut Vec<Vec<usize>>) {
        if sets.len() == MOST_SETS || sets.iter().any(|set| set == nodes) {
            return;
        }
        sets.push(nodes.to_vec());
        for &many in nodes.iter().filter(|&&node| self.routes(node)) {
            let mut without = self.only(nodes);
            without[many] = false;
            let mut parts = Vec::new();
            self.parts_within(without, Picks::Declared, &mut parts);
            parts.iter().for_each(|part| self.sets(part, sets));
        }
    }
}

#[inline]
fn ways(edges: &EdgesBySource<'_>, node: usize) -> Vec<Vec<Hit>> {
    let out = &edges.nodes[node];
    let hits = |of: &[&Edge]| -> Vec<Hit> {
        of.iter()
            .filter_map(|edge| match edge.to {
                Target::Node(to) if edge.via.is_each() => Some(Hit::List(to.index())),
                Target::Node(to) => Some(Hit::Node(to.index())),
                Target::Join(_) | Target::End => None,
            })
            .collect()
    };
    let of = |is: fn(&Edge) -> bool| -> Vec<&Edge> {
        out.iter().copied().filter(|edge| is(edge)).collect()
    };
    let sure = of(|edge| matches!(edge.via, Via::Plain | Via::Each));
    let mut ways: Vec<Vec<Hit>> = routes(out)
        .into_iter()
        .map(|(_, route)| hits(&[&route[..], &sure].concat()))
        .collect();
    if ways.is_empty() {
        ways.push(hits(&sure));
    }
    let caught = of(|edge| edge.via == Via::Catch);
    if !caught.is_empty() {
        ways.push(hits(&caught));
    }
    ways
}

/// What follows an empty list for this node. A node that chooses has chosen nothing.
#[inline]
fn done(edges: &EdgesBySource<'_>, node: usize) -> Done {
    let out = &edges.nodes[node];
    let mut done = Done::default();
    if choose(out) {
        return done;
    }
    for edge in out {
        match (edge.to, &edge.via) {
            (Target::Node(to), Via::Plain) => done.activated.push(to.index()),
            (Target::Node(to), Via::Each) => done.emptied.push(to.index()),
            _ => {}
        }
    }
    done
}
