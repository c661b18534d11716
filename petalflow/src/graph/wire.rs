//! Checks the graph of a builder and makes it ready to run.
//!
//! `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Few programs build graphs at run
//! time.

use std::sync::Arc;

use petalflow_graph::{Analysis, KeyFacts, NodeFacts, NodeIdx, check_with, verdicts_of};

use super::GraphErrors;
use super::builder::GraphBuilder;
use super::built::{Graph, Inner};
use super::items::items_match;
use super::node::Entry;
use super::resolve::resolve;
use super::rules::{interrupts_once, only_subflows_retain_state, routes_match, writes_once};
use crate::plan::{ExecutionPlan, Gate, NodeSpec};
use crate::policy::NodePolicy;
use crate::state::{KeyMeta, KeySet, State};

impl<S: State> GraphBuilder<S> {
    /// Checks the graph and makes it ready to run.
    ///
    /// # Errors
    ///
    /// All mistakes, with the codes and messages of `flow!`.
    pub fn build(self) -> Result<Graph<S>, GraphErrors> {
        wire(self)
    }
}

fn wire<S: State>(builder: GraphBuilder<S>) -> Result<Graph<S>, GraphErrors> {
    let mut diagnostics = Vec::new();
    let graph = resolve(&builder, &mut diagnostics);
    let analysis = Analysis::declared(&graph);
    // Unknown names would cause further errors in the rules.
    if diagnostics.is_empty() {
        diagnostics = check_with(&graph, &analysis.declared);
        items_match(&graph, &builder.nodes, &builder.joins, &mut diagnostics);
        routes_match(&graph, &builder.nodes, &mut diagnostics);
        writes_once::<S>(&builder.nodes, &mut diagnostics);
        interrupts_once(&graph, &builder.gates, &mut diagnostics);
        only_subflows_retain_state(&graph, &builder.retained, &mut diagnostics);
    }
    if diagnostics.is_empty() {
        let facts: Vec<NodeFacts<'_>> = builder.nodes.iter().map(Entry::facts).collect();
        let keys: Vec<KeyFacts<'_>> = S::KEYS.iter().map(KeyMeta::facts).collect();
        let verdicts = verdicts_of(&analysis.tables(), &keys, &facts);
        for (node, verdict) in NodeIdx::all(verdicts.len()).zip(&verdicts) {
            diagnostics.extend(verdict.diagnostics(node, &keys, &facts));
        }
    }
    if !diagnostics.is_empty() {
        return Err(GraphErrors {
            graph: builder.name,
            diagnostics,
        });
    }
    let policy = |entry: &Entry<S>| {
        let settings = builder.policies.iter().rev();
        settings
            .filter(|(node, _)| *node == entry.name)
            .fold(NodePolicy::default(), |policy, (_, more)| {
                policy.or(more.clone())
            })
            .or(entry.spec.policy.into())
    };
    let policies = builder.nodes.iter().map(policy).collect();
    let specs: Vec<NodeSpec> = builder.nodes.iter().map(|entry| entry.spec).collect();
    let retained = builder.retained;
    let nodes = builder
        .nodes
        .into_iter()
        .map(|mut entry| {
            if retained.contains(&entry.name) {
                entry.node.retain_state();
            }
            entry.node
        })
        .collect();
    let (gates, guards) = builder
        .gates
        .into_iter()
        .map(|gate| {
            let node = graph.index_of(&gate.node).unwrap_or_default();
            let (after, reads) = (gate.after, KeySet::NONE);
            (Gate { node, after, reads }, gate.guard)
        })
        .unzip();
    let plan = Arc::new(ExecutionPlan::new(&graph, &specs, policies).with_gates(gates));
    Ok(Graph(Arc::new(Inner {
        name: builder.name,
        plan,
        nodes,
        guards,
    })))
}
