//! Graphs built at run time: the same rules, the same engine, nodes chosen while the program runs.

mod builder;
mod error;
mod gate;
mod node;
mod wire;

use std::future::Future;
use std::sync::Arc;

pub use builder::GraphBuilder;
pub use error::GraphErrors;
pub use petalflow_graph::{Metrics, NodeInfo, Problem, Role, Rule, Site, Topology, When};

use crate::flow::{Step, Wiring};
use crate::node::Requirements;
use crate::{BoxError, Flow, Launch, Run, State};
use gate::BoxGuard;
use node::DynNode;

/// The name of the place where a run begins, in the builder's edges.
pub const START: &str = "START";
/// The name of the place where a path ends, in the builder's edges.
pub const END: &str = "END";

/// A graph that was built and checked at run time. It runs as a flow does; clones share it.
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
    wiring: Arc<Wiring>,
    nodes: Vec<Box<dyn DynNode<S>>>,
    /// By the place of the interrupt; none where it has no guard.
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
            .field("graph", self.0.wiring.graph())
            .finish()
    }
}

impl<S: State> Graph<S> {
    /// Begins a graph of this name.
    pub fn builder(name: impl Into<String>) -> GraphBuilder<S> {
        GraphBuilder::new(name.into())
    }

    /// Runs it with the default settings.
    pub fn run(&self, input: impl Into<S::Input>) -> Run<Self> {
        self.launch().run(input)
    }

    /// A launch, for settings of its own.
    pub fn launch(&self) -> Launch<Self> {
        Launch::new(self.clone())
    }

    /// The graph in numbers.
    pub fn topology(&self) -> Topology {
        petalflow_graph::topology(self.0.wiring.graph())
    }

    /// The graph as a Mermaid diagram.
    pub fn mermaid(&self) -> String {
        petalflow_graph::mermaid(self.0.wiring.graph())
    }

    /// The graph in Graphviz's DOT language.
    pub fn dot(&self) -> String {
        petalflow_graph::dot(self.0.wiring.graph())
    }
}

impl<S: State> Flow for Graph<S> {
    type State = S;

    fn name(&self) -> &str {
        &self.0.name
    }

    fn wiring(&self) -> Arc<Wiring> {
        Arc::clone(&self.0.wiring)
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
        self.0.nodes[node as usize].run(step.scope, step.state, step.effects)
    }
}
