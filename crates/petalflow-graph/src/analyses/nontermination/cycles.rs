//! Sets of nodes that run forever, judged by the edges.
//!
//! A set is endless if every outcome of every node in it activates at least one node of the set. The outcomes of a node are
//! each of its routes, all plain edges together, and its caught failure. A list can be empty. Then the nodes after its target
//! are activated instead. An edge into a join does not count, because the other sides may not have arrived.

use super::end::{Picks, without_end};
use crate::analyses::Reach;
use crate::analyses::work::{TooMuchWork, Work};
use crate::components::{components, cycle_through, sinks};
use crate::edges::{EdgesBySource, batches, caught, choose, routes, unconditional};
use crate::graph::{Edge, Graph, Target, Via};
use crate::idx::{NodeIdx, to_u32};
use crate::tables::EndlessRow;

/// The maximum number of sets per part that are distinguished by the routing nodes that they depend on.
const MAX_SETS: usize = 16;

/// The cycles that cannot be left if the nodes in them pick exactly one route.
pub(crate) fn endless_by_choice(graph: &Graph) -> Vec<EndlessRow> {
    let edges = EdgesBySource::of(graph);
    EdgeCycles::of(graph, &edges, &Reach::of(graph)).by_choice(&mut Work::default())
}

/// An activation of an outcome.
enum Activation {
    Node(usize),
    /// The node, or its successors if there are no items.
    List(usize),
}

/// The effect of an empty list for a node.
#[derive(Default)]
struct WithoutItems {
    /// The nodes that are activated instead.
    activated: Vec<usize>,
    /// The nodes that are also sent an empty list.
    emptied: Vec<usize>,
}

/// The graph, prepared for the search for endless sets.
pub(crate) struct EdgeCycles<'a> {
    graph: &'a Graph,
    edges: &'a EdgesBySource<'a>,
    reach: &'a Reach,
    /// The outcomes of each node.
    outcomes: Vec<Vec<Vec<Activation>>>,
    without_items: Vec<WithoutItems>,
    /// For each node those that are also sent an empty list if it is sent one: the reverse of [`WithoutItems::emptied`].
    emptied_by: Vec<Vec<usize>>,
    /// The number of edges and nodes.
    size: usize,
}

impl<'a> EdgeCycles<'a> {
    pub(crate) fn of(graph: &'a Graph, edges: &'a EdgesBySource<'a>, reach: &'a Reach) -> Self {
        let batches = batches(graph);
        let without_items = edges.nodes.iter().zip(batches).map(|(out, batch)| {
            if batch {
                without_items(out)
            } else {
                WithoutItems::default()
            }
        });
        let without_items: Vec<WithoutItems> = without_items.collect();
        let mut emptied_by = vec![Vec::new(); graph.nodes.len()];
        for (node, without_items) in without_items.iter().enumerate() {
            for &to in &without_items.emptied {
                emptied_by[to].push(node);
            }
        }
        EdgeCycles {
            graph,
            edges,
            reach,
            outcomes: edges.nodes.iter().map(|out| outcomes(out)).collect(),
            without_items,
            emptied_by,
            size: graph.nodes.len() + graph.edges.len(),
        }
    }

    /// The strongly connected sets that are endless by themselves, each ascending, sorted by their first node. A node that only
    /// leads into such a set is in none.
    pub(crate) fn parts(&self, picks: Picks) -> Vec<Vec<usize>> {
        let mut parts = Vec::new();
        self.parts_within(self.reach.nodes.clone(), picks, &mut parts);
        parts.sort_unstable();
        parts
    }

    /// Adds the parts within a set. Returns how often it has visited all nodes and edges.
    fn parts_within(&self, mut set: Vec<bool>, picks: Picks, parts: &mut Vec<Vec<usize>>) -> usize {
        let mut visits = self.shrink(&mut set, picks);
        let size = set.iter().filter(|&&within| within).count();
        if size == 0 {
            return visits;
        }
        visits += 1;
        let next = self.edges_within(&set);
        for component in components(&next) {
            let first = component[0];
            if !set[first] {
                continue;
            }
            if component.len() == size {
                parts.push(component);
            } else if component.len() > 1 || next[first].contains(&first) {
                visits += self.parts_within(self.set_of(&component), picks, parts);
            }
        }
        visits
    }

    /// Reduces the set to its greatest endless subset. Returns how often it has visited all nodes and edges.
    fn shrink(&self, set: &mut [bool], picks: Picks) -> usize {
        let (mut visits, mut changed) = (0, true);
        while changed {
            changed = false;
            visits += 1;
            let lists = self.lists_that_stay(set);
            // A node usually has a lower index than its successors.
            for node in (0..set.len()).rev() {
                if set[node] && !self.stays_within(node, set, &lists, picks) {
                    set[node] = false;
                    changed = true;
                }
            }
        }
        visits
    }

    fn stays_within(&self, node: usize, set: &[bool], lists: &[bool], picks: Picks) -> bool {
        if self.chooses(node) && (picks == Picks::Any || self.graph.nodes[node].many) {
            return false;
        }
        let stays = |activation: &Activation| match *activation {
            Activation::Node(to) => set[to],
            Activation::List(to) => lists[to],
        };
        self.outcomes[node]
            .iter()
            .all(|outcome| outcome.iter().any(stays))
    }

    /// For each node whether a list for it activates a node of the set, with items or without. Each node that an empty list
    /// passes must itself be in the set: another list may have items for it, and then it runs instead.
    fn lists_that_stay(&self, set: &[bool]) -> Vec<bool> {
        let mut stays = vec![false; set.len()];
        let activates =
            |&node: &usize| self.without_items[node].activated.iter().any(|&to| set[to]);
        let mut queue: Vec<usize> = (0..set.len()).filter(activates).collect();
        while let Some(node) = queue.pop() {
            if set[node] && !std::mem::replace(&mut stays[node], true) {
                queue.extend_from_slice(&self.emptied_by[node]);
            }
        }
        stays
    }

    pub(crate) fn chooses(&self, node: usize) -> bool {
        choose(&self.edges.nodes[node])
    }

    /// The edges within a set.
    fn edges_within(&self, set: &[bool]) -> Vec<Vec<usize>> {
        let targets = |outcomes: &Vec<Vec<Activation>>| {
            let activations = outcomes.iter().flatten();
            activations
                .map(|&(Activation::Node(to) | Activation::List(to))| to)
                .filter(|&to| set[to])
                .collect()
        };
        let nodes = self.outcomes.iter().zip(set);
        nodes
            .map(|(outcomes, &within)| {
                if within {
                    targets(outcomes)
                } else {
                    Vec::new()
                }
            })
            .collect()
    }

    fn set_of(&self, nodes: &[usize]) -> Vec<bool> {
        let mut set = vec![false; self.graph.nodes.len()];
        mark(&mut set, nodes);
        set
    }

    /// A shortest cycle through the first node of a part.
    pub(crate) fn cycle(&self, part: &[usize]) -> Vec<usize> {
        cycle_through(part, &self.edges_within(&self.set_of(part)), part[0])
    }

    /// The parts from which END cannot be reached, and the successors of each node.
    pub(crate) fn without_end(&self, picks: Picks) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let next = without_end(self.graph, self.edges, self.reach, picks);
        let mut parts = sinks(&next);
        parts.retain(|component| !next[component[0]].is_empty());
        (parts, next)
    }

    /// The parts that are endless only if their routing nodes pick exactly one route each.
    fn by_choice(&self, work: &mut Work) -> Vec<EndlessRow> {
        let mut reported = vec![false; self.graph.nodes.len()];
        for nodes in &self.find_endless(Picks::Any) {
            mark(&mut reported, nodes);
        }
        let (mut rows, mut part) = (Vec::new(), 0);
        for nodes in &self.find_endless(Picks::Declared) {
            // A set that never ends, whatever its nodes pick, is reported without their types.
            if !is_marked(&reported, nodes) {
                let mut sets = Vec::new();
                // After too much work, the sets that are known. The largest is the first.
                let _ = self.sets(nodes, &mut sets, work);
                for (set, nodes) in sets.iter().enumerate() {
                    let choosing = nodes.iter().filter(|&&node| self.chooses(node));
                    rows.extend(choosing.map(|&node| EndlessRow {
                        part,
                        set: to_u32(set),
                        report_at: NodeIdx::from_usize(nodes[0]),
                        node: NodeIdx::from_usize(node),
                        arms: to_u32(routes(&self.edges.nodes[node]).len()),
                    }));
                }
                part += 1;
            }
            mark(&mut reported, nodes);
        }
        rows
    }

    /// The parts that never end.
    fn find_endless(&self, picks: Picks) -> Vec<Vec<usize>> {
        let mut found = self.without_end(picks).0;
        found.extend(self.parts(picks));
        found
    }

    /// This set, and its subsets that stay endless when one routing node after another picks several routes.
    fn sets(
        &self,
        nodes: &[usize],
        sets: &mut Vec<Vec<usize>>,
        work: &mut Work,
    ) -> Result<(), TooMuchWork> {
        if sets.iter().any(|set| set == nodes) {
            return Ok(());
        }
        sets.push(nodes.to_vec());
        for &node in nodes.iter().filter(|&&node| self.chooses(node)) {
            if sets.len() == MAX_SETS {
                return Ok(());
            }
            let mut without = self.set_of(nodes);
            without[node] = false;
            let mut parts = Vec::new();
            let visits = self.parts_within(without, Picks::Declared, &mut parts);
            work.spend(visits * self.size)?;
            for part in &parts {
                if sets.len() < MAX_SETS {
                    self.sets(part, sets, work)?;
                }
            }
        }
        Ok(())
    }
}

/// Marks the nodes of a set.
pub(crate) fn mark(marked: &mut [bool], set: &[usize]) {
    for node in set {
        marked[*node] = true;
    }
}

/// Whether a node of the set is marked.
pub(crate) fn is_marked(marked: &[bool], set: &[usize]) -> bool {
    set.iter().any(|&node| marked[node])
}

fn outcomes(edges: &[&Edge]) -> Vec<Vec<Activation>> {
    let (sure, caught) = (unconditional(edges), caught(edges));
    let routes = routes(edges).into_iter();
    let mut outcomes: Vec<Vec<Activation>> = routes
        .map(|route| activations(&[route, sure.clone()].concat()))
        .collect();
    if outcomes.is_empty() {
        outcomes.push(activations(&sure));
    }
    if !caught.is_empty() {
        outcomes.push(activations(&caught));
    }
    outcomes
}

/// The activations of edges that fire together.
fn activations(edges: &[&Edge]) -> Vec<Activation> {
    let activations = edges.iter().filter_map(|edge| match edge.to {
        Target::Node(to) if edge.via.is_each() => Some(Activation::List(to.index())),
        Target::Node(to) => Some(Activation::Node(to.index())),
        Target::Join(_) | Target::End => None,
    });
    activations.collect()
}

/// The effect of an empty list for this node. A node that chooses then chooses nothing.
fn without_items(out: &[&Edge]) -> WithoutItems {
    let mut without_items = WithoutItems::default();
    if choose(out) {
        return without_items;
    }
    for edge in out {
        match (edge.to, &edge.via) {
            (Target::Node(to), Via::Plain) => without_items.activated.push(to.index()),
            (Target::Node(to), Via::Each) => without_items.emptied.push(to.index()),
            _ => {}
        }
    }
    without_items
}
