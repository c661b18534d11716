//! Short functions for graphs in tests.

use crate::graph::{Edge, Graph, Node, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};

pub(crate) fn graph(names: &str, edges: Vec<Edge>) -> Graph {
    let joins = edges
        .iter()
        .filter_map(|edge| {
            if let Target::Join(join) = edge.to {
                Some(join.as_u32() + 1)
            } else {
                None
            }
        })
        .max();
    Graph {
        nodes: names
            .split_whitespace()
            .map(|name| Node::named(name.to_owned()))
            .collect(),
        edges: edges.into(),
        joins: joins.unwrap_or(0),
    }
}

pub(crate) fn node(node: u32) -> Target {
    Target::Node(NodeIdx::new(node))
}

pub(crate) fn side(join: u32) -> Target {
    Target::Join(JoinIdx::new(join))
}

pub(crate) fn end() -> Target {
    Target::End
}

pub(crate) fn start(to: u32) -> Edge {
    Edge {
        from: Source::Start,
        via: Via::Plain,
        to: node(to),
    }
}

pub(crate) fn plain(from: u32, to: Target) -> Edge {
    Edge {
        from: Source::Node(NodeIdx::new(from)),
        via: Via::Plain,
        to,
    }
}

pub(crate) fn each(from: u32, to: u32) -> Edge {
    Edge {
        from: Source::Node(NodeIdx::new(from)),
        via: Via::Each,
        to: node(to),
    }
}

pub(crate) fn route(from: u32, name: &'static str, to: Target) -> Edge {
    Edge {
        from: Source::Node(NodeIdx::new(from)),
        via: Via::Route(name.into()),
        to,
    }
}

pub(crate) fn catch(from: u32, to: u32) -> Edge {
    Edge {
        from: Source::Node(NodeIdx::new(from)),
        via: Via::Catch,
        to: node(to),
    }
}

pub(crate) fn join(from: u32, to: Target) -> Edge {
    Edge {
        from: Source::Join(JoinIdx::new(from)),
        via: Via::Plain,
        to,
    }
}
