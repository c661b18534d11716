//! The edges of a graph document: entries, cycles, and nodes that wait.

use std::collections::{HashMap, HashSet};

use crate::document::{EdgeDefinition, GraphDefinition};

/// The edges of a graph by node, and where it begins.
pub(super) struct Edges<'g> {
    leaving: HashMap<&'g str, Vec<&'g EdgeDefinition>>,
    previous: HashMap<&'g str, HashSet<&'g str>>,
    in_cycle: HashSet<&'g str>,
    pub(super) first: Vec<&'g str>,
}

impl<'g> Edges<'g> {
    pub(super) fn new(graph: &'g GraphDefinition) -> Self {
        let mut leaving: HashMap<&str, Vec<&EdgeDefinition>> = HashMap::new();
        let mut previous: HashMap<&str, HashSet<&str>> = HashMap::new();
        for edge in &graph.edges {
            leaving.entry(&edge.source).or_default().push(edge);
            previous
                .entry(&edge.target)
                .or_default()
                .insert(&edge.source);
        }
        let mut edges = Edges {
            leaving,
            previous,
            in_cycle: HashSet::new(),
            first: Vec::new(),
        };
        edges.first = edges.first_nodes(graph);
        edges.in_cycle = edges.cycles(graph);
        edges
    }

    /// The edges from a node.
    pub(super) fn leaving(&self, node: &str) -> &[&'g EdgeDefinition] {
        self.leaving.get(node).map_or(&[], Vec::as_slice)
    }

    /// Whether edges of several nodes lead to this one, and it is not on a cycle, where one comes at a time.
    pub(super) fn waits(&self, node: &str) -> bool {
        self.previous
            .get(node)
            .is_some_and(|previous| previous.len() > 1)
            && !self.is_in_cycle(node)
    }

    pub(super) fn is_in_cycle(&self, node: &str) -> bool {
        self.in_cycle.contains(node)
    }

    /// The entry. Without one, and in compiled workflows, all nodes that no edge leads to.
    fn first_nodes(&self, graph: &'g GraphDefinition) -> Vec<&'g str> {
        if !graph.entry.is_empty() && !is_compiled(graph) {
            return vec![&graph.entry];
        }
        let names = graph.nodes.iter().map(|node| node.id.as_str());
        let mut first: Vec<&str> = names.filter(|id| !self.previous.contains_key(id)).collect();
        if let Some(entry) = graph.entry()
            && !first.contains(&entry)
        {
            first.push(entry);
        }
        first
    }

    /// The nodes on cycles and between them: what remains after nodes without edges from others, and nodes without edges
    /// to others, were removed again and again.
    fn cycles(&self, graph: &'g GraphDefinition) -> HashSet<&'g str> {
        let next = |node: &str| {
            self.leaving(node)
                .iter()
                .map(|edge| edge.target.as_str())
                .collect()
        };
        let previous = |node: &str| {
            self.previous
                .get(node)
                .into_iter()
                .flatten()
                .copied()
                .collect()
        };
        let directions: [(Step<'_, 'g>, Step<'_, 'g>); 2] =
            [(&previous, &next), (&next, &previous)];
        let mut left: HashSet<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
        for (before, after) in directions {
            let count = |node: &&'g str| {
                (
                    *node,
                    before(node).iter().filter(|it| left.contains(*it)).count(),
                )
            };
            let mut counts: HashMap<&str, usize> = left.iter().map(count).collect();
            let free = counts.iter().filter(|(_, count)| **count == 0);
            let mut free: Vec<&str> = free.map(|(node, _)| *node).collect();
            while let Some(node) = free.pop() {
                left.remove(node);
                for neighbour in after(node) {
                    if let Some(count) = counts.get_mut(neighbour) {
                        *count = count.saturating_sub(1);
                        if *count == 0 && left.contains(neighbour) {
                            free.push(neighbour);
                        }
                    }
                }
            }
        }
        left
    }
}

type Step<'s, 'g> = &'s dyn Fn(&str) -> HashSet<&'g str>;

/// Whether a workflow was compiled to this graph.
pub(super) fn is_compiled(graph: &GraphDefinition) -> bool {
    graph
        .metadata
        .get("source_kind")
        .is_some_and(|kind| kind == "agent_workflow")
}
