//! The nodes that can run together, approximated by pairs of nodes, for graphs with too many states.

use super::Pairs;
use crate::analyses::superstep::Routes;
use crate::edges::{EdgesBySource, choose, routes};
use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::NodeIdx;
use crate::skips::has_merge;
use crate::sorted::sort;

/// An upper bound of the pairs, and the nodes that can run.
///
/// Two nodes can run together if one node activates both, or if two nodes that can run together activate one each. A join is
/// assumed to fire after each of its sides alone, which can only add pairs. The join of a merge can fire long after its sides,
/// beside any node: a graph with a merge has all pairs.
pub(crate) fn by_pairs(graph: &Graph, all_routes: Routes, several: &[bool]) -> (Pairs, Vec<bool>) {
    let follow = Follow::of(graph, all_routes, several);
    let mut pairs = Pairs::none(graph.nodes.len());
    let mut reached = vec![false; graph.nodes.len()];
    let (mut singles, mut doubles): (Vec<NodeIdx>, Vec<(NodeIdx, NodeIdx)>) =
        (Vec::new(), Vec::new());
    let add = |pairs: &mut Pairs, doubles: &mut Vec<(NodeIdx, NodeIdx)>, a: NodeIdx, b: NodeIdx| {
        // A deferred node runs only beside deferred nodes, which are paired below.
        let apart = graph.nodes[a.index()].deferred || graph.nodes[b.index()].deferred;
        if a != b && !apart && pairs.insert(a, b) {
            doubles.push((a, b));
        }
    };
    singles.extend_from_slice(&follow.start.all);
    for &(a, b) in &follow.start.together {
        add(&mut pairs, &mut doubles, a, b);
    }
    let mut deferred = Vec::new();
    loop {
        if let Some(node) = singles.pop() {
            if std::mem::replace(&mut reached[node.index()], true) {
                continue;
            }
            let next = &follow.nodes[node.index()];
            singles.extend_from_slice(&next.all);
            for &(a, b) in &next.together {
                add(&mut pairs, &mut doubles, a, b);
            }
            if graph.nodes[node.index()].deferred {
                for &other in &deferred {
                    if pairs.insert(node, other) {
                        doubles.push((node, other));
                    }
                }
                deferred.push(node);
            }
        } else if let Some((a, b)) = doubles.pop() {
            for &x in &follow.nodes[a.index()].all {
                for &y in &follow.nodes[b.index()].all {
                    add(&mut pairs, &mut doubles, x, y);
                }
            }
        } else {
            break;
        }
    }
    if has_merge(graph) {
        pairs = Pairs::all(graph.nodes.len());
    } else {
        pairs.insert_repeated(graph, &reached, all_routes, &|_, _| true);
    }
    (pairs, reached)
}

/// The nodes that each node can activate, alone and together.
struct Follow {
    start: Next,
    nodes: Vec<Next>,
}

struct Next {
    all: Vec<NodeIdx>,
    together: Vec<(NodeIdx, NodeIdx)>,
}

impl Follow {
    fn of(graph: &Graph, all_routes: Routes, several: &[bool]) -> Self {
        let edges = EdgesBySource::of(graph);
        let mut follow = Follow {
            start: Next::after(&edges, Source::Start, false, false),
            nodes: Vec::new(),
        };
        for node in graph.node_indices() {
            let several = several[node.index()];
            let together = all_routes == Routes::Any || graph.node(node).many || several;
            let next = Next::after(&edges, Source::Node(node), together, several);
            follow.nodes.push(next);
        }
        follow
    }
}

impl Next {
    /// The activations of a source. `together` is whether it picks several routes, `several` whether several tasks of it can run in
    /// one superstep.
    fn after(edges: &EdgesBySource<'_>, source: Source, together: bool, several: bool) -> Self {
        let (mut choices, mut fixed, mut caught) = (Vec::new(), Vec::new(), Vec::new());
        for edge in edges.from(source) {
            match edge.via {
                Via::Plain | Via::Each => fixed.push(alternatives(edges, edge)),
                Via::Catch => caught.push(alternatives(edges, edge)),
                Via::Route(_) | Via::RouteEach(_) => {}
            }
        }
        for (_, route) in &routes(edges.from(source)) {
            if !together || choices.is_empty() {
                choices.push(Vec::new());
            }
            let choice = choices.len() - 1;
            for edge in route {
                choices[choice].push(alternatives(edges, edge));
            }
        }
        if choices.is_empty() {
            choices.push(Vec::new());
        }
        for choice in &mut choices {
            choice.extend_from_slice(&fixed);
            if several {
                // Some tasks fail and others do not.
                choice.extend_from_slice(&caught);
            }
        }
        choices.push(caught);
        Next::of(&choices)
    }

    /// The activations of edges that fire together. Each edge takes one of its alternatives.
    fn of(choices: &[Vec<Alternatives>]) -> Self {
        let mut next = Next {
            all: Vec::new(),
            together: Vec::new(),
        };
        for edges in choices {
            for (i, alternatives) in edges.iter().enumerate() {
                let mut others = Vec::new();
                for alternatives in &edges[i + 1..] {
                    for nodes in alternatives {
                        others.extend_from_slice(nodes);
                    }
                }
                for nodes in alternatives {
                    next.all.extend_from_slice(nodes);
                    for a in nodes {
                        next.pair(*a, nodes);
                        next.pair(*a, &others);
                    }
                }
            }
        }
        sort(&mut next.all);
        next.all.dedup();
        next
    }

    fn pair(&mut self, node: NodeIdx, others: &[NodeIdx]) {
        for other in others {
            if node != *other {
                self.together.push((node, *other));
            }
        }
    }
}

/// The alternatives of one edge, each with the nodes that it activates.
type Alternatives = Vec<Vec<NodeIdx>>;

fn alternatives(edges: &EdgesBySource<'_>, edge: &Edge) -> Alternatives {
    let mut alternatives = Vec::new();
    if let Target::Node(node) = edge.to {
        alternatives.push(vec![node]);
        if edge.via.is_each() {
            alternatives.push(Vec::new());
            pass_empty_list(edges, node, &mut alternatives[1]);
        }
    } else {
        alternatives.push(Vec::new());
        pass_join(edges, edge.to, &mut alternatives[0], &mut vec![edge.to]);
    }
    alternatives
}

/// Adds the activations that replace this node if it is sent an empty list.
fn pass_empty_list(edges: &EdgesBySource<'_>, node: NodeIdx, nodes: &mut Vec<NodeIdx>) {
    let mut empty = vec![node];
    let mut next = 0;
    while let Some(&node) = empty.get(next) {
        next += 1;
        let out = &edges.nodes[node.index()];
        if choose(out) {
            continue;
        }
        for edge in out {
            match edge.to {
                _ if edge.via == Via::Catch => {}
                Target::Node(to) if edge.via == Via::Each => {
                    if !empty.contains(&to) {
                        empty.push(to);
                    }
                }
                to => pass_join(edges, to, nodes, &mut vec![to]),
            }
        }
    }
}

fn pass_join(
    edges: &EdgesBySource<'_>,
    to: Target,
    nodes: &mut Vec<NodeIdx>,
    passed: &mut Vec<Target>,
) {
    match to {
        Target::Node(node) => nodes.push(node),
        Target::End => {}
        Target::Join(join) => {
            for edge in &edges.joins[join.index()] {
                if !matches!(edge.to, Target::Join(_)) {
                    pass_join(edges, edge.to, nodes, passed);
                } else if !passed.contains(&edge.to) {
                    passed.push(edge.to);
                    pass_join(edges, edge.to, nodes, passed);
                }
            }
        }
    }
}
