//! A graph that was built.

use std::sync::Arc;

use petalflow::run::Run;
use petalflow::{Graph, Launch};

use super::placed::Placed;
use crate::Envelope;

/// A graph over envelopes that was built and checked. Clones share it.
#[derive(Clone, Debug)]
pub struct EnvelopeFlow {
    graph: Graph<Envelope>,
    placed: Arc<[Arc<Placed>]>,
}

impl EnvelopeFlow {
    pub(super) fn new(graph: Graph<Envelope>, placed: Vec<Arc<Placed>>) -> Self {
        EnvelopeFlow {
            graph,
            placed: placed.into(),
        }
    }

    /// Runs the graph with the default settings of petalflow.
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
