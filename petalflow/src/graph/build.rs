//! Checks the graph of a builder and makes it ready to run.

use std::sync::Arc;

use petalflow_graph::{
    Analysis, Diagnostic, KeyFacts, NodeFacts, NodeIdx, SkippableJoin, check_with, verdicts_of,
};

use super::GraphErrors;
use super::builder::GraphBuilder;
use super::built::{Graph, Inner};
use super::items::items_match;
use super::node::Entry;
use super::resolve::resolve;
use super::rules::{
    interrupts_once, only_subflows_retain_state, retained_states_are_of_one_thread,
    routes_listed_once, routes_match, writes_once,
};
use crate::plan::{ExecutionPlan, InterruptPoint, NodeSpec, RouteNames};
use crate::policy::NodePolicy;
use crate::state::{KeyMeta, KeySet, State};

impl<S: State> GraphBuilder<S> {
    /// Checks the graph and makes it ready to run.
    ///
    /// # Errors
    ///
    /// All mistakes, with the codes and messages of `flow!`.
    pub fn build(self) -> Result<Graph<S>, GraphErrors> {
        build_graph(self)
    }
}

fn build_graph<S: State>(builder: GraphBuilder<S>) -> Result<Graph<S>, GraphErrors> {
    let mut diagnostics = Vec::new();
    let graph = resolve(&builder, &mut diagnostics);
    let routes: Vec<RouteNames> = builder
        .nodes
        .iter()
        .map(|node| routes_of(&builder, node))
        .collect();
    // Unknown names would cause further errors in the rules.
    if diagnostics.is_empty() {
        diagnostics = check(&builder, &graph, &routes);
    }
    if !diagnostics.is_empty() {
        return Err(GraphErrors {
            graph: builder.name,
            diagnostics,
        });
    }
    let nodes = builder.nodes.iter();
    let policies = nodes.map(|node| policy_of(&builder, node)).collect();
    let specs: Vec<NodeSpec> = builder.nodes.iter().map(|entry| entry.spec).collect();
    let retained = builder.retained;
    let nodes = builder
        .nodes
        .into_iter()
        .zip(&routes)
        .map(|(entry, routes)| {
            let retain_state = retained.contains(&entry.name);
            entry.ready(retain_state, routes)
        })
        .collect();
    let (interrupt_points, guards) = builder
        .interrupt_points
        .into_iter()
        .map(|point| {
            let node = graph.index_of(&point.node).unwrap_or_default();
            let (after, reads) = (point.after, point.guard.is_none().then_some(KeySet::NONE));
            (InterruptPoint { node, after, reads }, point.guard)
        })
        .unzip();
    let skippable = SkippableJoin::all(&graph);
    let plan = ExecutionPlan::with_routes(graph, specs, policies, routes)
        .with_skippable(skippable)
        .with_interrupt_points(interrupt_points);
    Ok(Graph(Arc::new(Inner {
        name: builder.name,
        plan: Arc::new(plan),
        nodes,
        guards,
    })))
}

/// The mistakes of a graph in which each name is known. What follows from the keys is checked only if the graph has none.
fn check<S: State>(
    builder: &GraphBuilder<S>,
    graph: &petalflow_graph::Graph,
    routes: &[RouteNames],
) -> Vec<Diagnostic> {
    let analysis = Analysis::declared(graph);
    let names: Vec<Vec<&str>> = routes.iter().map(RouteNames::all).collect();
    let nodes = builder.nodes.iter().zip(&names);
    let facts: Vec<NodeFacts<'_>> = nodes.map(|(node, names)| node.facts(names)).collect();
    let mut diagnostics = check_with(graph, &analysis.declared);
    items_match(graph, &builder.nodes, &mut diagnostics);
    routes_match(graph, &builder.nodes, &facts, &mut diagnostics);
    routes_listed_once(&builder.nodes, &builder.routes, &mut diagnostics);
    writes_once::<S>(&builder.nodes, &mut diagnostics);
    interrupts_once(graph, &builder.interrupt_points, &mut diagnostics);
    only_subflows_retain_state(graph, &builder.retained, &mut diagnostics);
    let is_cached = |node: &Entry<S>| policy_of(builder, node).cache.is_some();
    retained_states_are_of_one_thread(
        &builder.nodes,
        &builder.retained,
        is_cached,
        &mut diagnostics,
    );
    if diagnostics.is_empty() {
        let keys: Vec<KeyFacts<'_>> = S::KEYS.iter().map(KeyMeta::facts).collect();
        let verdicts = verdicts_of(&analysis.tables(), &keys, &facts);
        for (node, verdict) in NodeIdx::all(verdicts.len()).zip(&verdicts) {
            diagnostics.extend(verdict.diagnostics(node, &keys, &facts));
        }
    }
    diagnostics
}

/// The policy of a node: what the builder was given last, completed by what its type declares.
fn policy_of<S: State>(builder: &GraphBuilder<S>, node: &Entry<S>) -> NodePolicy {
    let settings = builder.policies.iter().rev();
    settings
        .filter(|(name, _)| *name == node.name)
        .fold(NodePolicy::default(), |policy, (_, more)| {
            policy.or(more.clone())
        })
        .or(node.spec.policy.into())
}

/// The routes of a node: those of its type, or those that the builder was given.
fn routes_of<S: State>(builder: &GraphBuilder<S>, node: &Entry<S>) -> RouteNames {
    if !node.spec.named {
        return RouteNames::Static(node.spec.facts.routes);
    }
    let mut lists = builder.routes.iter();
    let list = lists.find(|(name, _)| *name == node.name);
    RouteNames::Named(list.map_or(&[][..], |(_, names)| names).into())
}
