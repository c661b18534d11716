//! The edges of a graph.

use super::GraphBuilder;
use crate::state::State;

/// An edge between names.
#[derive(Clone, Debug)]
pub(in crate::graph) struct NamedEdge {
    pub(in crate::graph) from: String,
    pub(in crate::graph) via: Trigger,
    pub(in crate::graph) to: String,
}

/// The condition under which an edge fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::graph) enum Trigger {
    Plain,
    Each,
    Route(String),
    RouteEach(String),
    Catch,
}

impl<S: State> GraphBuilder<S> {
    /// Adds an edge: `from` may be [`START`](crate::graph::START), `to` may be [`END`](crate::graph::END). A node without edges ends its
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
    /// // Two edges from START make a fork.
    /// let graph = Graph::<Log>::builder("log").node(a {}).node(b {}).edge(START, "a").edge(START, "b").build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "b"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn edge(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.push(from, Trigger::Plain, to)
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

    /// Makes a node a merge: it runs once, after all of its edges that can still fire. It waits for an edge only while something
    /// active can reach the source of the edge. So a side that a route skips does not stop it, as it would stop a
    /// [`join`](Self::join).
    ///
    /// Its plain edges, its routes and its joins are the sides. Edges of `catch` and of `each` run it at once. If several merges
    /// wait for each other only, they fire in the order in which they were named.
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
    ///     .node_fn("pick", |log: &Log, _| std::future::ready(!log.lines.is_empty()))
    ///     .node(a {})
    ///     .node(b {})
    ///     .node_as("last", a {})
    ///     .route("pick", "true", "a")
    ///     .route("pick", "false", "b")
    ///     .edge("a", "last")
    ///     .edge("b", "last")
    ///     .merge("last")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["b", "a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(mut self, node: impl Into<String>) -> Self {
        self.merges.push(node.into());
        self
    }

    /// Lists the routes of a node that returns [`Routes`](crate::node::Routes), whose names are known at run time only. Each
    /// needs an edge, as the routes of other nodes.
    pub fn routes<N: Into<String>>(
        mut self,
        node: impl Into<String>,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        self.routes.push((node.into(), names));
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
        self.push(from, Trigger::Route(route.into()), to)
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
        self.push(from, Trigger::Each, to)
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
        self.push(from, Trigger::RouteEach(route.into()), to)
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
        self.push(from, Trigger::Catch, to)
    }

    fn push(mut self, from: impl Into<String>, via: Trigger, to: impl Into<String>) -> Self {
        self.edges.push(NamedEdge {
            from: from.into(),
            via,
            to: to.into(),
        });
        self
    }
}
