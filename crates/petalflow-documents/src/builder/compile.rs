//! From a graph over envelopes to a graph of the engine.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow::Graph;
use petalflow::graph::{BoxNode, START};

use super::error::{BuildErrors, GraphError};
use super::graph::{Edge, EnvelopeGraph};
use super::graph_node::{GraphNode, MergedNames, PlainNode, RouterNode};
use super::regions::{Region, regions};
use crate::kinds::EnvelopeNode;
use crate::run::StepGraph;
use crate::run::flow::EnvelopeFlow;
use crate::{Envelope, NodeKind};

impl EnvelopeGraph {
    /// Checks the graph and makes it ready to run. Nodes that the entry does not reach are left out.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn build(self) -> Result<EnvelopeFlow, BuildErrors> {
        compile(&self)
    }
}

fn compile(graph: &EnvelopeGraph) -> Result<EnvelopeFlow, BuildErrors> {
    let build_errors = |errors| BuildErrors {
        graph: graph.name.clone(),
        errors,
    };
    graph
        .validate()
        .map_err(|error| build_errors(vec![error]))?;
    let entry = graph.entry.unwrap_or_default();
    let mut is_reached = vec![false; graph.nodes.len()];
    let reached = graph.reached_from(entry).into_iter();
    reached.for_each(|node| is_reached[node] = true);
    let unknown = unknown_targets(graph);
    if !unknown.is_empty() {
        return Err(build_errors(unknown));
    }
    let mut builder = Graph::<Envelope>::builder(&graph.name).edge(START, graph.id(entry));
    let all: Arc<[String]> = graph.nodes.iter().map(|entry| entry.id.clone()).collect();
    let mut kinds = HashMap::new();
    for (node, region) in regions(graph, entry).iter().enumerate() {
        if !is_reached[node] {
            continue;
        }
        let node_in_graph = graph_node(graph, node, region, &all);
        let id = graph.id(node);
        if node_in_graph.targets.is_empty() {
            let targets = graph.targets(node).into_iter();
            builder = targets.fold(builder, |builder, to| builder.edge(id, graph.id(to)));
        } else {
            let edges = graph.nodes[node].next.iter();
            builder = edges.fold(builder, |builder, edge| {
                builder.route(id, target(graph, edge), graph.id(edge.to))
            });
        }
        if graph.nodes[node].waits || node_in_graph.kind == NodeKind::Merge {
            builder = builder.merge(id);
        }
        kinds.insert(id.to_owned(), node_in_graph.kind.clone());
        builder = if node_in_graph.targets.is_empty() {
            builder.boxed(id, BoxNode::new(PlainNode(node_in_graph)))
        } else {
            let routes = builder.routes(id, &node_in_graph.targets);
            routes.boxed(id, BoxNode::new(RouterNode(node_in_graph)))
        };
    }
    match builder.build() {
        Ok(flow) => {
            let trigger = graph.nodes[entry].node.trigger();
            Ok(EnvelopeFlow::new(flow, kinds).started_by(graph.id(entry), trigger))
        }
        Err(errors) => {
            let errors = errors.diagnostics().iter().cloned();
            Err(build_errors(errors.map(GraphError::Rule).collect()))
        }
    }
}

fn graph_node(
    graph: &EnvelopeGraph,
    node: usize,
    region: &Region,
    all: &Arc<[String]>,
) -> GraphNode {
    let entry = &graph.nodes[node];
    let ids = |nodes: &[usize]| -> Vec<String> {
        nodes.iter().map(|node| graph.id(*node).into()).collect()
    };
    let mut targets: Vec<String> = Vec::new();
    if entry.node.router().is_some() {
        for edge in &entry.next {
            let target = target(graph, edge);
            if !targets.iter().any(|known| known == target) {
                targets.push(target.into());
            }
        }
    }
    let merged = region.merged.as_ref().map(|merged| MergedNames {
        sides: ids(&merged.sides),
        nodes: ids(&merged.nodes),
        // A router may not have chosen the edge to the merge.
        fork: merged
            .sides
            .iter()
            .copied()
            .find(|side| !merged.nodes.contains(side) && graph.nodes[*side].node.router().is_none())
            .map(|side| graph.id(side).into()),
    });
    GraphNode {
        id: entry.id.clone(),
        kind: entry.node.kind(),
        node: entry.node.clone(),
        graph: StepGraph {
            successors: ids(&graph.targets(node)),
            predecessors: ids(&entry.previous),
            nodes: Arc::clone(all),
        },
        is_in_branch: region.is_in_branch,
        from: ids(&region.from),
        fork: region.fork.map(|fork| graph.id(fork).into()),
        merged,
        targets,
    }
}

/// What a router chooses for an edge to fire.
fn target<'g>(graph: &'g EnvelopeGraph, edge: &'g Edge) -> &'g str {
    edge.target.as_deref().unwrap_or(graph.id(edge.to))
}

/// Routers that can choose a target without an edge.
fn unknown_targets(graph: &EnvelopeGraph) -> Vec<GraphError> {
    let mut errors = Vec::new();
    for entry in graph.nodes.iter().filter(|entry| !entry.next.is_empty()) {
        let Some(router) = entry.node.router() else {
            continue;
        };
        let targets = match router.redirect() {
            Some(redirect) => vec![redirect.to_owned()],
            None => router.targets(),
        };
        for target_name in targets {
            let mut edges = entry.next.iter();
            let error = GraphError::UnknownTarget {
                id: entry.id.clone(),
                target: target_name.clone(),
            };
            if !edges.any(|edge| target(graph, edge) == target_name) && !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    errors
}
