//! Resolves the names of a builder to indices.

use std::collections::{HashMap, HashSet};

use petalflow_graph::{
    Diagnostic, Edge, Graph, JoinIdx, Location, Node, NodeIdx, Rule, Source, Target, Via, When,
    messages, similar,
};

use super::builder::{GraphBuilder, Trigger};
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
    let joins = resolver.merges(builder, &mut edges, joins);
    resolver.settings(builder);
    let mut graph = Graph {
        nodes: describe_nodes(builder, &resolver.indices).into(),
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
        let text = match &*node.name {
            "" => messages::no_name(index.index() + 1),
            START | END => messages::reserved_name(&node.name),
            _ => continue,
        };
        diagnostics.push(Diagnostic::new(
            Rule::DuplicateNode,
            Location::Node(index),
            text,
        ));
    }
    indices
}

/// The nodes, with what the settings say of them.
fn describe_nodes<S: State>(
    builder: &GraphBuilder<S>,
    indices: &HashMap<&str, NodeIdx>,
) -> Vec<Node> {
    let plain = builder.nodes.iter().map(|node| Node {
        name: node.name.clone().into(),
        deferred: false,
        many: node.spec.facts.many,
        subflow: node.kind == EntryKind::Subflow,
        merge: false,
        before: When::Never,
        after: When::Never,
        stored: None,
    });
    let mut nodes: Vec<Node> = plain.collect();
    let mut set = |name: &str, set: &dyn Fn(&mut Node)| {
        if let Some(node) = indices.get(name) {
            set(&mut nodes[node.index()]);
        }
    };
    for name in &builder.deferred {
        set(name, &|node| node.deferred = true);
    }
    for name in &builder.merges {
        set(name, &|node| node.merge = true);
    }
    for (name, id) in &builder.ids {
        set(name, &|node| node.stored = Some(id.clone().into()));
    }
    // The first of several counts.
    for point in builder.interrupt_points.iter().rev() {
        let when = match point.guard {
            Some(_) => When::Guarded,
            None => When::Always,
        };
        set(&point.node, &|node| {
            let side = if point.after {
                &mut node.after
            } else {
                &mut node.before
            };
            *side = when;
        });
    }
    nodes
}

/// Adds the edges that may be omitted: from START to a single source, and from the sinks to END.
fn complete(graph: &mut Graph) {
    let (nodes, count) = (graph.node_indices(), graph.nodes.len());
    let (mut leaves, mut entered) = (vec![false; count], vec![false; count]);
    let edges = graph.edges.to_mut();
    for edge in &*edges {
        if let Source::Node(node) = edge.from {
            leaves[node.index()] |= edge.via != Via::Catch;
        }
        // An edge of a node to itself does not count.
        if let Target::Node(node) = edge.to {
            entered[node.index()] |= edge.from != Source::Node(node);
        }
    }
    if !edges.iter().any(|edge| edge.from == Source::Start) {
        let mut sources = nodes.clone().filter(|node| !entered[node.index()]);
        if let (Some(source), None) = (sources.next(), sources.next()) {
            entered[source.index()] = true;
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
        if !leaves[node.index()] && entered[node.index()] {
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
        let merges: HashSet<&String> = builder.merges.iter().collect();
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
            if merges.contains(to) {
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
    fn merges<S: State>(
        &mut self,
        builder: &GraphBuilder<S>,
        edges: &mut Vec<Edge>,
        mut joins: u32,
    ) -> u32 {
        let mut sides: Vec<Vec<usize>> = vec![Vec::new(); builder.nodes.len()];
        for (number, edge) in edges.iter().enumerate() {
            if let (Target::Node(to), Via::Plain | Via::Route(_)) = (edge.to, &edge.via) {
                sides[to.index()].push(number);
            }
        }
        for name in &builder.merges {
            let Some(merge) = self.node("`merge`", name) else {
                continue;
            };
            let sides = std::mem::take(&mut sides[merge.index()]);
            if sides.len() < 2 {
                continue;
            }
            let join = JoinIdx::new(joins);
            joins += 1;
            for side in sides {
                edges[side].to = Target::Join(join);
            }
            edges.push(Edge {
                from: Source::Join(join),
                via: Via::Plain,
                to: Target::Node(merge),
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
        for point in &builder.interrupt_points {
            self.node("`interrupt`", &point.node);
        }
        for name in &builder.retained {
            self.node("`keep`", name);
        }
        for (name, _) in &builder.ids {
            self.node("`id`", name);
        }
    }

    fn node(&mut self, user: &str, name: &str) -> Option<NodeIdx> {
        let node = self.indices.get(name).copied();
        if node.is_none() {
            // Sorted, so that the error does not depend on the order of the map.
            let mut known: Vec<&str> = self.indices.keys().copied().collect();
            known.sort_unstable();
            let similar = similar(name, known.iter().copied());
            let text = messages::unknown_node(user, name, similar, &known);
            self.diagnostics
                .push(Diagnostic::new(Rule::UnknownNode, Location::Graph, text));
        }
        node
    }

    fn source(&mut self, user: &str, name: &str, to: &str) -> Option<Source> {
        match name {
            START => Some(Source::Start),
            END => {
                self.diagnostics.push(Diagnostic::new(
                    Rule::OutOfEnd,
                    Location::Graph,
                    messages::out_of_end(to),
                ));
                None
            }
            _ => self.node(user, name).map(Source::Node),
        }
    }

    /// A source of a join.
    fn join_source(&mut self, name: &str) -> Option<Source> {
        if name != END {
            return self.source("a join", name, "");
        }
        self.diagnostics.push(Diagnostic::new(
            Rule::OutOfEnd,
            Location::Graph,
            messages::end_in_join(),
        ));
        None
    }

    /// The ends of a `catch`, which are nodes.
    fn catch(&mut self, from: &str, to: &str) -> (Option<Source>, Option<Target>) {
        let source = self.node("`catch`", from).map(Source::Node);
        if to == START || to == END {
            self.diagnostics.push(Diagnostic::new(
                Rule::Catch,
                Location::Graph,
                messages::caught_by_no_node(to),
            ));
            return (source, None);
        }
        (source, self.node("`catch`", to).map(Target::Node))
    }

    fn target(&mut self, user: &str, from: &str, name: &str) -> Option<Target> {
        match name {
            END => Some(Target::End),
            START => {
                self.diagnostics.push(Diagnostic::new(
                    Rule::IntoStart,
                    Location::Graph,
                    messages::into_start(from),
                ));
                None
            }
            _ => self.node(user, name).map(Target::Node),
        }
    }
}
