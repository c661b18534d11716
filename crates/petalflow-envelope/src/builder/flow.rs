//! A graph that was built.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow::run::Run;
use petalflow::{Graph, Launch};

use crate::{Envelope, NodeKind};

/// A graph over envelopes that was built and checked. Clones share it.
#[derive(Clone, Debug)]
pub struct EnvelopeFlow {
    graph: Graph<Envelope>,
    kinds: Arc<HashMap<String, NodeKind>>,
}

impl EnvelopeFlow {
    pub(super) fn new(graph: Graph<Envelope>, kinds: HashMap<String, NodeKind>) -> Self {
        EnvelopeFlow {
            graph,
            kinds: Arc::new(kinds),
        }
    }

    /// The kinds of the nodes, by id.
    pub(crate) fn kinds(&self) -> &HashMap<String, NodeKind> {
        &self.kinds
    }

    /// Runs the graph with the default settings of petalflow. See [`run_with`](Self::run_with) for options and events.
    pub fn run(&self, envelope: Envelope) -> Run<Graph<Envelope>> {
        self.launch().run(envelope)
    }

    /// Returns a launch, to change its settings or to store its runs as threads.
    pub fn launch(&self) -> Launch<Graph<Envelope>> {
        self.graph.launch()
    }

    /// The graph of the engine, for diagrams and as a node of other flows.
    pub fn graph(&self) -> &Graph<Envelope> {
        &self.graph
    }
}
