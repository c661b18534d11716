//! The nodes, edges and metrics of a graph, for introspection.

use crate::diagram::edges;
use crate::graph::{Graph, Source, Target, When};
use crate::idx::NodeIdx;

/// The nodes, edges and metrics of a graph.
///
/// ```
/// use petalflow_graph::topology;
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};
/// # let graph = Graph {
/// #     nodes: vec![Node::named("write"), Node::named("publish")].into(),
/// #     edges: vec![
/// #         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) },
/// #         Edge { from: Source::Node(NodeIdx::new(0)), via: Via::Plain, to: Target::Node(NodeIdx::new(1)) },
/// #         Edge { from: Source::Node(NodeIdx::new(1)), via: Via::Plain, to: Target::End },
/// #     ]
/// #     .into(),
/// #     joins: 0,
/// # };
/// let topology = topology(&graph);
/// assert_eq!((&topology.entries[..], &topology.exits[..]), (&["write".to_string()][..], &["publish".to_string()][..]));
/// assert!(topology.edges.contains(&("write".into(), "publish".into())));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Topology {
    /// The nodes, by name.
    pub nodes: Vec<NodeInfo>,
    /// The edges as names, with those from `START` and to `END`, sorted. An edge leads from each side of a join to each of its
    /// targets.
    pub edges: Vec<(String, String)>,
    /// The nodes that START leads to, by name.
    pub entries: Vec<String>,
    /// The nodes that lead to END, by name.
    pub exits: Vec<String>,
    /// The metrics.
    pub metrics: Metrics,
}

/// One node of a [`Topology`].
///
/// ```
/// use petalflow_graph::topology;
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};
/// # let graph = Graph {
/// #     nodes: vec![Node::named("write"), Node::named("publish")].into(),
/// #     edges: vec![
/// #         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) },
/// #         Edge { from: Source::Node(NodeIdx::new(0)), via: Via::Plain, to: Target::Node(NodeIdx::new(1)) },
/// #         Edge { from: Source::Node(NodeIdx::new(1)), via: Via::Plain, to: Target::End },
/// #     ]
/// #     .into(),
/// #     joins: 0,
/// # };
/// let publish = &topology(&graph).nodes[0];
/// assert_eq!((publish.name.as_str(), publish.incoming, publish.outgoing), ("publish", 1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// Its role in the flow.
    pub role: Role,
    /// The number of edges to it, with those from START.
    pub incoming: usize,
    /// The number of edges from it, with those to END.
    pub outgoing: usize,
    /// Whether the run stops before it.
    pub before: When,
    /// Whether the run stops after it.
    pub after: When,
}

/// The role of a node in the flow.
///
/// ```
/// use petalflow_graph::{Role, topology};
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};
/// # let graph = Graph {
/// #     nodes: vec![Node::named("write"), Node::named("publish")].into(),
/// #     edges: vec![
/// #         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) },
/// #         Edge { from: Source::Node(NodeIdx::new(0)), via: Via::Plain, to: Target::Node(NodeIdx::new(1)) },
/// #         Edge { from: Source::Node(NodeIdx::new(1)), via: Via::Plain, to: Target::End },
/// #     ]
/// #     .into(),
/// #     joins: 0,
/// # };
/// let roles: Vec<_> = topology(&graph).nodes.into_iter().map(|node| (node.name, node.role)).collect();
/// assert_eq!(roles, [("publish".into(), Role::Terminal), ("write".into(), Role::Entry)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// START leads to it.
    Entry,
    /// It leads to END. START may also lead to it.
    Terminal,
    /// Neither.
    Standard,
}

/// Metrics of a graph.
///
/// ```
/// use petalflow_graph::topology;
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};
/// # let graph = Graph {
/// #     nodes: vec![Node::named("write"), Node::named("publish")].into(),
/// #     edges: vec![
/// #         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) },
/// #         Edge { from: Source::Node(NodeIdx::new(0)), via: Via::Plain, to: Target::Node(NodeIdx::new(1)) },
/// #         Edge { from: Source::Node(NodeIdx::new(1)), via: Via::Plain, to: Target::End },
/// #     ]
/// #     .into(),
/// #     joins: 0,
/// # };
/// let metrics = topology(&graph).metrics;
/// assert_eq!((metrics.nodes, metrics.edges, metrics.depth), (2, 3, 2));
/// assert_eq!(metrics.cyclomatic, 3, "as edges, those from START and to END count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of edges, with those from START and to END.
    pub edges: usize,
    /// Cyclomatic complexity: edges − nodes + 2.
    pub cyclomatic: isize,
    /// The average number of edges to a node.
    pub average_fan_in: f64,
    /// The average number of edges from a node, with those to END.
    pub average_fan_out: f64,
    /// The maximum number of edges to one node.
    pub max_fan_in: usize,
    /// The maximum number of edges from one node.
    pub max_fan_out: usize,
    /// The number of edges from START to the node that is farthest from it, by shortest paths.
    pub depth: usize,
}

/// The topology of a graph.
///
/// ```
/// # use petalflow_graph::{Edge, Graph, Node, NodeIdx, Role, Source, Target, Via, topology};
/// let graph = Graph {
///     nodes: vec![Node::named("write")].into(),
///     edges: vec![Edge { from: Source::Start, via: Via::Plain, to: Target::Node(NodeIdx::new(0)) }].into(),
///     joins: 0,
/// };
/// let topology = topology(&graph);
/// assert_eq!(topology.nodes[0].role, Role::Terminal);
/// assert_eq!(topology.metrics.cyclomatic, 3);
/// ```
pub fn topology(graph: &Graph) -> Topology {
    let pairs = pairs(graph);
    let count = graph.nodes.len();
    let (mut fan_in, mut fan_out) = (vec![0; count], vec![0; count]);
    let (mut is_entry, mut is_exit) = (vec![false; count], vec![false; count]);
    for &(from, to) in &pairs {
        if let Vertex::Node(to) = to {
            fan_in[to.index()] += 1;
            is_entry[to.index()] |= from == Vertex::Start;
        }
        if let Vertex::Node(from) = from {
            fan_out[from.index()] += 1;
            is_exit[from.index()] |= to == Vertex::End;
        }
    }
    let nodes = graph.nodes().iter().enumerate();
    let nodes = nodes.map(|(i, node)| NodeInfo {
        name: node.name.to_string(),
        role: match () {
            () if is_exit[i] => Role::Terminal,
            () if is_entry[i] => Role::Entry,
            () => Role::Standard,
        },
        incoming: fan_in[i],
        outgoing: fan_out[i],
        before: node.before,
        after: node.after,
    });
    let mut nodes: Vec<NodeInfo> = nodes.collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let name = |vertex: Vertex| match vertex {
        Vertex::Start => "START".to_owned(),
        Vertex::Node(node) => graph.node(node).name.to_string(),
        Vertex::End => "END".to_owned(),
    };
    let edges = pairs.iter().map(|&(from, to)| (name(from), name(to)));
    let mut edges: Vec<(String, String)> = edges.collect();
    edges.sort_unstable();
    let sorted = |marked: &[bool]| {
        let nodes = graph
            .nodes()
            .iter()
            .zip(marked)
            .filter(|(_, marked)| **marked);
        let mut names: Vec<String> = nodes.map(|(node, _)| node.name.to_string()).collect();
        names.sort_unstable();
        names
    };
    Topology {
        nodes,
        edges,
        entries: sorted(&is_entry),
        exits: sorted(&is_exit),
        metrics: metrics(&fan_in, &fan_out, &pairs),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Vertex {
    Start,
    Node(NodeIdx),
    End,
}

/// The pairs of vertices with an edge, each pair once.
fn pairs(graph: &Graph) -> Vec<(Vertex, Vertex)> {
    let mut after_joins = vec![Vec::new(); graph.joins as usize];
    for edge in &*graph.edges {
        if let Source::Join(join) = edge.from {
            after_joins[join.index()].push(edge.to);
        }
    }
    let mut pairs = Vec::new();
    for edge in &edges(graph) {
        let from = match edge.from {
            Source::Start => Vertex::Start,
            Source::Node(node) => Vertex::Node(node),
            // The search continues from the sides of a join.
            Source::Join(_) => continue,
        };
        let (mut queue, mut passed) = (vec![edge.to], vec![edge.to]);
        while let Some(to) = queue.pop() {
            match to {
                Target::Node(node) => pairs.push((from, Vertex::Node(node))),
                Target::End => pairs.push((from, Vertex::End)),
                Target::Join(join) => {
                    for to in &after_joins[join.index()] {
                        if !passed.contains(to) {
                            passed.push(*to);
                            queue.push(*to);
                        }
                    }
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn metrics(fan_in: &[usize], fan_out: &[usize], pairs: &[(Vertex, Vertex)]) -> Metrics {
    let nodes = fan_in.len();
    let edges = pairs.len();
    let per_node = |sum: usize| {
        if nodes == 0 {
            0.0
        } else {
            as_f64(sum) / as_f64(nodes)
        }
    };
    Metrics {
        nodes,
        edges,
        cyclomatic: edges.cast_signed() - nodes.cast_signed() + 2,
        average_fan_in: per_node(fan_in.iter().sum()),
        average_fan_out: per_node(fan_out.iter().sum()),
        max_fan_in: fan_in.iter().copied().max().unwrap_or(0),
        max_fan_out: fan_out.iter().copied().max().unwrap_or(0),
        depth: depth(nodes, pairs),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "graphs have far fewer than 2^52 edges"
)]
fn as_f64(count: usize) -> f64 {
    count as f64
}

fn depth(nodes: usize, pairs: &[(Vertex, Vertex)]) -> usize {
    let mut next = vec![Vec::new(); nodes];
    let mut level: Vec<NodeIdx> = Vec::new();
    for &(from, to) in pairs {
        match (from, to) {
            (Vertex::Start, Vertex::Node(to)) => level.push(to),
            (Vertex::Node(from), Vertex::Node(to)) => next[from.index()].push(to),
            _ => {}
        }
    }
    let mut seen = vec![false; nodes];
    let mut depth = 0;
    loop {
        level.retain(|&node| !std::mem::replace(&mut seen[node.index()], true));
        if level.is_empty() {
            return depth;
        }
        depth += 1;
        level = level
            .iter()
            .flat_map(|&node| next[node.index()].iter().copied())
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::{Role, topology};
    use crate::testing::{end, graph, join, node, plain, route, side, start};

    fn diamond() -> crate::Graph {
        graph(
            "pick b a last",
            vec![
                start(0),
                route(0, "A", node(2)),
                route(0, "B", node(1)),
                plain(1, node(3)),
                plain(2, node(3)),
                plain(2, end()),
            ],
        )
    }

    #[test]
    fn g079_nodes_are_sorted_and_terminal_wins() {
        let topology = topology(&diamond());
        let nodes: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| (&*node.name, node.role, node.incoming, node.outgoing))
            .collect();
        assert_eq!(
            nodes,
            [
                ("a", Role::Terminal, 1, 2),
                ("b", Role::Standard, 1, 1),
                ("last", Role::Terminal, 2, 1),
                ("pick", Role::Entry, 1, 2)
            ]
        );
        let single = super::topology(&graph("a", vec![start(0)]));
        assert_eq!(
            (single.nodes[0].role, single.nodes[0].incoming),
            (Role::Terminal, 1)
        );
    }

    #[test]
    fn g080_edges_with_entries_and_sorted_exits() {
        let topology = topology(&diamond());
        assert_eq!(topology.edges[0], ("START".to_owned(), "pick".to_owned()));
        assert!(
            topology
                .edges
                .contains(&("last".to_owned(), "END".to_owned()))
        );
        assert_eq!(topology.exits, ["a", "last"]);
    }

    #[test]
    fn g081_metrics() {
        let metrics = topology(&diamond()).metrics;
        assert_eq!(
            (
                metrics.nodes,
                metrics.edges,
                metrics.cyclomatic,
                metrics.depth
            ),
            (4, 7, 5, 3)
        );
        assert!(
            (metrics.average_fan_in - 5.0 / 4.0).abs() < 1e-9
                && (metrics.average_fan_out - 6.0 / 4.0).abs() < 1e-9
        );
        assert_eq!((metrics.max_fan_in, metrics.max_fan_out), (2, 2));
    }

    #[test]
    fn g080_a_join_leads_from_its_sides_to_its_targets() {
        let topology = topology(&graph(
            "a b c",
            vec![
                start(0),
                start(1),
                plain(0, side(0)),
                plain(1, side(0)),
                join(0, node(2)),
            ],
        ));
        assert!(
            topology.edges.contains(&("a".to_owned(), "c".to_owned()))
                && topology.edges.contains(&("b".to_owned(), "c".to_owned()))
        );
    }
}
