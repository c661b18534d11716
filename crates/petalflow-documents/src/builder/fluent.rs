//! The fluent form of a graph.

use super::error::{BuildErrors, GraphError};
use super::graph::EnvelopeGraph;
use crate::NodeKind;
use crate::kinds::EnvelopeNode;
use crate::run::flow::EnvelopeFlow;

/// Builds an [`EnvelopeGraph`] node by node. It has current nodes, from which the next edges begin. Mistakes are collected,
/// and [`build`](Self::build) returns all of them.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::{NoopNode, RuleRouter, RuleRouterConfig};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: RuleRouterConfig = serde_json::from_value(json!({
///     "rules": [{ "target": "bill", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }] }],
///     "default_target": "help",
/// }))?;
/// let flow = EnvelopeBuilder::new("triage")
///     .add_node("read", NoopNode)
///     .conditional("triage", RuleRouter::new(config), [("bill", NoopNode), ("help", NoopNode)])
///     .edge("answer", NoopNode)
///     .build()?;
/// let envelope = flow.run(Envelope::new().with_var("topic", "money")).await?;
/// assert_eq!(envelope.get_var_nested("triage_decision.targets").unwrap(), &json!(["bill"]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct EnvelopeBuilder {
    graph: EnvelopeGraph,
    current: Vec<usize>,
    errors: Vec<GraphError>,
}

impl EnvelopeBuilder {
    /// Creates a builder for a graph of this name.
    pub fn new(name: impl Into<String>) -> Self {
        EnvelopeBuilder {
            graph: EnvelopeGraph::new(name),
            current: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Adds a node without an edge, and continues from it. The first node is the entry.
    pub fn add_node(mut self, id: impl Into<String>, node: impl EnvelopeNode) -> Self {
        self.current = self.insert(id.into(), node).into_iter().collect();
        self
    }

    /// Sets the entry, which is otherwise the first node.
    pub fn entry(mut self, id: &str) -> Self {
        let set = self.graph.set_entry(id);
        self.errors.extend(set.err());
        self
    }

    /// Adds a node with an edge from each current node, and continues from it.
    pub fn edge(mut self, id: impl Into<String>, node: impl EnvelopeNode) -> Self {
        let node = self.insert(id.into(), node);
        self.connect_current("edge", node);
        self
    }

    /// Adds an edge from each current node to a node that exists, and continues from it.
    pub fn edge_to(mut self, id: &str) -> Self {
        let node = self.find(id, "edge_to");
        self.connect_current("edge_to", node);
        self
    }

    /// Adds an edge between two nodes that exist. The current nodes stay.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let graph = EnvelopeBuilder::new("retry")
    ///     .add_node("write", NoopNode)
    ///     .edge("check", NoopNode)
    ///     .connect("check", "write")
    ///     .into_graph()?;
    /// assert_eq!(graph.successors("check"), ["write"]);
    /// # Ok::<(), petalflow_documents::builder::BuildErrors>(())
    /// ```
    pub fn connect(mut self, from: &str, to: &str) -> Self {
        let added = self.graph.add_edge(from, to);
        self.errors.extend(added.err());
        self
    }

    /// Adds nodes with an edge from each current node to each of them, and continues from all of them.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let graph = EnvelopeBuilder::new("fork")
    ///     .add_node("start", NoopNode)
    ///     .fan_out([("left", NoopNode), ("right", NoopNode)])
    ///     .edge("last", NoopNode)
    ///     .into_graph()?;
    /// assert_eq!(graph.successors("start"), ["left", "right"]);
    /// assert_eq!(graph.predecessors("last"), ["left", "right"]);
    /// # Ok::<(), petalflow_documents::builder::BuildErrors>(())
    /// ```
    pub fn fan_out<I, N>(self, nodes: impl IntoIterator<Item = (I, N)>) -> Self
    where
        I: Into<String>,
        N: EnvelopeNode,
    {
        let branches = nodes.into_iter().map(|node| [node]);
        self.fork("fan_out", branches)
    }

    /// Adds branches, each with nodes that follow each other, and continues from the last node of each.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let flow = EnvelopeBuilder::new("branches")
    ///     .add_node("start", NoopNode)
    ///     .fan_out_branches([vec![("a", NoopNode), ("b", NoopNode)], vec![("c", NoopNode)]])
    ///     .edge("last", NoopNode)
    ///     .build()?;
    /// # Ok::<(), petalflow_documents::builder::BuildErrors>(())
    /// ```
    pub fn fan_out_branches<I, N, B>(self, branches: impl IntoIterator<Item = B>) -> Self
    where
        I: Into<String>,
        N: EnvelopeNode,
        B: IntoIterator<Item = (I, N)>,
    {
        self.fork("fan_out_branches", branches)
    }

    fn fork<I, N, B>(
        mut self,
        operation: &'static str,
        branches: impl IntoIterator<Item = B>,
    ) -> Self
    where
        I: Into<String>,
        N: EnvelopeNode,
        B: IntoIterator<Item = (I, N)>,
    {
        if self.current.is_empty() {
            self.errors.push(GraphError::NoCurrent { operation });
        }
        let (from, mut ends) = (self.current.clone(), Vec::new());
        let mut is_empty = true;
        for branch in branches {
            self.current.clone_from(&from);
            for (id, node) in branch {
                is_empty = false;
                let node = self.insert(id.into(), node);
                self.add_edges_from_current(node);
            }
            ends.extend(self.current.iter().filter(|node| !from.contains(node)));
        }
        if is_empty {
            self.errors.push(GraphError::NoNodes { operation });
        }
        self.current = ends;
        self
    }

    /// Adds a merge with an edge from each current node, and continues from it. It waits for each edge that can still fire, so
    /// it needs no number of inputs.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{MergeConfig, MergeNode, NoopNode};
    ///
    /// let graph = EnvelopeBuilder::new("diamond")
    ///     .add_node("start", NoopNode)
    ///     .fan_out([("left", NoopNode), ("right", NoopNode)])
    ///     .merge("join", MergeNode::new(MergeConfig::default()))
    ///     .into_graph()?;
    /// assert_eq!(graph.predecessors("join"), ["left", "right"]);
    /// # Ok::<(), petalflow_documents::builder::BuildErrors>(())
    /// ```
    pub fn merge(mut self, id: impl Into<String>, node: impl EnvelopeNode) -> Self {
        let node = self.insert(id.into(), node);
        self.connect_current("merge", node);
        self
    }

    /// Adds an edge from each current node to a merge that exists, and continues from it.
    pub fn merge_to(mut self, id: &str) -> Self {
        let node = self.find(id, "merge_to");
        if let Some(node) = node {
            let kind = self.graph.nodes[node].node.kind();
            if kind != NodeKind::Merge {
                let id = id.to_owned();
                self.errors.push(GraphError::NotMerge { id, kind });
                return self;
            }
        }
        self.connect_current("merge_to", node);
        self
    }

    /// Continues from this node.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let graph = EnvelopeBuilder::new("two paths")
    ///     .add_node("start", NoopNode)
    ///     .edge("left", NoopNode)
    ///     .terminal()
    ///     .branch("start")
    ///     .edge("right", NoopNode)
    ///     .into_graph()?;
    /// assert_eq!(graph.successors("start"), ["left", "right"]);
    /// # Ok::<(), petalflow_documents::builder::BuildErrors>(())
    /// ```
    pub fn branch(self, id: &str) -> Self {
        self.branches([id])
    }

    /// Continues from these nodes.
    pub fn branches<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids = ids.into_iter();
        self.current = ids.filter_map(|id| self.find(id, "branch")).collect();
        self
    }

    /// Adds a router with an edge from each current node, and its targets with an edge from the router, and continues from the
    /// targets.
    pub fn conditional<I, N>(
        self,
        id: impl Into<String>,
        router: impl EnvelopeNode,
        targets: impl IntoIterator<Item = (I, N)>,
    ) -> Self
    where
        I: Into<String>,
        N: EnvelopeNode,
    {
        let targets = targets.into_iter().map(|target| [target]);
        self.edge(id, router).fork("conditional", targets)
    }

    /// Ends the current paths. The next operation is [`add_node`](Self::add_node) or [`branch`](Self::branch).
    pub fn terminal(mut self) -> Self {
        self.current.clear();
        self
    }

    /// Returns the graph.
    ///
    /// # Errors
    ///
    /// The mistakes so far.
    pub fn into_graph(self) -> Result<EnvelopeGraph, BuildErrors> {
        if self.errors.is_empty() {
            return Ok(self.graph);
        }
        Err(BuildErrors {
            graph: self.graph.name,
            errors: self.errors,
        })
    }

    /// Checks the graph and makes it ready to run.
    ///
    /// # Errors
    ///
    /// All mistakes.
    pub fn build(self) -> Result<EnvelopeFlow, BuildErrors> {
        self.into_graph()?.build()
    }

    /// [`build`](Self::build), for graphs that are written in the program.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    ///
    /// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).must_build();
    /// assert!(flow.trigger().is_none());
    /// ```
    ///
    /// # Panics
    ///
    /// If there is a mistake.
    pub fn must_build(self) -> EnvelopeFlow {
        self.build().unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// Adds a node. The first is the entry.
    fn insert(&mut self, id: String, node: impl EnvelopeNode) -> Option<usize> {
        if let Err(error) = self.graph.add_node(id, node) {
            self.errors.push(error);
            return None;
        }
        self.graph.entry.get_or_insert(0);
        Some(self.graph.nodes.len() - 1)
    }

    fn find(&mut self, id: &str, by: &'static str) -> Option<usize> {
        let node = self.graph.require(id, by);
        node.map_err(|error| self.errors.push(error)).ok()
    }

    fn connect_current(&mut self, operation: &'static str, node: Option<usize>) {
        if self.current.is_empty() && self.graph.nodes.len() > 1 {
            self.errors.push(GraphError::NoCurrent { operation });
        }
        self.add_edges_from_current(node);
    }

    /// Adds edges from the current nodes, and continues from the node. After a mistake it continues as before.
    fn add_edges_from_current(&mut self, node: Option<usize>) {
        let Some(node) = node else { return };
        let to = self.graph.id(node).to_owned();
        for from in std::mem::replace(&mut self.current, vec![node]) {
            let from = self.graph.id(from).to_owned();
            let added = self.graph.add_edge(&from, &to);
            self.errors.extend(added.err());
        }
    }
}
