//! The builder: nodes, edges and settings by name.

mod edges;
mod settings;

use std::future::Future;

use serde_core::{Serialize, de::DeserializeOwned};

pub(super) use self::edges::{NamedEdge, Trigger};
use super::interrupt_point::NamedInterruptPoint;
use super::node::Entry;
use super::{BoxNode, Graph};
use crate::flow::Flow;
use crate::node::{Context, Node, Output};
use crate::policy::NodePolicy;
use crate::run::Run;
use crate::state::State;

/// Collects the nodes and edges of a [`Graph`]. A name may be used before its node is added: [`build`](Self::build) checks
/// everything.
///
/// Writes fold in the order in which their nodes were added.
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
    pub(super) edges: Vec<NamedEdge>,
    pub(super) joins: Vec<(Vec<String>, String)>,
    pub(super) merges: Vec<String>,
    pub(super) routes: Vec<(String, Vec<String>)>,
    pub(super) deferred: Vec<String>,
    pub(super) policies: Vec<(String, NodePolicy)>,
    pub(super) interrupt_points: Vec<NamedInterruptPoint<S>>,
    pub(super) retained: Vec<String>,
    pub(super) ids: Vec<(String, String)>,
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
    #[doc(hidden)]
    pub fn run(&self, _: impl Runnable) -> Run<Graph<S>> {
        unreachable!("no input implements the trait")
    }

    pub(super) fn new(name: String) -> Self {
        GraphBuilder {
            name,
            nodes: Vec::new(),
            edges: Vec::new(),
            joins: Vec::new(),
            merges: Vec::new(),
            routes: Vec::new(),
            deferred: Vec::new(),
            policies: Vec::new(),
            interrupt_points: Vec::new(),
            retained: Vec::new(),
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
    pub fn node<N: GraphNode<S>>(self, node: N) -> Self {
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
    pub fn node_as<N: GraphNode<S>>(self, name: impl Into<String>, node: N) -> Self {
        self.boxed(name, BoxNode::new(node))
    }

    /// Adds a [`BoxNode`], which contains a node of any type.
    pub fn boxed(mut self, name: impl Into<String>, node: BoxNode<S>) -> Self {
        self.nodes.push(Entry {
            name: name.into(),
            ..node.0
        });
        self
    }

    /// Adds a closure as a node. It can read the whole state, so there is no check that keys are written before they are
    /// read. It clones the values that its future needs.
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
    pub fn node_fn<F, R, O>(self, name: impl Into<String>, node: F) -> Self
    where
        F: Fn(&S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Output<S>,
    {
        self.boxed(name, BoxNode::from_fn(node))
    }

    /// Adds a flow as a node. `input` makes its input from the state of this graph, and `out` makes the output of the node from
    /// its final state. All its supersteps run inside one superstep of this graph.
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
    pub fn subflow<C, I, M, O>(self, name: impl Into<String>, flow: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        self.boxed(name, BoxNode::subflow(flow, input, out))
    }

    /// Adds a flow as a node that takes an item, as the target of [`each`](Self::each) or of a route with a payload. `input` makes
    /// its input from the state of this graph and the item.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Page {
    ///     #[key(input)]
    ///     number: u32,
    ///     text: String,
    /// }
    ///
    /// #[node(Page)]
    /// async fn fetch(number: &u32) -> PageText {
    ///     PageText(format!("page {number}"))
    /// }
    ///
    /// flow!(FetchPage(Page) { fetch });
    ///
    /// #[state]
    /// struct Book {
    ///     #[key(append)]
    ///     texts: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Book>::builder("book")
    ///     .node_fn("list", |_: &Book, _| async { Each(vec![1_u32, 2]) })
    ///     .subflow_with_item("page", FetchPage::default(), |_: &Book, page: &u32| (*page).into(), |page| BookTexts(vec![page.text]))
    ///     .each("list", "page")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.texts, ["page 1", "page 2"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subflow_with_item<C, T, I, M, O>(
        self,
        name: impl Into<String>,
        flow: C,
        input: I,
        out: M,
    ) -> Self
    where
        C: Flow + Clone,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
        I: Fn(&S, &T) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        self.boxed(name, BoxNode(Entry::subflow_with_item(flow, input, out)))
    }
}

impl<S: State> Graph<S> {
    /// Returns a builder for a graph with this name.
    pub fn builder(name: impl Into<String>) -> GraphBuilder<S> {
        GraphBuilder::new(name.into())
    }
}

/// A node for the builder: the value of a node. A function that is annotated has the value `write {}`.
///
/// ```
/// use petalflow::graph::GraphNode;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay { draft: String }
///
/// #[node(Essay)]
/// async fn write() -> EssayDraft {
///     EssayDraft("…".into())
/// }
///
/// fn named(name: &str, node: impl GraphNode<Essay>) -> Graph<Essay> {
///     Graph::builder("essay").node_as(name, node).build().unwrap()
/// }
///
/// assert_eq!(named("draft", write {}).launch().graph().nodes()[0].name, "draft");
/// ```
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "a function that is annotated with `#[node({S})]` is given with braces: `write {{}}`",
    note = "a value is a node if its `impl` block is annotated with `#[node({S})]`; a flow is added with `subflow`"
)]
pub trait GraphNode<S>: Node<S> {}

#[diagnostic::do_not_recommend]
impl<S, N: Node<S>> GraphNode<S> for N {}

/// The input of a graph. No type implements it for a builder.
#[diagnostic::on_unimplemented(
    message = "a graph runs when it is built, and this is its builder",
    label = "no `build` before this",
    note = "write `.build()?` before `.run(..)`"
)]
pub trait Runnable {}
