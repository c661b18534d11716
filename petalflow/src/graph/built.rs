//! `Graph`: a graph that the run-time builder built and checked.

use std::future::Future;
use std::sync::Arc;

use petalflow_graph::Topology;

use super::interrupt_point::BoxGuard;
use super::node::DynNode;
use crate::checkpoint::Store;
use crate::error::BoxError;
use crate::flow::{Flow, Step};
use crate::launch::Launch;
use crate::node::Requirements;
use crate::plan::ExecutionPlan;
use crate::run::Run;
use crate::state::{InputOf, State, Storable};
use crate::thread::Threads;

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
pub struct Graph<S: State>(pub(super) Arc<Inner<S>>);

pub(super) struct Inner<S: State> {
    pub(super) name: String,
    pub(super) plan: Arc<ExecutionPlan>,
    pub(super) nodes: Vec<Box<dyn DynNode<S>>>,
    /// The guard of each interrupt, by index.
    pub(super) guards: Vec<Option<BoxGuard<S>>>,
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
        S: Storable,
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

#[diagnostic::do_not_recommend]
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

    fn guard(&self, point: u32, state: &S) -> Result<bool, BoxError> {
        match &self.0.guards[point as usize] {
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
