//! Collecting a graph, by name.

use std::future::Future;

use super::gate::{BoxGuard, NamedGate, boxed};
use super::node::Entry;
use super::wire::wire;
use super::{Graph, GraphErrors};
use crate::flow::Guard;
use crate::node::{Context, Node, Output, Policy};
use crate::{Flow, State};

/// Collects the nodes and edges of a [`Graph`]. Nodes may be named before they are added; [`build`](Self::build) checks all.
///
/// The order in which nodes are added is the order in which their writes fold.
#[must_use = "a builder does nothing before `build`"]
pub struct GraphBuilder<S: State> {
    pub(super) name: String,
    pub(super) nodes: Vec<Entry<S>>,
    pub(super) edges: Vec<Named>,
    pub(super) joins: Vec<(Vec<String>, String)>,
    pub(super) deferred: Vec<String>,
    pub(super) policies: Vec<(String, Policy)>,
    pub(super) gates: Vec<NamedGate<S>>,
    pub(super) kept: Vec<String>,
    pub(super) ids: Vec<(String, String)>,
}

/// An edge between names.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) from: String,
    pub(super) via: Way,
    pub(super) to: String,
}

/// What makes an edge fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Plain,
    Each,
    Route(String),
    RouteEach(String),
    Catch,
}

impl<S: State> std::fmt::Debug for GraphBuilder<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        f.debug_struct("GraphBuilder")
            .field("name", &self.name)
            .field("nodes", &nodes)
            .field("edges", &self.edges)
            .finish_non_exhaustive()
    }
}

impl<S: State> GraphBuilder<S> {
    pub(super) fn new(name: String) -> Self {
        GraphBuilder {
            name,
            nodes: Vec::new(),
            edges: Vec::new(),
            joins: Vec::new(),
            deferred: Vec::new(),
            policies: Vec::new(),
            gates: Vec::new(),
            kept: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Adds an annotated function (`write {}`) or a node value under its own name.
    pub fn node<N: Node<S>>(self, node: N) -> Self {
        self.node_as(N::NAME, node)
    }

    /// Adds an annotated function or a node value under another name.
    pub fn node_as<N: Node<S>>(mut self, name: impl Into<String>, node: N) -> Self {
        self.nodes.push(Entry::node(name.into(), node));
        self
    }

    /// Adds a closure as a node. It sees the whole state, so it is not held to "read before written"; what it needs after
    /// its first await it clones.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Count {
    ///     #[key(sum)]
    ///     n: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Count>::builder("count").node_fn("add", |count: &Count, _| {
    ///     let n = count.n;
    ///     async move { CountN(n + 1) }
    /// });
    /// let graph = graph.edge(START, "add").build()?;
    /// assert_eq!(graph.run(()).await?.n, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn node_fn<F, R, O>(mut self, name: impl Into<String>, node: F) -> Self
    where
        F: Fn(&S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Output<S>,
    {
        self.nodes.push(Entry::closure(name.into(), node));
        self
    }

    /// Adds a flow as a node: `input` makes its input from this graph's state, `out` says what of its final state crosses.
    /// It runs all its supersteps inside one superstep of this graph.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Review {
    ///     #[key(input)]
    ///     text: String,
    ///     words: usize,
    /// }
    ///
    /// #[node(Review)]
    /// async fn count(text: &str) -> ReviewWords {
    ///     ReviewWords(text.split_whitespace().count())
    /// }
    ///
    /// flow!(CheckText(Review) { count });
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     draft: String,
    ///     length: usize,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Essay>::builder("essay")
    ///     .subflow("review", CheckText::default(), |essay: &Essay| essay.draft.clone().into(), |review| EssayLength(review.words))
    ///     .edge(START, "review")
    ///     .build()?;
    /// assert_eq!(graph.run("two words".to_string()).await?.length, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subflow<C, I, M, O>(mut self, name: impl Into<String>, flow: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        self.nodes
            .push(Entry::subflow(name.into(), flow, input, out));
        self
    }

    /// Adds an edge: `from` may be [`START`](super::START), `to` may be [`END`](super::END). A node without edges ends its
    /// path.
    pub fn edge(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Plain, to)
    }

    /// Adds a join: `to` runs once, after all of `from`.
    pub fn join<N: Into<String>>(
        mut self,
        from: impl IntoIterator<Item = N>,
        to: impl Into<String>,
    ) -> Self {
        self.joins
            .push((from.into_iter().map(Into::into).collect(), to.into()));
        self
    }

    /// Adds an edge that fires when `from` chooses `route`. A second edge for the same route makes a fork.
    pub fn route(
        self,
        from: impl Into<String>,
        route: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        self.push(from, Way::Route(route.into()), to)
    }

    /// Adds an edge along which `from` sends items: one run of `to` for each.
    pub fn each(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Each, to)
    }

    /// Adds an edge for a route that carries a list: one run of `to` for each item.
    pub fn route_each(
        self,
        from: impl Into<String>,
        route: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        self.push(from, Way::RouteEach(route.into()), to)
    }

    /// Says where to go when `from` has failed for good; `to` takes the [`NodeError`](crate::NodeError) as its item.
    pub fn catch(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Catch, to)
    }

    /// Lets a node wait until nothing else is active.
    pub fn defer(mut self, node: impl Into<String>) -> Self {
        self.deferred.push(node.into());
        self
    }

    /// Sets retries and timeouts of a node; they win over what its annotation says.
    pub fn with(mut self, node: impl Into<String>, policy: Policy) -> Self {
        self.policies.push((node.into(), policy));
        self
    }

    /// Keeps the state of a sub-flow as long as the thread lives; without it the state is fresh each time.
    pub fn keep_thread(mut self, subflow: impl Into<String>) -> Self {
        self.kept.push(subflow.into());
        self
    }

    /// Says under which name a node is known in stored checkpoints, where that is not its name: a node that was renamed goes
    /// on in the threads that were stored before.
    pub fn id(mut self, node: impl Into<String>, id: impl Into<String>) -> Self {
        self.ids.push((node.into(), id.into()));
        self
    }

    /// Stops the run for a person before the node.
    pub fn interrupt_before(self, node: impl Into<String>) -> Self {
        self.interrupt(node, false, None)
    }

    /// Stops the run for a person after the node.
    pub fn interrupt_after(self, node: impl Into<String>) -> Self {
        self.interrupt(node, true, None)
    }

    /// Stops the run for a person before the node, where the guard says so. It sees the whole state, so it is not held to
    /// "read before written".
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str) -> EssayDraft {
    ///     EssayDraft(topic.into())
    /// }
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Essay>::builder("essay")
    ///     .node(write {})
    ///     .interrupt_before_if("write", |essay: &Essay| essay.topic.contains("secret"))
    ///     .edge(START, "write")
    ///     .build()?;
    /// assert!(graph.mermaid().contains("⏸ write"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt_before_if<F, G>(self, node: impl Into<String>, guard: F) -> Self
    where
        F: Fn(&S) -> G + Send + Sync + 'static,
        G: Guard,
    {
        self.interrupt(node, false, Some(boxed(guard)))
    }

    /// Stops the run for a person after the node, where the guard says so.
    pub fn interrupt_after_if<F, G>(self, node: impl Into<String>, guard: F) -> Self
    where
        F: Fn(&S) -> G + Send + Sync + 'static,
        G: Guard,
    {
        self.interrupt(node, true, Some(boxed(guard)))
    }

    /// Checks the graph and makes it ready to run.
    ///
    /// # Errors
    ///
    /// All mistakes at once, with the codes and the words of `flow!`.
    pub fn build(self) -> Result<Graph<S>, GraphErrors> {
        wire(self)
    }

    fn interrupt(
        mut self,
        node: impl Into<String>,
        after: bool,
        guard: Option<BoxGuard<S>>,
    ) -> Self {
        self.gates.push(NamedGate {
            node: node.into(),
            after,
            guard,
        });
        self
    }

    fn push(mut self, from: impl Into<String>, via: Way, to: impl Into<String>) -> Self {
        self.edges.push(Named {
            from: from.into(),
            via,
            to: to.into(),
        });
        self
    }
}
