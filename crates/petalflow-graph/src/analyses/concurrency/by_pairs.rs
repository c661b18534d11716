//! The nodes that can run together, approximated by pairs of nodes, for graphs with too many states.

use super::Pairs;
use crate::analyses::superstep::Routes;
use crate::analyses::work::{TooMuchWork, Work};
use crate::bits::BitSet;
use crate::edges::{EdgesBySource, caught, choose, routes, unconditional};
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};

/// An upper bound of the pairs, and the nodes that can run.
///
/// Two nodes can run together if one node activates both, or if two nodes that can run together activate one each. A join is
/// assumed to fire after each of its sides alone, which can only add pairs. The join of a merge can fire long after its sides,
/// beside any node: a graph with a merge has all pairs.
pub(crate) fn by_pairs(
    graph: &Graph,
    all_routes: Routes,
    several: &[bool],
    work: &mut Work,
) -> Result<(Pairs, BitSet), TooMuchWork> {
    let nodes = graph.nodes.len();
    let edges = EdgesBySource::of(graph);
    let passing = Passing::of(&edges, work)?;
    let mut found = Found {
        pairs: Pairs::none(nodes),
        new: vec![BitSet::default(); nodes],
        queue: Vec::new(),
        deferred: BitSet::of((0..nodes).filter(|&node| graph.nodes[node].deferred)),
    };
    let is_merged = graph.nodes.iter().any(|node| node.merge);
    // The nodes that each node activates, for the nodes that can run.
    let mut next: Vec<Option<BitSet>> = vec![None; nodes];
    let mut reached = BitSet::default();
    // The deferred nodes that can run.
    let mut deferred = BitSet::default();
    let mut queue = vec![Source::Start];
    while let Some(source) = queue.pop() {
        let (picks_several, is_several) = match source {
            Source::Node(node) => {
                let several = several[node.index()];
                let many = graph.node(node).many;
                (all_routes == Routes::Any || many || several, several)
            }
            _ => (false, false),
        };
        let mut all = BitSet::default();
        for choice in choices(edges.from(source), picks_several, is_several) {
            // The nodes that the earlier edges of the choice activate.
            let mut before = BitSet::default();
            for edge in choice {
                let alternatives = passing.alternatives(edge);
                for activated in &alternatives {
                    work.spend(before.words())?;
                    for node in activated.iter().filter(|_| !is_merged) {
                        found.insert(node, &before, work)?;
                        found.insert(node, activated, work)?;
                    }
                }
                for activated in &alternatives {
                    before.union(activated);
                }
            }
            all.union(&before);
        }
        let activated = all.iter().filter(|&node| reached.insert(node));
        queue.extend(activated.map(|node| Source::Node(NodeIdx::from_usize(node))));
        if let Source::Node(node) = source {
            next[node.index()] = Some(all);
            if graph.node(node).deferred {
                found.add(node.index(), &deferred);
                deferred.insert(node.index());
            }
        }
    }
    if is_merged {
        return Ok((Pairs::all(nodes), reached));
    }
    while let Some(node) = found.queue.pop() {
        let beside = std::mem::take(&mut found.new[node]);
        let mut after_beside = BitSet::default();
        for other in beside.iter() {
            work.spend(beside.words())?;
            // Only nodes that can run are in pairs.
            if let Some(after) = &next[other] {
                after_beside.union(after);
            }
        }
        for after in next[node].iter().flat_map(BitSet::iter) {
            found.insert(after, &after_beside, work)?;
        }
    }
    let mut pairs = found.pairs;
    pairs.insert_repeated(graph, &reached, all_routes, &|_, _| true);
    Ok((pairs, reached))
}

struct Found {
    pairs: Pairs,
    /// For each node its pairs whose successors have not been paired.
    new: Vec<BitSet>,
    /// The nodes that have such pairs.
    queue: Vec<usize>,
    deferred: BitSet,
}

impl Found {
    /// Pairs a node with others. A deferred node runs only beside deferred nodes, which are paired separately.
    fn insert(&mut self, node: usize, others: &BitSet, work: &mut Work) -> Result<(), TooMuchWork> {
        work.spend(others.words())?;
        if !self.deferred.contains(node) {
            let mut others = others.clone();
            others.minus(&self.deferred);
            others.remove(node);
            self.add(node, &others);
        }
        Ok(())
    }

    fn add(&mut self, node: usize, others: &BitSet) {
        let mut others = others.clone();
        others.minus(&self.pairs.rows[node]);
        for other in others.iter() {
            self.pairs.rows[other].insert(node);
        }
        self.pairs.rows[node].union(&others);
        if !others.is_empty() {
            self.new[node].union(&others);
            self.queue.push(node);
        }
    }
}

/// The sets of edges that can fire together. `picks_several` is whether the source picks several routes, `several` whether several
/// tasks of it can run in one superstep.
fn choices<'a>(edges: &[&'a Edge], picks_several: bool, several: bool) -> Vec<Vec<&'a Edge>> {
    let (fixed, caught) = (unconditional(edges), caught(edges));
    let mut choices = routes(edges);
    if picks_several {
        choices = vec![choices.concat()];
    }
    if choices.is_empty() {
        choices.push(Vec::new());
    }
    for choice in &mut choices {
        choice.extend_from_slice(&fixed);
        if several {
            // Some tasks fail and others do not.
            choice.extend_from_slice(&caught);
        }
    }
    choices.push(caught);
    choices
}

/// What runs after joins and after empty lists.
struct Passing {
    nodes: usize,
    /// For each join the nodes that it activates.
    after_joins: Vec<BitSet>,
    /// For each node the activations that replace it if it is sent an empty list.
    without_items: Vec<BitSet>,
}

impl Passing {
    fn of(edges: &EdgesBySource<'_>, work: &mut Work) -> Result<Self, TooMuchWork> {
        let mut passing = Passing {
            nodes: edges.nodes.len(),
            after_joins: Vec::new(),
            without_items: Vec::new(),
        };
        for join in JoinIdx::all(edges.joins.len()) {
            let activated = Passing::after_join(edges, join, work)?;
            passing.after_joins.push(activated);
        }
        for node in 0..passing.nodes {
            let activated = passing.after_empty_list(edges, node, work)?;
            passing.without_items.push(activated);
        }
        Ok(passing)
    }

    fn after_join(
        edges: &EdgesBySource<'_>,
        join: JoinIdx,
        work: &mut Work,
    ) -> Result<BitSet, TooMuchWork> {
        let mut activated = BitSet::default();
        let mut passed = BitSet::of([join.index()]);
        let mut queue = vec![join];
        while let Some(join) = queue.pop() {
            let out = &edges.joins[join.index()];
            work.spend(out.len())?;
            for edge in out {
                match edge.to {
                    Target::Node(node) => {
                        activated.insert(node.index());
                    }
                    Target::Join(join) if passed.insert(join.index()) => queue.push(join),
                    Target::Join(_) | Target::End => {}
                }
            }
        }
        Ok(activated)
    }

    fn after_empty_list(
        &self,
        edges: &EdgesBySource<'_>,
        node: usize,
        work: &mut Work,
    ) -> Result<BitSet, TooMuchWork> {
        let mut activated = BitSet::default();
        let mut empty = BitSet::of([node]);
        let mut queue = vec![node];
        while let Some(node) = queue.pop() {
            let out = &edges.nodes[node];
            work.spend(out.len())?;
            if choose(out) {
                continue;
            }
            for edge in out {
                match edge.to {
                    _ if edge.via == Via::Catch => {}
                    Target::Node(to) if edge.via == Via::Each => {
                        if empty.insert(to.index()) {
                            queue.push(to.index());
                        }
                    }
                    Target::Node(to) => {
                        activated.insert(to.index());
                    }
                    Target::Join(join) => activated.union(&self.after_joins[join.index()]),
                    Target::End => {}
                }
            }
        }
        Ok(activated)
    }

    /// The sets of nodes of which the edge activates one.
    fn alternatives(&self, edge: &Edge) -> Vec<BitSet> {
        match edge.to {
            Target::Node(node) => {
                let mut alternatives = vec![BitSet::of([node.index()])];
                if edge.via.is_each() {
                    alternatives.push(self.without_items[node.index()].clone());
                }
                alternatives
            }
            Target::Join(join) => vec![self.after_joins[join.index()].clone()],
            Target::End => Vec::new(),
        }
    }
}
