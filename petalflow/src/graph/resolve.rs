//! Resolves the names of a builder to indices.

use std::collections::HashMap;

use petalflow_graph::{
    Diagnostic, Edge, Graph, JoinIdx, Location, Node, NodeIdx, Rule, Source, Target, Via, When,
    messages, similar,
};

use super::builder::{GraphBuilder, Trigger};
use super::gate::NamedGate;
use super::node::{Entry, EntryKind};
use super::{END, START};
use crate::state::State;

/// The graph with indices. Unknown names are reported and left out.
pub(super) fn resolve<S: State>(
    builder: &GraphBuilder<S>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Graph {
    let mut resolver = Resolver {
        indices: indices(&builder.nodes, diagnostics),
        diagnostics,
    };
    let mut edges = resolver.edges(builder);
    let joins = resolver.joins(builder, &mut edges);
    let joins = resolver.merges(&builder.merges, &mut edges, joins);
    resolver.settings(builder);
    let mut graph = Graph {
        nodes: builder
            .nodes
            .iter()
            .map(|node| described(builder, node))
            .collect(),
        edges: edges.into(),
        joins,
    };
    complete(&mut graph);
    graph
}

/// The indices of the nodes by name. If two nodes have one name, edges mean the first one, and the rules report the second.
fn indices<'a, S: State>(
    nodes: &'a [Entry<S>],
    diagnostics: &mut Vec<Diagnostic>,
) -> HashMap<&'a str, NodeIdx> {
    let mut indices: HashMap<&str, NodeIdx> = HashMap::new();
    for (index, node) in NodeIdx::all(nodes.len()).zip(nodes) {
        indices.entry(&node.name).or_insert(index);
        if node.name == START || node.name == END {
            diagnostics.push(Diagnostic::new(
                Rule::DuplicateNode,
                Location::Node(index),
                messages::reserved_name(&node.name).as_str(),
            ));
        }
    }
    indices
}

/// A node with its settings.
fn described<S: State>(builder: &GraphBuilder<S>, node: &Entry<S>) -> Node {
    let when = |after| {
        let of_node = |gate: &&NamedGate<S>| gate.node == node.name && gate.after == after;
        match builder.gates.iter().find(of_node) {
            Some(gate) if gate.guard.is_some() => When::Guarded,
            Some(_) => When::Always,
            None => When::Never,
        }
    };
    let mut ids = builder.ids.iter().rev();
    let stored = ids.find(|(name, _)| *name == node.name);
    Node {
        name: node.name.clone().into(),
        deferred: builder.deferred.contains(&node.name),
        many: node.spec.facts.many,
        subflow: node.kind == EntryKind::Subflow,
        merge: builder.merges.contains(&node.name),
        before: when(false),
        after: when(true),
        stored: stored.map(|(_, id)| id.clone().into()),
    }
}

/// Adds the edges that may be omitted: from START to a single source, and from the sinks to END.
#[inline]
fn complete(graph: &mut Graph) {
    let nodes = graph.node_indices();
    let leaves = |edges: &[Edge], node: NodeIdx| {
        edges
            .iter()
            .any(|edge| edge.from == Source::Node(node) && edge.via != Via::Catch)
    };
    // An edge of a node to itself does not count.
    let entered = |edges: &[Edge], node: NodeIdx| {
        edges
            .iter()
            .any(|edge| edge.to == Target::Node(node) && edge.from != Source::Node(node))
    };
    let edges = graph.edges.to_mut();
    if !edges.iter().any(|edge| edge.from == Source::Start) {
        let sources: Vec<NodeIdx> = nodes
            .clone()
            .filter(|node| !entered(edges, *node))
            .collect();
        if let [source] = sources[..] {
            edges.insert(
                0,
                Edge {
                    from: Source::Start,
                    via: Via::Plain,
                    to: Target::Node(source),
                },
            );
        }
    }
    for node in nodes {
        // A node without edges is reported as unused.
        if !leaves(edges, node) && entered(edges, node) {
            edges.push(Edge {
                from: Source::Node(node),
                via: Via::Plain,
                to: Target::End,
            });
        }
    }
}

/// Finds nodes by name, and reports unknown names.
struct Resolver<'a> {
    indices: HashMap<&'a str, NodeIdx>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn edges<S: State>(&mut self, builder: &GraphBuilder<S>) -> Vec<Edge> {
        let mut edges = Vec::new();
        for edge in &builder.edges {
            let user = "an edge";
            let (from, to) = if edge.via == Trigger::Catch {
                self.catch(&edge.from, &edge.to)
            } else {
                (
                    self.source(user, &edge.from, &edge.to),
                    self.target(user, &edge.from, &edge.to),
                )
            };
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            let via = match &edge.via {
                Trigger::Plain => Via::Plain,
                Trigger::Each => Via::Each,
                Trigger::Route(route) => Via::Route(route.clone().into()),
                Trigger::RouteEach(route) => Via::RouteEach(route.clone().into()),
                Trigger::Catch => Via::Catch,
            };
            edges.push(Edge { from, via, to });
        }
        edges
    }

    /// Adds the edges into the joins and out of them. Returns the number of joins.
    fn joins<S: State>(&mut self, builder: &GraphBuilder<S>, edges: &mut Vec<Edge>) -> u32 {
        let mut joins = 0;
        // A join without sources never fires.
        for (sources, to) in builder
            .joins
            .iter()
            .filter(|(sources, _)| !sources.is_empty())
        {
            let target = self.target("a join", &sources.join(" & "), to);
            let sources: Vec<Source> = sources
                .iter()
                .filter_map(|name| self.join_source(name))
                .collect();
            let Some(target) = target else { continue };
            if builder.merges.contains(to) {
                edges.extend(sources.into_iter().map(|from| Edge {
                    from,
                    via: Via::Plain,
                    to: target,
                }));
                continue;
            }
            let join = JoinIdx::new(joins);
            joins += 1;
            edges.extend(sources.into_iter().map(|from| Edge {
                from,
                via: Via::Plain,
                to: Target::Join(join),
            }));
            edges.push(Edge {
                from: Source::Join(join),
                via: Via::Plain,
                to: target,
            });
        }
        joins
    }

    /// Adds a join before each merge with several edges: these are its sides. Returns the number of all joins.
    fn merges(&mut self, merges: &[String], edges: &mut Vec<Edge>, mut joins: u32) -> u32 {
        let is_side = |edge: &Edge| matches!(edge.via, Via::Plain | Via::Route(_));
        for name in merges {
            let Some(merge) = self.node("`merge`", name).map(Target::Node) else {
                continue;
            };
            let sides = || {
                edges
                    .iter()
                    .filter(|edge| edge.to == merge && is_side(edge))
            };
            if sides().count() < 2 {
                continue;
            }
            let join = JoinIdx::new(joins);
            joins += 1;
            for edge in edges
                .iter_mut()
                .filter(|edge| edge.to == merge && is_side(edge))
            {
                edge.to = Target::Join(join);
            }
            edges.push(Edge {
                from: Source::Join(join),
                via: Via::Plain,
                to: merge,
            });
        }
        joins
    }

    /// Reports unknown names in settings.
    fn settings<S: State>(&mut self, builder: &GraphBuilder<S>) {
        for name in &builder.deferred {
            self.node("`defer`", name);
        }
        for (name, _) in &builder.routes {
            self.node("`routes`", name);
        }
        for (name, _) in &builder.policies {
            self.node("`with`", name);
        }
        for gate in &builder.gates {
            self.node("`interrupt`", &gate.node);
        }
        for name in &builder.retained {
            self.node("`keep`", name);
        }
        for (name, _) in &builder.ids {
            self.node("`id`", name);
        }
    }

    #[inline]
    fn node(&mut self, user: &str, name: &str) -> Option<NodeIdx> {
        let node = self.indices.get(name).copied();
        if node.is_none() {
            // Sorted, so that the error does not depend on the order of the map.
            let mut known: Vec<&str> = self.indices.keys().copied().collect();
            known.sort_unstable();
            let similar = similar(name, known.iter().copied());
            let text = messages::unknown_node(user, name, similar, &known);
            self.diagnostics.push(Diagnostic::new(
                Rule::UnknownNode,
                Location::Graph,
                text.as_str(),
            ));
        }
        node
    }

    #[inline]
    fn source(&mut self, user: &str, name: &str, to: &str) -> Option<Source> {
        match name {
            START => Some(Source::Start),
            END => {
                self.diagnostics.push(Diagnostic::new(
                    Rule::OutOfEnd,
                    Location::Graph,
                    messages::out_of_end(to).as_str(),
                ));
                None
            }
            _ => self.node(user, name).map(Source::Node),
        }
    }

    /// A source of a join.
    #[inline]
    fn join_source(&mut self, name: &str) -> Option<Source> {
        if name != END {
            return self.source("a join", name, "");
        }
        self.diagnostics.push(Diagnostic::new(
            Rule::OutOfEnd,
            Location::Graph,
            messages::end_in_join().as_str(),
        ));
        None
    }

    /// The ends of a `catch`, which are nodes.
    #[inline]
    fn catch(&mut self, from: &str, to: &str) -> (Option<Source>, Option<Target>) {
        let source = self.node("`catch`", from).map(Source::Node);
        if to == START || to == END {
            self.diagnostics.push(Diagnostic::new(
                Rule::Catch,
                Location::Graph,
                messages::caught_by_no_node(to).as_str(),
            ));
            return (source, None);
        }
        (source, self.node("`catch`", to).map(Target::Node))
    }

    #[inline]
    fn target(&mut self, user: &str, from: &str, name: &str) -> Option<Target> {
        match name {
            END => Some(Target::End),
            START => {
                self.diagnostics.push(Diagnostic::new(
                    Rule::IntoStart,
                    Location::Graph,
                    messages::into_start(from).as_str(),
                ));
                None
            }
            _ => self.node(user, name).map(Target::Node),
        }
    }
}
