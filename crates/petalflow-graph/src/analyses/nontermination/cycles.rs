//! Sets of nodes that run forever, judged by the edges.
//!
//! A set is endless if every outcome of every node in it activates at least one node of the set. The outcomes of a node are
//! each of its routes, all plain edges together, and its caught failure. A list can be empty. Then the nodes after its target
//! are activated instead. An edge into a join does not count, because the other sides may not have arrived.

use super::end::{Picks, without_end};
use crate::analyses::Reach;
use crate::components::{components, cycle_through, sinks};
use crate::edges::{EdgesBySource, batches, choose, routes};
use crate::graph::{Edge, Graph, Target, Via};
use crate::idx::{NodeIdx, to_u32};
use crate::lists::lists;
use crate::sorted::sort;
use crate::tables::EndlessRow;

/// The maximum number of sets per part that are distinguished by the routing nodes that they depend on.
const MAX_SETS: usize = 16;

/// The cycles that cannot be left if the nodes in them pick exactly one route.
pub(crate) fn endless_by_choice(graph: &Graph) -> Vec<EndlessRow> {
    let edges = EdgesBySource::of(graph);
    EdgeCycles::of(graph, &edges, &Reach::of(graph)).by_choice()
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
}

impl<'a> EdgeCycles<'a> {
    pub(crate) fn of(graph: &'a Graph, edges: &'a EdgesBySource<'a>, reach: &'a Reach) -> Self {
        let mut cycles = EdgeCycles {
            graph,
            edges,
            reach,
            outcomes: Vec::new(),
            without_items: Vec::new(),
        };
        let batches = batches(graph);
        for (node, out) in edges.nodes.iter().enumerate() {
            cycles.outcomes.push(outcomes(out));
            cycles.without_items.push(if batches[node] {
                without_items(out)
            } else {
                WithoutItems::default()
            });
        }
        cycles
    }

    /// The strongly connected sets that are endless by themselves, each ascending, sorted by their first node. A node that only
    /// leads into such a set is in none.
    pub(crate) fn parts(&self, picks: Picks) -> Vec<Vec<usize>> {
        let mut parts = Vec::new();
        self.parts_within(self.reach.nodes.clone(), picks, &mut parts);
        sort(&mut parts);
        parts
    }

    fn parts_within(&self, mut set: Vec<bool>, picks: Picks, parts: &mut Vec<Vec<usize>>) {
        self.shrink(&mut set, picks);
        let mut size = 0;
        for within in &set {
            size += usize::from(*within);
        }
        if size == 0 {
            return;
        }
        let next = self.edges_within(&set);
        for component in &components(&next) {
            let first = component[0];
            if !set[first] {
                continue;
            }
            if component.len() == size {
                parts.push(component.clone());
            } else if component.len() > 1 || next[first].contains(&first) {
                self.parts_within(self.set_of(component), picks, parts);
            }
        }
    }

    /// Reduces the set to its greatest endless subset.
    fn shrink(&self, set: &mut [bool], picks: Picks) {
        let mut changed = true;
        while changed {
            changed = false;
            // A node usually has a lower index than its successors.
            for node in (0..set.len()).rev() {
                if set[node] && !self.stays_within(node, set, picks) {
                    set[node] = false;
                    changed = true;
                }
            }
        }
    }

    fn stays_within(&self, node: usize, set: &[bool], picks: Picks) -> bool {
        if self.chooses(node) && (picks == Picks::Any || self.graph.nodes[node].many) {
            return false;
        }
        for outcome in &self.outcomes[node] {
            let mut stays = false;
            for activation in outcome {
                stays = stays
                    || match *activation {
                        Activation::Node(to) => set[to],
                        Activation::List(to) => self.list_stays_within(to, set),
                    };
            }
            if !stays {
                return false;
            }
        }
        true
    }

    /// Whether a list for the node activates a node of the set, with items or without. Each node that an empty list passes
    /// must itself be in the set: another list may have items for it, and then it runs instead.
    fn list_stays_within(&self, node: usize, set: &[bool]) -> bool {
        let (mut empty, mut next) = (vec![node], 0);
        while let Some(&node) = empty.get(next) {
            next += 1;
            if !set[node] {
                continue;
            }
            let WithoutItems { activated, emptied } = &self.without_items[node];
            for to in activated {
                if set[*to] {
                    return true;
                }
            }
            for to in emptied {
                if !empty.contains(to) {
                    empty.push(*to);
                }
            }
        }
        false
    }

    pub(crate) fn chooses(&self, node: usize) -> bool {
        choose(&self.edges.nodes[node])
    }

    /// The edges within a set.
    fn edges_within(&self, set: &[bool]) -> Vec<Vec<usize>> {
        let mut next = lists(set.len());
        for (node, next) in next.iter_mut().enumerate() {
            if !set[node] {
                continue;
            }
            for outcome in &self.outcomes[node] {
                for &(Activation::Node(to) | Activation::List(to)) in outcome {
                    if set[to] {
                        next.push(to);
                    }
                }
            }
        }
        next
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
        let mut parts = Vec::new();
        for component in &sinks(&next) {
            if !next[component[0]].is_empty() {
                parts.push(component.clone());
            }
        }
        (parts, next)
    }

    /// The parts that are endless only if their routing nodes pick exactly one route each.
    fn by_choice(&self) -> Vec<EndlessRow> {
        let mut reported = vec![false; self.graph.nodes.len()];
        for nodes in &self.found(Picks::Any) {
            mark(&mut reported, nodes);
        }
        let (mut rows, mut part) = (Vec::new(), 0);
        for nodes in &self.found(Picks::Declared) {
            // A set that never ends, whatever its nodes pick, is reported without their types.
            if !is_marked(&reported, nodes) {
                let mut sets = Vec::new();
                self.sets(nodes, &mut sets);
                for (set, nodes) in sets.iter().enumerate() {
                    for node in nodes {
                        if self.chooses(*node) {
                            rows.push(EndlessRow {
                                part,
                                set: to_u32(set),
                                report_at: NodeIdx::from_usize(nodes[0]),
                                node: NodeIdx::from_usize(*node),
                                arms: to_u32(routes(&self.edges.nodes[*node]).len()),
                            });
                        }
                    }
                }
                part += 1;
            }
            mark(&mut reported, nodes);
        }
        rows
    }

    /// The parts that never end.
    fn found(&self, picks: Picks) -> Vec<Vec<usize>> {
        let mut found = self.without_end(picks).0;
        found.extend_from_slice(&self.parts(picks));
        found
    }

    /// This set, and its subsets that stay endless when one routing node after another picks several routes.
    fn sets(&self, nodes: &[usize], sets: &mut Vec<Vec<usize>>) {
        if sets.len() == MAX_SETS || sets.iter().any(|set| set == nodes) {
            return;
        }
        sets.push(nodes.to_vec());
        for node in nodes {
            if self.chooses(*node) {
                let mut without = self.set_of(nodes);
                without[*node] = false;
                let mut parts = Vec::new();
                self.parts_within(without, Picks::Declared, &mut parts);
                for part in &parts {
                    self.sets(part, sets);
                }
            }
        }
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
    for node in set {
        if marked[*node] {
            return true;
        }
    }
    false
}

fn outcomes(edges: &[&Edge]) -> Vec<Vec<Activation>> {
    let (mut sure, mut caught) = (Vec::new(), Vec::new());
    for edge in edges {
        match edge.via {
            Via::Plain | Via::Each => sure.push(*edge),
            Via::Catch => caught.push(*edge),
            Via::Route(_) | Via::RouteEach(_) => {}
        }
    }
    let mut outcomes = Vec::new();
    for (_, route) in &routes(edges) {
        let mut together = route.clone();
        together.extend_from_slice(&sure);
        outcomes.push(activations(&together));
    }
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
    let mut activations = Vec::new();
    for edge in edges {
        match edge.to {
            Target::Node(to) if edge.via.is_each() => {
                activations.push(Activation::List(to.index()));
            }
            Target::Node(to) => activations.push(Activation::Node(to.index())),
            Target::Join(_) | Target::End => {}
        }
    }
    activations
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
