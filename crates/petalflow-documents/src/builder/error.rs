//! The mistakes in a graph.

use std::fmt;

use crate::NodeKind;
use petalflow::graph::Diagnostic;

/// A mistake in a graph.
///
/// ```
/// use petalflow_documents::builder::{EnvelopeGraph, GraphError};
/// use petalflow_documents::kinds::NoopNode;
///
/// let mut graph = EnvelopeGraph::new("twice");
/// graph.add_node("a", NoopNode)?;
/// let error = graph.add_node("a", NoopNode).unwrap_err();
/// assert_eq!(error, GraphError::DuplicateNode { id: "a".into() });
/// assert_eq!(error.to_string(), "there are two nodes `a`: rename one");
/// # Ok::<(), GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two nodes have the same id.
    #[error("there are two nodes `{id}`: rename one")]
    DuplicateNode {
        /// The id.
        id: String,
    },
    /// An edge begins or ends at a node that does not exist.
    #[error("the edge `{from} -> {to}` {end} at a node that does not exist: add the node first")]
    InvalidEdge {
        /// Where the edge begins.
        from: String,
        /// Where it ends.
        to: String,
        /// Which of its ends does not exist.
        end: EdgeEnd,
    },
    /// A node does not exist.
    #[error("`{by}` names node `{id}`, which does not exist: add the node first")]
    NodeNotFound {
        /// The id.
        id: String,
        /// What names it.
        by: &'static str,
    },
    /// The graph has no nodes.
    #[error("the graph has no nodes: add one")]
    EmptyGraph,
    /// The graph has no entry.
    #[error("the graph has no entry: call `set_entry`")]
    NoEntryNode,
    /// The nodes have no order, because some are in cycles.
    #[error(
        "the nodes have no order, because of a cycle through {}",
        quoted_names(nodes)
    )]
    CycleDetected {
        /// The nodes in cycles or after them, in the order in which they were added.
        nodes: Vec<String>,
    },
    /// A node that must be a merge is not one.
    #[error("`merge_to` names node `{id}`, which is a `{kind}` node: name a `merge` node")]
    NotMerge {
        /// The id.
        id: String,
        /// The kind of the node.
        kind: NodeKind,
    },
    /// An operation of the builder needs a current node, and there is none.
    #[error("`{operation}` has no node to continue from: call `add_node` or `branch` before it")]
    NoCurrent {
        /// The operation.
        operation: &'static str,
    },
    /// An operation of the builder got no nodes.
    #[error("`{operation}` got no nodes: add at least one")]
    NoNodes {
        /// The operation.
        operation: &'static str,
    },
    /// A router can choose a target to which it has no edge.
    #[error(
        "router `{id}` can choose `{target}`, to which it has no edge: add the edge or remove the target"
    )]
    UnknownTarget {
        /// The id of the router.
        id: String,
        /// The target.
        target: String,
    },
    /// A mistake that the rules of petalflow found.
    #[error("{0}")]
    Rule(Diagnostic),
}

/// An end of an edge.
///
/// ```
/// use petalflow_documents::builder::{EdgeEnd, EnvelopeGraph, GraphError};
/// use petalflow_documents::kinds::NoopNode;
///
/// let mut graph = EnvelopeGraph::new("one");
/// graph.add_node("only", NoopNode)?;
/// let error = graph.add_edge("only", "missing").unwrap_err();
/// assert!(matches!(error, GraphError::InvalidEdge { end: EdgeEnd::To, .. }));
/// # Ok::<(), petalflow_documents::builder::GraphError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeEnd {
    /// Its beginning.
    From,
    /// Its end.
    To,
}

impl fmt::Display for EdgeEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EdgeEnd::From => "begins",
            EdgeEnd::To => "ends",
        })
    }
}

fn quoted_names(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// All mistakes in a graph.
///
/// ```
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
///
/// let errors = EnvelopeBuilder::new("wrong").add_node("a", NoopNode).edge_to("b").branch("c").build().unwrap_err();
/// assert_eq!(errors.errors().len(), 2);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildErrors {
    pub(super) graph: String,
    pub(super) errors: Vec<GraphError>,
}

/// The message, which is what `main` prints if it returns the error.
impl fmt::Debug for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl BuildErrors {
    /// The mistakes, in the order in which they were made. Those that the rules of petalflow found come last.
    pub fn errors(&self) -> &[GraphError] {
        &self.errors
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built:", self.graph)?;
        let mut errors = self.errors.iter();
        errors.try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for BuildErrors {}
