//! Collecting a graph, by name.

use std::future::Future;

use super::gate::{BoxGuard, NamedGate, boxed};
use super::node::Entry;
use super::wire::wire;
use super::{Graph, GraphErrors};
use crate::flow::Guard;
use crate::node::{Context, Node, NodePolicy, Output, Policy, Retry};
use crate::{Flow, State};

/// Collects the nodes and edges of a [`Graph`]. Nodes may be named before they are added; [`build`](Self::build) checks all.
///
/// The order in which nodes are added is the order in which their writes fold.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// #[node(Essay)]
/// async fn research(topic: &str) -> EssayNotes {
///     EssayNotes(vec![format!("facts about {topic}")])
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let graph = Graph::<Essay>::builder("essay")
///     .edge(START, "research")
///     .edge(START, "again")
///     .join(["research", "again"], "sign")
///     .node(research {})
///     .node_as("again", research {})
///     .node_fn("sign", |_: &Essay, _| async { EssayNotes(vec!["signed".into()]) })
///     .build()?;
/// let essay = graph.run("petals".to_string()).await?;
/// assert_eq!(essay.notes, ["facts about petals", "facts about petals", "signed"]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing before `build`"]
pub struct GraphBuilder<S: State> {
    pub(super) name: String,
    pub(super) nodes: Vec<Entry<S>>,
    pub(super) edges: Vec<Named>,
    pub(super) joins: Vec<(Vec<String>, String)>,
    pub(super) deferred: Vec<String>,
    pub(super) policies: Vec<(String, NodePolicy)>,
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
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log").node(a {}).build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn node<N: Node<S>>(self, node: N) -> Self {
        self.node_as(N::NAME, node)
    }

    /// Adds an annotated function or a node value under another name.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log").node(a {}).node_as("once_more", a {}).edge("a", "once_more").build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "a"]);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// // Two edges out of one place make a fork.
    /// let graph = Graph::<Log>::builder("log").node(a {}).node(b {}).edge(START, "a").edge(START, "b").build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "b"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn edge(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Plain, to)
    }

    /// Adds a join: `to` runs once, after all of `from`.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node(a {})
    ///     .node(b {})
    ///     .node_fn("last", |log: &Log, _| std::future::ready(LogLines(vec![format!("after {}", log.lines.len())])))
    ///     .edge(START, "a")
    ///     .edge(START, "b")
    ///     .join(["a", "b"], "last")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "b", "after 2"]);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// #[derive(Route)]
    /// enum Way { Left, Right }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("pick", |log: &Log, _| std::future::ready(if log.lines.is_empty() { Way::Left } else { Way::Right }))
    ///     .node(a {})
    ///     .route("pick", "Left", "a")
    ///     .route("pick", "Right", END)
    ///     .edge(START, "pick")
    ///     .edge("a", "pick")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn route(
        self,
        from: impl Into<String>,
        route: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        self.push(from, Way::Route(route.into()), to)
    }

    /// Adds an edge along which `from` sends items: one run of `to` for each.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn visit(#[item] page: &u32) -> LogLines {
    ///     LogLines(vec![format!("page {page}")])
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("list", |_: &Log, _| async { Each(vec![1_u32, 2]) })
    ///     .node(visit {})
    ///     .each("list", "visit")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["page 1", "page 2"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn each(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Each, to)
    }

    /// Adds an edge for a route that carries a list: one run of `to` for each item.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn visit(#[item] page: &u32) -> LogLines {
    ///     LogLines(vec![format!("page {page}")])
    /// }
    ///
    /// #[derive(Route)]
    /// enum Found { Pages(Vec<u32>), Nothing }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("search", |log: &Log, _| std::future::ready(if log.lines.is_empty() { Found::Pages(vec![7, 8]) } else { Found::Nothing }))
    ///     .node(visit {})
    ///     .route_each("search", "Pages", "visit")
    ///     .route("search", "Nothing", END)
    ///     .edge(START, "search")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["page 7", "page 8"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn route_each(
        self,
        from: impl Into<String>,
        route: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        self.push(from, Way::RouteEach(route.into()), to)
    }

    /// Says where to go when `from` has failed for good; `to` takes the [`NodeError`](crate::NodeError) as its item.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::NodeError;
    ///
    /// #[node(Log)]
    /// async fn recover(#[item] failure: &NodeError) -> LogLines {
    ///     LogLines(vec![failure.message.clone()])
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("fetch", |_: &Log, _| async { petalflow::Result::<LogLines>::Err("offline".into()) })
    ///     .node(recover {})
    ///     .edge(START, "fetch")
    ///     .catch("fetch", "recover")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["offline"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn catch(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Way::Catch, to)
    }

    /// Lets a node wait until nothing else is active.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// // `last` is reached after one superstep, and waits for `b`, which is reached after two.
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_as("last", a {})
    ///     .node_as("first", a {})
    ///     .node(b {})
    ///     .edge(START, "first")
    ///     .edge("first", "last")
    ///     .edge("first", "b")
    ///     .defer("last")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "b", "a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn defer(mut self, node: impl Into<String>) -> Self {
        self.deferred.push(node.into());
        self
    }

    /// Sets retries and timeouts of a node; they win over what its annotation says.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::{FailureKind, Policy, RunErrorKind};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("wait", |_: &Log, _| std::future::pending::<()>())
    ///     .with("wait", Policy { timeout: Some(Duration::from_millis(1)), ..Policy::NONE })
    ///     .build()?;
    /// let error = graph.run(()).await.err().unwrap();
    /// assert!(matches!(error.kind(), RunErrorKind::Node(error) if error.kind == FailureKind::Timeout));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(mut self, node: impl Into<String>, policy: Policy) -> Self {
        self.policies.push((node.into(), policy.into()));
        self
    }

    /// Sets the retries of a node, of which the first that covers an error decides. They win over what its annotation says,
    /// and over an earlier [`with`](Self::with); an empty list says nothing.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::Retry;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let attempts = 3; // Perhaps from a file.
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("fetch", |_: &Log, cx| async move {
    ///         if cx.attempt() < 3 { Err("busy") } else { Ok(LogLines(vec!["fetched".into()])) }
    ///     })
    ///     .retry("fetch", [Retry::times(attempts).first(Duration::ZERO)])
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["fetched"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn retry(
        mut self,
        node: impl Into<String>,
        retries: impl IntoIterator<Item = Retry>,
    ) -> Self {
        let policy = NodePolicy::retrying(retries.into_iter().collect());
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
