//! From names to a checked graph.
//!
//! `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Few programs build graphs at run
//! time.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow_graph::{
    Analysis, Edge, KeyFacts, Node, NodeFacts, Problem, Rule, Site, Source, Target, Via, When,
    check_with, index, route_problems, similar, verdicts_of, words,
};

use super::builder::{GraphBuilder, Way};
use super::gate::NamedGate;
use super::items::items_match;
use super::node::Entry;
use super::{END, Graph, GraphErrors, Inner, START};
use crate::flow::{Gate, Wiring};
use crate::node::NodePolicy;
use crate::{KeyMeta, State, Trait};

pub(super) fn wire<S: State>(builder: GraphBuilder<S>) -> Result<Graph<S>, GraphErrors> {
    let mut problems = Vec::new();
    let graph = resolve(&builder, &mut problems);
    let analysis = Analysis::declared(&graph);
    // Names that lead nowhere would make the graph look broken elsewhere too.
    if problems.is_empty() {
        problems = check_with(&graph, &analysis.declared);
        items_match(&graph, &builder.nodes, &builder.joins, &mut problems);
        routes_match(&graph, &builder.nodes, &mut problems);
        writes_once::<S>(&builder.nodes, &mut problems);
        interrupts_once(&graph, &builder.gates, &mut problems);
        subflows_keep(&graph, &builder.kept, &mut problems);
    }
    if problems.is_empty() {
        let facts: Vec<NodeFacts<'_>> = builder
            .nodes
            .iter()
            .map(|node| node.traits.facts(&node.name))
            .collect();
        let keys: Vec<KeyFacts<'_>> = S::KEYS.iter().map(key_facts).collect();
        for (place, verdict) in verdicts_of(&analysis.tables(), &keys, &facts)
            .iter()
            .enumerate()
        {
            problems.extend(verdict.problems(index(place), &keys, &facts));
        }
    }
    if !problems.is_empty() {
        return Err(GraphErrors {
            graph: builder.name,
            problems,
        });
    }
    let policy = |name: &str| {
        builder
            .policies
            .iter()
            .rev()
            .filter(|(node, _)| node == name)
            .fold(NodePolicy::default(), |policy, (_, more)| {
                policy.or(more.clone())
            })
    };
    let specs: Vec<_> = builder
        .nodes
        .iter()
        .map(|node| node.traits.spec(policy(&node.name)))
        .collect();
    let kept = builder.kept;
    let nodes = builder
        .nodes
        .into_iter()
        .map(|mut entry| {
            if kept.contains(&entry.name) {
                entry.node.keep_thread();
            }
            entry.node
        })
        .collect();
    let (gates, guards) = builder
        .gates
        .into_iter()
        .map(|gate| {
            let node = graph.place(&gate.node).unwrap_or_default();
            let after = gate.after;
            (Gate { node, after }, gate.guard)
        })
        .unzip();
    let wiring = Arc::new(Wiring::new(&graph, &specs).with_gates(gates));
    Ok(Graph(Arc::new(Inner {
        name: builder.name,
        wiring,
        nodes,
        guards,
    })))
}

/// What constant evaluation, and this builder, must know of a key.
pub(crate) const fn key_facts(key: &KeyMeta) -> KeyFacts<'static> {
    KeyFacts {
        exclusive: key.has(Trait::Exclusive),
        assigned: key.has(Trait::Assigned),
        // An ephemeral key that starts with a value falls back to it, so it always has one.
        ephemeral: key.has(Trait::Ephemeral) && !key.has(Trait::Assigned),
        output: key.has(Trait::Output),
        ..KeyFacts::new(key.name)
    }
}

/// The graph in numbers; names that nothing has are left out and reported.
fn resolve<S: State>(
    builder: &GraphBuilder<S>,
    problems: &mut Vec<Problem>,
) -> petalflow_graph::Graph {
    let mut places: HashMap<&str, u32> = HashMap::new();
    for (place, node) in builder.nodes.iter().enumerate() {
        // The rules report a second node of one name; edges mean the first.
        places.entry(&node.name).or_insert_with(|| index(place));
        if node.name == START || node.name == END {
            problems.push(Problem::new(
                Rule::DuplicateNode,
                Site::Node(index(place)),
                words::reserved_name(&node.name).as_str(),
            ));
        }
    }
    let mut edges = Vec::new();
    let mut joins = 0;
    {
        let mut resolver = Resolver {
            places: &places,
            problems,
        };
        for edge in &builder.edges {
            let user = "an edge";
            let (from, to) = if edge.via == Way::Catch {
                resolver.catch(&edge.from, &edge.to)
            } else {
                (
                    resolver.source(user, &edge.from, &edge.to),
                    resolver.target(user, &edge.from, &edge.to),
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
        // A join of nothing would never fire: it is no edge.
        for (sides, to) in builder.joins.iter().filter(|(sides, _)| !sides.is_empty()) {
            let target = resolver.target("a join", &sides.join(" & "), to);
            let sources: Vec<Source> = sides
                .iter()
                .filter_map(|side| resolver.side(side))
                .collect();
            let Some(target) = target else { continue };
            let join = joins;
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
        for name in &builder.deferred {
            resolver.place("`defer`", name);
        }
        for (name, _) in &builder.policies {
            resolver.place("`with`", name);
        }
        for gate in &builder.gates {
            resolver.place("`interrupt`", &gate.node);
        }
        for name in &builder.kept {
            resolver.place("`keep`", name);
        }
        for (name, _) in &builder.ids {
            resolver.place("`id`", name);
        }
    }
    let when = |node: &Entry<S>, after| {
        let of_node = |gate: &&NamedGate<S>| gate.node == node.name && gate.after == after;
        match builder.gates.iter().find(of_node) {
            Some(gate) if gate.guard.is_some() => When::Guarded,
            Some(_) => When::Always,
            None => When::Never,
        }
    };
    let stored = |node: &Entry<S>| {
        let mut ids = builder.ids.iter().rev();
        let of_node = ids.find(|(name, _)| *name == node.name);
        of_node.map(|(_, id)| id.clone().into())
    };
    let node = |node: &Entry<S>| Node {
        name: node.name.clone().into(),
        deferred: builder.deferred.contains(&node.name),
        many: node.traits.many,
        subflow: node.subflow,
        before: when(node, false),
        after: when(node, true),
        stored: stored(node),
    };
    let mut graph = petalflow_graph::Graph {
        nodes: builder.nodes.iter().map(node).collect(),
        edges: edges.into(),
        joins,
    };
    complete(&mut graph);
    graph
}

/// Adds what may be left out: START before a single source, END after the sinks.
#[inline]
fn complete(graph: &mut petalflow_graph::Graph) {
    let nodes = 0..index(graph.nodes.len());
    let leaves = |edges: &[Edge], node: u32| {
        edges
            .iter()
            .any(|edge| edge.from == Source::Node(node) && edge.via != Via::Catch)
    };
    // A node that leads to itself is not led to by another.
    let entered = |edges: &[Edge], node: u32| {
        edges
            .iter()
            .any(|edge| edge.to == Target::Node(node) && edge.from != Source::Node(node))
    };
    let edges = graph.edges.to_mut();
    if !edges.iter().any(|edge| edge.from == Source::Start) {
        let sources: Vec<u32> = nodes
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

struct Resolver<'a> {
    places: &'a HashMap<&'a str, u32>,
    problems: &'a mut Vec<Problem>,
}

impl Resolver<'_> {
    #[inline]
    fn place(&mut self, user: &str, name: &str) -> Option<u32> {
        let place = self.places.get(name).copied();
        if place.is_none() {
            // Sorted, so that among equally similar names the same one is always offered.
            let mut known: Vec<&str> = self.places.keys().copied().collect();
            known.sort_unstable();
            let similar = similar(name, known.iter().copied());
            let text = words::unknown_node(user, name, similar, &known);
            self.problems
                .push(Problem::new(Rule::UnknownNode, Site::Graph, text.as_str()));
        }
        place
    }

    #[inline]
    fn source(&mut self, user: &str, name: &str, to: &str) -> Option<Source> {
        match name {
            START => Some(Source::Start),
            END => {
                self.problems.push(Problem::new(
                    Rule::OutOfEnd,
                    Site::Graph,
                    words::out_of_end(to).as_str(),
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
        self.problems.push(Problem::new(
            Rule::OutOfEnd,
            Site::Graph,
            words::end_in_join().as_str(),
        ));
        None
    }

    /// Both ends of a `catch`, which are nodes.
    #[inline]
    fn catch(&mut self, from: &str, to: &str) -> (Option<Source>, Option<Target>) {
        let source = self.place("`catch`", from).map(Source::Node);
        if to == START || to == END {
            self.problems.push(Problem::new(
                Rule::Catch,
                Site::Graph,
                words::caught_by_no_node(to).as_str(),
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
                self.problems.push(Problem::new(
                    Rule::IntoStart,
                    Site::Graph,
                    words::into_start(from).as_str(),
                ));
                None
            }
            _ => self.place(user, name).map(Target::Node),
        }
    }
}

/// PF012 to PF015: routes and edges fit.
fn routes_match<S: State>(
    graph: &petalflow_graph::Graph,
    nodes: &[Entry<S>],
    problems: &mut Vec<Problem>,
) {
    for (place, node) in nodes.iter().enumerate() {
        let own = |(number, edge): (usize, &Edge)| {
            (edge.from == Source::Node(index(place))).then_some((number, edge.via.clone()))
        };
        let edges: Vec<(usize, Via)> = graph.edges().iter().enumerate().filter_map(own).collect();
        let arms: Vec<(&str, Site)> = edges
            .iter()
            .filter_map(|(number, via)| match via {
                Via::Route(route) | Via::RouteEach(route) => Some((&**route, Site::Edge(*number))),
                _ => None,
            })
            .collect();
        // The edge to END that `complete` adds to a sink is no plain edge of the user's.
        let sink = arms.is_empty()
            && edges
                .iter()
                .all(|(number, _)| graph.edges()[*number].to == Target::End);
        let plain = edges
            .iter()
            .any(|(_, via)| matches!(via, Via::Plain | Via::Each))
            && !sink;
        problems.extend(route_problems(
            index(place),
            &node.traits.facts(&node.name),
            &arms,
            plain,
        ));
        let each = edges.iter().any(|(_, via)| *via == Via::Each);
        // Where the other end of a plain edge takes an item, that edge was reported.
        let told = edges.iter().any(|(number, via)| {
            let to = graph.edges()[*number].to;
            *via == Via::Plain && matches!(to, Target::Node(to) if nodes[to as usize].traits.takes)
        });
        if node.traits.sends && !each && !told {
            problems.push(Problem::new(
                Rule::ItemMismatch,
                Site::Node(index(place)),
                words::items_unused(&node.name).as_str(),
            ));
        }
    }
}

/// PF024: a node is interrupted once on each side.
fn interrupts_once<S: State>(
    graph: &petalflow_graph::Graph,
    gates: &[NamedGate<S>],
    problems: &mut Vec<Problem>,
) {
    for (i, gate) in gates.iter().enumerate() {
        let same = |other: &NamedGate<S>| other.node == gate.node && other.after == gate.after;
        if gates[..i].iter().any(same) {
            let side = if gate.after { "after" } else { "before" };
            let text = words::interrupted_twice(side, &gate.node);
            let at = graph.place(&gate.node).map_or(Site::Graph, Site::Node);
            problems.push(Problem::new(Rule::Option, at, text.as_str()));
        }
    }
}

/// PF024: only a sub-flow has a state to keep.
#[inline]
fn subflows_keep(graph: &petalflow_graph::Graph, kept: &[String], problems: &mut Vec<Problem>) {
    for name in kept {
        if let Some(place) = graph.place(name)
            && !graph.nodes[place as usize].subflow
        {
            problems.push(Problem::new(
                Rule::Option,
                Site::Node(place),
                words::keeps_nothing(name).as_str(),
            ));
        }
    }
}

/// PF019: one result writes a `replace` key once.
fn writes_once<S: State>(nodes: &[Entry<S>], problems: &mut Vec<Problem>) {
    for (place, node) in nodes.iter().enumerate() {
        if let Some(key) = node.traits.twice.first() {
            let text = words::written_twice(&node.name, S::KEYS[key].name);
            problems.push(Problem::new(
                Rule::WrittenTwice,
                Site::Node(index(place)),
                text.as_str(),
            ));
        }
    }
}
