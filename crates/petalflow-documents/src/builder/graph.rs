//! A graph of nodes over an envelope.

use std::collections::HashMap;

use super::error::{EdgeEnd, GraphError};
use crate::NodeKind;
use crate::kinds::{AnyNode, EnvelopeNode};

/// A graph of nodes over an envelope, before it is built. See the [module](super) for how it runs.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::builder::EnvelopeGraph;
/// use petalflow_documents::kinds::NoopNode;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mut graph = EnvelopeGraph::new("pair");
/// graph.add_node("first", NoopNode)?;
/// graph.add_node("second", NoopNode)?;
/// graph.add_edge("first", "second")?;
/// graph.set_entry("first")?;
/// assert_eq!(graph.topological_order(false)?, ["first", "second"]);
/// graph.build()?.run(Envelope::new()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EnvelopeGraph {
    pub(super) name: String,
    pub(super) nodes: Vec<Entry>,
    index: HashMap<String, usize>,
    pub(super) entry: Option<usize>,
}

/// A node and its edges.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) node: AnyNode,
    pub(super) next: Vec<Edge>,
    pub(super) previous: Vec<usize>,
    /// It runs once, after all of its edges that can still fire.
    pub(super) waits: bool,
}

/// An edge to a node. It fires if a router chooses the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) target: Option<String>,
}

impl EnvelopeGraph {
    /// Creates an empty graph.
    pub fn new(name: impl Into<String>) -> Self {
        EnvelopeGraph {
            name: name.into(),
            nodes: Vec::new(),
            index: HashMap::new(),
            entry: None,
        }
    }

    /// Adds a node.
    ///
    /// # Errors
    ///
    /// [`GraphError::DuplicateNode`].
    pub fn add_node(
        &mut self,
        id: impl Into<String>,
        node: impl EnvelopeNode,
    ) -> Result<(), GraphError> {
        let id = id.into();
        if self.index.contains_key(&id) {
            return Err(GraphError::DuplicateNode { id });
        }
        self.index.insert(id.clone(), self.nodes.len());
        self.nodes.push(Entry {
            id,
            node: AnyNode::new(node),
            next: Vec::new(),
            previous: Vec::new(),
            waits: false,
        });
        Ok(())
    }

    /// Adds an edge. If `from` is a router, the edge fires if the router chooses the target `to`. Adding an edge again
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// [`GraphError::InvalidEdge`].
    pub fn add_edge(&mut self, from: &str, to: &str) -> Result<(), GraphError> {
        self.connect(from, None, to)
    }

    /// Adds an edge that fires if the router `from` chooses `target`, which is not the id of a node. Adding an edge again
    /// changes nothing.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeGraph;
    /// use petalflow_documents::kinds::{NoopNode, RuleRouter, RuleRouterConfig};
    /// use serde_json::json;
    ///
    /// let config: RuleRouterConfig = serde_json::from_value(json!({
    ///     "rules": [{ "target": "money", "conditions": [{ "var_path": "topic", "op": "eq", "value": "bill" }] }],
    /// }))?;
    /// let mut graph = EnvelopeGraph::new("triage");
    /// graph.add_node("triage", RuleRouter::new(config))?;
    /// graph.add_node("billing", NoopNode)?;
    /// graph.add_edge_on("triage", "money", "billing")?;
    /// assert_eq!(graph.successors("triage"), ["billing"]);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::InvalidEdge`].
    pub fn add_edge_on(
        &mut self,
        from: &str,
        target: impl Into<String>,
        to: &str,
    ) -> Result<(), GraphError> {
        self.connect(from, Some(target.into()), to)
    }

    fn connect(&mut self, from: &str, target: Option<String>, to: &str) -> Result<(), GraphError> {
        let invalid = |end| GraphError::InvalidEdge {
            from: from.into(),
            to: to.into(),
            end,
        };
        let source = self.find(from).ok_or_else(|| invalid(EdgeEnd::From))?;
        let edge = Edge {
            to: self.find(to).ok_or_else(|| invalid(EdgeEnd::To))?,
            target,
        };
        if !self.nodes[source].next.contains(&edge) {
            let previous = &mut self.nodes[edge.to].previous;
            if !previous.contains(&source) {
                previous.push(source);
            }
            self.nodes[source].next.push(edge);
        }
        Ok(())
    }

    /// Makes a node wait: it runs once, after all of its edges that can still fire, as a merge does. Other nodes run in each
    /// superstep after one in which an edge to them fired.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeGraph;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let mut graph = EnvelopeGraph::new("diamond with a long side");
    /// for id in ["a", "b", "last"] {
    ///     graph.add_node(id, NoopNode)?;
    /// }
    /// for (from, to) in [("a", "b"), ("a", "last"), ("b", "last")] {
    ///     graph.add_edge(from, to)?;
    /// }
    /// graph.wait_at("last")?;
    /// graph.set_entry("a")?;
    /// let flow = graph.build()?;
    /// # let _ = flow;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::NodeNotFound`] if there is no such node.
    pub fn wait_at(&mut self, id: &str) -> Result<(), GraphError> {
        let node = self.require(id, "wait_at")?;
        self.nodes[node].waits = true;
        Ok(())
    }

    /// Sets the node that runs first.
    ///
    /// # Errors
    ///
    /// [`GraphError::NodeNotFound`].
    pub fn set_entry(&mut self, id: &str) -> Result<(), GraphError> {
        self.entry = Some(self.require(id, "set_entry")?);
        Ok(())
    }

    /// The node that runs first.
    pub fn entry(&self) -> Option<&str> {
        self.entry.map(|entry| self.id(entry))
    }

    /// The nodes and their kinds, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, NodeKind)> {
        let nodes = self.nodes.iter();
        nodes.map(|entry| (entry.id.as_str(), entry.node.kind()))
    }

    /// The nodes to which edges of this node lead, in the order of the edges.
    pub fn successors(&self, id: &str) -> Vec<&str> {
        let edges = self.find(id).map_or(&[][..], |node| &self.nodes[node].next);
        let mut ids: Vec<&str> = Vec::with_capacity(edges.len());
        for edge in edges {
            if !ids.contains(&self.id(edge.to)) {
                ids.push(self.id(edge.to));
            }
        }
        ids
    }

    /// The nodes from which edges lead to this node, in the order of the edges.
    pub fn predecessors(&self, id: &str) -> Vec<&str> {
        let previous = self
            .find(id)
            .map_or(&[][..], |node| &self.nodes[node].previous);
        previous.iter().map(|node| self.id(*node)).collect()
    }

    /// Checks that there are nodes and an entry. Cycles and nodes that cannot be reached are allowed.
    ///
    /// ```
    /// use petalflow_documents::builder::{EnvelopeGraph, GraphError};
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let mut graph = EnvelopeGraph::new("one");
    /// assert_eq!(graph.validate(), Err(GraphError::EmptyGraph));
    /// graph.add_node("only", NoopNode)?;
    /// graph.set_entry("only")?;
    /// assert_eq!(graph.entry(), Some("only"));
    /// assert_eq!(graph.validate(), Ok(()));
    /// # Ok::<(), petalflow_documents::builder::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::EmptyGraph`] or [`GraphError::NoEntryNode`].
    pub fn validate(&self) -> Result<(), GraphError> {
        if self.nodes.is_empty() {
            return Err(GraphError::EmptyGraph);
        }
        self.entry.map(|_| ()).ok_or(GraphError::NoEntryNode)
    }

    /// The nodes in an order in which each comes after its predecessors. Among several, the one that was added first comes
    /// first. With `allow_cycles`, nodes in cycles and after them are left out.
    ///
    /// # Errors
    ///
    /// [`GraphError::CycleDetected`].
    pub fn topological_order(&self, allow_cycles: bool) -> Result<Vec<&str>, GraphError> {
        let mut missing: Vec<usize> = self.nodes.iter().map(|node| node.previous.len()).collect();
        let sources = (0..self.nodes.len()).filter(|node| missing[*node] == 0);
        let mut order: Vec<usize> = sources.collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for to in self.targets(node) {
                missing[to] -= 1;
                if missing[to] == 0 {
                    order.push(to);
                }
            }
        }
        if order.len() < self.nodes.len() && !allow_cycles {
            let nodes = (0..self.nodes.len()).filter(|node| missing[*node] > 0);
            return Err(GraphError::CycleDetected {
                nodes: nodes.map(|node| self.id(node).into()).collect(),
            });
        }
        Ok(order.into_iter().map(|node| self.id(node)).collect())
    }

    /// The nodes that can be reached from this one, which comes first. Each comes before the nodes that are reached from it.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeGraph;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let mut graph = EnvelopeGraph::new("chain");
    /// for id in ["read", "rank", "write"] {
    ///     graph.add_node(id, NoopNode)?;
    /// }
    /// graph.add_edge("read", "rank")?;
    /// graph.add_edge("rank", "write")?;
    /// assert_eq!(graph.reachable("rank"), ["rank", "write"]);
    /// assert_eq!(graph.successors("read"), ["rank"]);
    /// assert_eq!(graph.predecessors("write"), ["rank"]);
    /// # Ok::<(), petalflow_documents::builder::GraphError>(())
    /// ```
    pub fn reachable(&self, from: &str) -> Vec<&str> {
        let from = self.find(from);
        let nodes = from.map_or_else(Vec::new, |from| self.reached_from(from));
        nodes.into_iter().map(|node| self.id(node)).collect()
    }

    pub(super) fn reached_from(&self, from: usize) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let (mut nodes, mut stack) = (Vec::new(), vec![from]);
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                nodes.push(node);
                stack.extend(self.targets(node).into_iter().rev());
            }
        }
        nodes
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    pub(super) fn require(&self, id: &str, by: &'static str) -> Result<usize, GraphError> {
        let id = id.to_owned();
        self.find(&id).ok_or(GraphError::NodeNotFound { id, by })
    }

    pub(super) fn id(&self, node: usize) -> &str {
        &self.nodes[node].id
    }

    /// The successors, each once, in the order of the edges.
    pub(super) fn targets(&self, node: usize) -> Vec<usize> {
        let mut targets: Vec<usize> = Vec::with_capacity(self.nodes[node].next.len());
        for edge in &self.nodes[node].next {
            if !targets.contains(&edge.to) {
                targets.push(edge.to);
            }
        }
        targets
    }
}
