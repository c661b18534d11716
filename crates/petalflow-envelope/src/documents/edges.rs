//! From the edges of a document to those of the builder.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::nodes::Built;
use super::wrappers::Chooser;
use crate::Envelope;
use crate::kinds::{AnyNode, BranchNode, Decide};
use petalflow::graph::{GraphBuilder, START};
use petalflow_documents::{EdgeDefinition, GraphDefinition, NodeDefinition};

/// The edges of a graph by node. Nodes that cannot be reached are left out.
pub(super) struct Wiring<'g> {
    graph: &'g GraphDefinition,
    leaving: HashMap<&'g str, Vec<&'g EdgeDefinition>>,
    successors: HashMap<&'g str, Vec<&'g str>>,
    predecessors: HashMap<&'g str, Vec<&'g str>>,
    kinds: HashMap<&'g str, &'g str>,
    reachable: HashSet<&'g str>,
    first: Vec<&'g str>,
    /// The nodes that lead back to themselves, and those between such nodes.
    in_cycle: HashSet<&'g str>,
}

impl<'g> Wiring<'g> {
    pub(super) fn new(graph: &'g GraphDefinition) -> Self {
        let kinds: HashMap<&str, &str> =
            graph.nodes.iter().map(|node| (node.id.as_str(), node.kind.as_str())).collect();
        let mut wiring = Wiring {
            graph,
            leaving: HashMap::new(),
            successors: HashMap::new(),
            predecessors: HashMap::new(),
            first: Vec::new(),
            reachable: HashSet::new(),
            in_cycle: HashSet::new(),
            kinds,
        };
        let mut pairs = HashSet::new();
        for edge in &graph.edges {
            wiring.leaving.entry(&edge.source).or_default().push(edge);
            if pairs.insert((edge.source.as_str(), edge.target.as_str())) {
                wiring.successors.entry(&edge.source).or_default().push(&edge.target);
            }
        }
        wiring.first = wiring.first_nodes();
        wiring.reachable = wiring.from(&wiring.first);
        // The order of the nodes is that of the branches.
        for node in &graph.nodes {
            if !wiring.reachable.contains(node.id.as_str()) {
                continue;
            }
            for successor in wiring.successors.get(node.id.as_str()).into_iter().flatten() {
                wiring.predecessors.entry(successor).or_default().push(&node.id);
            }
        }
        wiring.in_cycle = wiring.cycles();
        wiring
    }

    /// The entry. Without one, and in compiled workflows, all nodes that no edge leads to.
    fn first_nodes(&self) -> Vec<&'g str> {
        let graph = self.graph;
        let compiled = graph.metadata.get("source_kind").is_some_and(|kind| kind == "agent_workflow");
        let targets: HashSet<&str> = graph.edges.iter().map(|edge| edge.target.as_str()).collect();
        let free = graph.nodes.iter().map(|node| node.id.as_str()).filter(|id| !targets.contains(id));
        let mut first: Vec<&str> = if graph.entry.is_empty() || compiled {
            free.collect()
        } else {
            Vec::new()
        };
        let entry = graph.entry().filter(|entry| !first.contains(entry) && (!graph.entry.is_empty() || first.is_empty()));
        first.extend(entry);
        first
    }

    fn from(&self, start: &[&'g str]) -> HashSet<&'g str> {
        let mut seen: HashSet<&str> = start.iter().copied().collect();
        let mut open = start.to_vec();
        while let Some(node) = open.pop() {
            for next in self.successors(node) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    }

    /// The nodes on cycles and between them: what remains after nodes without edges from others, and nodes without edges to others, were
    /// removed again and again.
    fn cycles(&self) -> HashSet<&'g str> {
        let mut left = self.reachable.clone();
        let none = Vec::new();
        let directions = [(&self.predecessors, &self.successors), (&self.successors, &self.predecessors)];
        for (neighbours, others) in directions {
            let count = |node: &&'g str| {
                let all = neighbours.get(node).unwrap_or(&none);
                (*node, all.iter().filter(|it| left.contains(*it)).count())
            };
            let mut counts: HashMap<&str, usize> = left.iter().map(count).collect();
            let mut free: Vec<&str> = counts.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
            while let Some(node) = free.pop() {
                left.remove(node);
                for next in others.get(node).unwrap_or(&none) {
                    if let Some(count) = counts.get_mut(next) {
                        *count -= 1;
                        if *count == 0 {
                            free.push(next);
                        }
                    }
                }
            }
        }
        left
    }

    /// The nodes that can be reached, in the order of the document.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &'g NodeDefinition> {
        let reachable = |node: &&NodeDefinition| self.reachable.contains(node.id.as_str());
        self.graph.nodes.iter().filter(reachable)
    }

    pub(super) fn successors(&self, node: &str) -> &[&'g str] {
        self.successors.get(node).map_or(&[], Vec::as_slice)
    }

    pub(super) fn predecessors(&self, node: &str) -> &[&'g str] {
        self.predecessors.get(node).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_in_cycle(&self, node: &str) -> bool {
        self.in_cycle.contains(node)
    }

    fn is_merge(&self, node: &str) -> bool {
        self.kinds.get(node) == Some(&"merge")
    }

    /// Whether the node is the end of a branch: a merge with several sides is all that follows.
    fn ends_branch(&self, node: &str) -> bool {
        matches!(self.successors(node), [only] if self.is_merge(only) && self.predecessors(only).len() > 1)
    }

    /// Adds a node, and the edges from it.
    pub(super) fn add(
        &self,
        mut builder: GraphBuilder<Envelope>,
        id: &str,
        built: Built,
        problems: &mut Vec<String>,
    ) -> GraphBuilder<Envelope> {
        if self.first.contains(&id) {
            builder = builder.edge(START, id);
        }
        // A merge waits for what can still come. In a cycle only one side comes at a time.
        if self.predecessors(id).len() > 1 && !self.is_in_cycle(id) {
            builder = builder.merge(id);
        }
        match built {
            Built::Plain(node) => self.plain(builder, id, node),
            Built::Merge(node) => self.plain(builder, id, AnyNode::new(node)),
            Built::Chooses(node) => {
                let next = node.targets().into_iter().map(|choice| {
                    let next = self.next(id, &choice);
                    (choice, next)
                });
                let next = next.collect();
                self.routed(builder, id, node, next)
            }
            Built::Redirects(node, to) => {
                let others = self.successors(id).iter().filter(|next| **next != to);
                let others: Vec<String> = others.map(|next| (*next).to_owned()).collect();
                if !self.successors(id).contains(&to.as_str()) {
                    let problem = format!("node `{id}`: no edge leads to `{to}`, its `redirect_node_id`");
                    problems.push(problem);
                    return builder;
                }
                let next = vec![("Pass".to_owned(), others), ("Redirect".to_owned(), vec![to])];
                self.routed(builder, id, node, next)
            }
        }
    }

    fn plain(&self, builder: GraphBuilder<Envelope>, id: &str, node: AnyNode) -> GraphBuilder<Envelope> {
        let builder = if self.ends_branch(id) {
            builder.node_as(id, BranchNode::new(node))
        } else {
            builder.node_as(id, node)
        };
        let next = self.successors(id).iter();
        next.fold(builder, |builder, next| builder.edge(id, *next))
    }

    fn routed(
        &self,
        builder: GraphBuilder<Envelope>,
        id: &str,
        node: Arc<dyn Decide>,
        next: Vec<(String, Vec<String>)>,
    ) -> GraphBuilder<Envelope> {
        let mut routes: Vec<&str> = self.successors(id).to_vec();
        // An edge that no choice takes is no route of the node: nothing could take it.
        routes.retain(|route| next.iter().any(|(_, names)| names.iter().any(|name| name == route)));
        let chooser = Chooser::new(node, next.clone());
        let builder = builder.node_as(id, chooser).routes(id, routes.iter().copied());
        routes.iter().fold(builder, |builder, route| builder.route(id, *route, *route))
    }

    /// Where a choice leads: along the edges with its name, or else to the node with its name.
    fn next(&self, id: &str, choice: &str) -> Vec<String> {
        let leaving = self.leaving.get(id).map_or(&[][..], Vec::as_slice);
        let named = leaving.iter().filter(|edge| edge.source_handle == choice);
        let mut next: Vec<String> = named.map(|edge| edge.target.clone()).collect();
        if next.is_empty() && self.successors(id).contains(&choice) {
            next.push(choice.to_owned());
        }
        next
    }
}
