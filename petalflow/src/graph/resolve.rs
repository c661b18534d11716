//! From names to places: the graph in numbers.

use std::collections::HashMap;

use petalflow_graph::{
    Diagnostic, Edge, Graph, JoinIdx, Location, Node, NodeIdx, Rule, Source, Target, Via, When,
    messages, similar,
};

use super::builder::{GraphBuilder, Way};
use super::gate::NamedGate;
use super::node::Entry;
use super::{END, START};
use crate::state::State;

/// The graph in numbers; names that nothing has are left out and reported.
pub(super) fn resolve<S: State>(
    builder: &GraphBuilder<S>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Graph {
    let mut resolver = Resolver {
        places: places(&builder.nodes, diagnostics),
        diagnostics,
    };
    let mut edges = resolver.edges(builder);
    let joins = resolver.joins(builder, &mut edges);
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

/// The places of the nodes by name. Where two have one name, edges mean the first; the rules report the second.
fn places<'a, S: State>(
    nodes: &'a [Entry<S>],
    diagnostics: &mut Vec<Diagnostic>,
) -> HashMap<&'a str, NodeIdx> {
    let mut places: HashMap<&str, NodeIdx> = HashMap::new();
    for (place, node) in nodes.iter().enumerate() {
        places
            .entry(&node.name)
            .or_insert_with(|| NodeIdx::from_usize(place));
        if node.name == START || node.name == END {
            diagnostics.push(Diagnostic::new(
                Rule::DuplicateNode,
                Location::Node(NodeIdx::from_usize(place)),
                messages::reserved_name(&node.name).as_str(),
            ));
        }
    }
    places
}

/// A node with all that the builder was told about it.
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
        subflow: node.subflow,
        before: when(false),
        after: when(true),
        stored: stored.map(|(_, id)| id.clone().into()),
    }
}

/// Adds what may be left out: START before a single source, END after the sinks.
#[inline]
fn complete(graph: &mut Graph) {
    let nodes = graph.node_indices();
    let leaves = |edges: &[Edge], node: NodeIdx| {
        edges
            .iter()
            .any(|edge| edge.from == Source::Node(node) && edge.via != Via::Catch)
    };
    // A node that leads to itself is not led to by another.
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
        // A node that nothing mentions is reported as unused, not ended.
        if !leaves(edges, node) && entered(edges, node) {
            edges.push(Edge {
                from: Source::Node(node),
                via: Via::Plain,
                to: Target::End,
            });
        }
    }
}

/// Finds the nodes that names mean, and reports those that mean none.
struct Resolver<'a> {
    places: HashMap<&'a str, NodeIdx>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn edges<S: State>(&mut self, builder: &GraphBuilder<S>) -> Vec<Edge> {
        let mut edges = Vec::new();
        for edge in &builder.edges {
            let user = "an edge";
            let (from, to) = if edge.via == Way::Catch {
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
                Way::Plain => Via::Plain,
                Way::Each => Via::Each,
                Way::Route(route) => Via::Route(route.clone().into()),
                Way::RouteEach(route) => Via::RouteEach(route.clone().into()),
                Way::Catch => Via::Catch,
            };
            edges.push(Edge { from, via, to });
        }
        edges
    }

    /// Adds the edges into the joins and out of them, and says how many joins there are.
    fn joins<S: State>(&mut self, builder: &GraphBuilder<S>, edges: &mut Vec<Edge>) -> u32 {
        let mut joins = 0;
        // A join of nothing would never fire: it is no edge.
        for (sides, to) in builder.joins.iter().filter(|(sides, _)| !sides.is_empty()) {
            let target = self.target("a join", &sides.join(" & "), to);
            let sources: Vec<Source> = sides.iter().filter_map(|side| self.side(side)).collect();
            let Some(target) = target else { continue };
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

    /// Reports names in settings that no node has.
    fn settings<S: State>(&mut self, builder: &GraphBuilder<S>) {
        for name in &builder.deferred {
            self.place("`defer`", name);
        }
        for (name, _) in &builder.policies {
            self.place("`with`", name);
        }
        for gate in &builder.gates {
            self.place("`interrupt`", &gate.node);
        }
        for name in &builder.kept {
            self.place("`keep`", name);
        }
        for (name, _) in &builder.ids {
            self.place("`id`", name);
        }
    }

    #[inline]
    fn place(&mut self, user: &str, name: &str) -> Option<NodeIdx> {
        let place = self.places.get(name).copied();
        if place.is_none() {
            // Sorted, so that among equally similar names the same one is always offered.
            let mut known: Vec<&str> = self.places.keys().copied().collect();
            known.sort_unstable();
            let similar = similar(name, known.iter().copied());
            let text = messages::unknown_node(user, name, similar, &known);
            self.diagnostics.push(Diagnostic::new(
                Rule::UnknownNode,
                Location::Graph,
                text.as_str(),
            ));
        }
        place
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
            _ => self.place(user, name).map(Source::Node),
        }
    }

    /// A side of a join.
    #[inline]
    fn side(&mut self, name: &str) -> Option<Source> {
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

    /// Both ends of a `catch`, which are nodes.
    #[inline]
    fn catch(&mut self, from: &str, to: &str) -> (Option<Source>, Option<Target>) {
        let source = self.place("`catch`", from).map(Source::Node);
        if to == START || to == END {
            self.diagnostics.push(Diagnostic::new(
                Rule::Catch,
                Location::Graph,
                messages::caught_by_no_node(to).as_str(),
            ));
            return (source, None);
        }
        (source, self.place("`catch`", to).map(Target::Node))
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
            _ => self.place(user, name).map(Target::Node),
        }
    }
}
