//! Graphs that are built at run time, with the rules and the engine of `flow!`.
//!
//! ```
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Text {
//!     #[key(input)]
//!     text: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! // The steps may come from a configuration file.
//! let mut builder = Graph::<Text>::builder("pipeline");
//! let mut last = START;
//! for step in ["trim", "shout"] {
//!     builder = match step {
//!         "trim" => builder.node_fn(step, |text: &Text, _| std::future::ready(TextText(text.text.trim().into()))),
//!         _ => builder.node_fn(step, |text: &Text, _| std::future::ready(TextText(text.text.to_uppercase()))),
//!     };
//!     builder = builder.edge(last, step);
//!     last = step;
//! }
//! let pipeline = builder.edge(last, END).build()?;
//! assert_eq!(pipeline.run(" petals ".to_string()).await?.text, "PETALS");
//! # Ok(())
//! # }
//! ```

mod builder;
mod error;
mod gate;
mod items;
mod node;
mod resolve;
mod rules;
mod wire;

use std::future::Future;
use std::sync::Arc;

#[doc(hidden)]
pub use builder::Runnable;
pub use builder::{GraphBuilder, GraphNode};
pub use error::GraphErrors;
pub use petalflow_graph::{Diagnostic, Location, Metrics, NodeInfo, Role, Rule, Topology, When};

use crate::checkpoint::Store;
use crate::error::BoxError;
use crate::flow::{Flow, Step};
use crate::launch::Launch;
use crate::node::Requirements;
use crate::plan::ExecutionPlan;
use crate::run::Run;
use crate::state::{InputOf, State, Stored};
use crate::thread::Threads;
use gate::BoxGuard;
use node::DynNode;

/// The start of a run, in the edges of the builder. The edge from it may be omitted if exactly one node has no edge into it.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build().unwrap();
/// assert_eq!(graph.topology().entries, ["write"]);
/// ```
pub const START: &str = "START";
/// The end of a path, in the edges of the builder. The edge to it may be omitted after a node without other edges.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// let graph = Graph::<Essay>::builder("essay").node(write {}).edge("write", END).edge(START, "write").build().unwrap();
/// assert_eq!(graph.topology().exits, ["write"]);
/// ```
pub const END: &str = "END";

/// A graph that was built and checked at run time. It is a flow. Clones share it.
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
///     EssayDraft(format!("about {topic}"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build()?;
/// assert_eq!(graph.run("petals".to_string()).await?.draft, "about petals");
/// # Ok(())
/// # }
/// ```
pub struct Graph<S: State>(Arc<Inner<S>>);

struct Inner<S: State> {
    name: String,
    plan: Arc<ExecutionPlan>,
    nodes: Vec<Box<dyn DynNode<S>>>,
    /// The guard of each interrupt, by index.
    guards: Vec<Option<BoxGuard<S>>>,
}

impl<S: State> Clone for Graph<S> {
    fn clone(&self) -> Self {
        Graph(Arc::clone(&self.0))
    }
}

impl<S: State> std::fmt::Debug for Graph<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("name", &self.0.name)
            .field("graph", self.0.plan.graph())
            .finish()
    }
}

impl<S: State> Graph<S> {
    /// Runs the graph with the default settings.
    pub fn run(&self, input: impl InputOf<S>) -> Run<Self> {
        self.launch().run(input)
    }

    /// Returns a launch, to change its settings.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Essay>::builder("essay").node(write {}).build()?;
    /// assert_eq!(graph.launch().limit(1).run(()).await?.draft, "…");
    /// # Ok(())
    /// # }
    /// ```
    pub fn launch(&self) -> Launch<Self> {
        Launch::new(self.clone())
    }

    /// Stores the runs as threads. The same as `launch().store(..)`.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build()?;
    /// let thread = graph.store(&InMemoryStore::new()).thread("petals");
    /// assert_eq!(thread.run(()).await?.into_finished()?.draft, "…");
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(&self, store: &(impl Store + Clone)) -> Threads<Self>
    where
        S: Stored,
    {
        self.launch().store(store)
    }

    /// The nodes, edges and metrics of the graph.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build().unwrap();
    /// assert_eq!(graph.topology().edges[0], ("START".to_string(), "write".to_string()));
    /// ```
    pub fn topology(&self) -> Topology {
        petalflow_graph::topology(self.0.plan.graph())
    }

    /// The graph as a Mermaid diagram.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build().unwrap();
    /// assert!(graph.mermaid().contains("START --> write"));
    /// ```
    pub fn mermaid(&self) -> String {
        petalflow_graph::mermaid(self.0.plan.graph())
    }

    /// The graph in Graphviz's DOT language.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build().unwrap();
    /// assert!(graph.dot().starts_with("digraph"));
    /// ```
    pub fn dot(&self) -> String {
        petalflow_graph::dot(self.0.plan.graph())
    }
}

impl<S: State> Flow for Graph<S> {
    type State = S;

    fn name(&self) -> &str {
        &self.0.name
    }

    fn plan(&self) -> Arc<ExecutionPlan> {
        Arc::clone(&self.0.plan)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.0
            .nodes
            .iter()
            .for_each(|node| node.require(requirements));
    }

    fn gate(&self, gate: u32, state: &S) -> Result<bool, BoxError> {
        match &self.0.guards[gate as usize] {
            Some(guard) => guard(state),
            None => Ok(true),
        }
    }

    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        let (scope, state, effects) = step.parts();
        self.0.nodes[node as usize].run(scope, state, effects)
    }
}
