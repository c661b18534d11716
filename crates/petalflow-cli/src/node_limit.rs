//! A time limit for each node.

use std::collections::BTreeSet;
use std::time::Duration;

use petalflow::BoxError;
use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow_documents::Envelope;
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::run::NodeTimeout;

/// Stops nodes that take too long.
#[derive(Clone, Debug)]
pub(crate) struct NodeLimit {
    timeout: Duration,
    /// The nodes that wait for people.
    asking: BTreeSet<String>,
}

impl NodeLimit {
    pub(crate) fn new(timeout: Duration, graph: &GraphDefinition) -> Self {
        let asking = graph.nodes.iter().filter(|node| node.kind == "human");
        NodeLimit {
            timeout,
            asking: asking.map(|node| node.id.clone()).collect(),
        }
    }
}

#[petalflow::async_trait]
impl Middleware<Envelope> for NodeLimit {
    async fn around(
        &self,
        call: NodeCall<'_, Envelope>,
        next: Next<'_, Envelope>,
    ) -> Result<(), BoxError> {
        let node = call.node().to_owned();
        if self.asking.contains(&node) {
            return next.run(call).await;
        }
        let timeout = self.timeout;
        let limited = tokio::time::timeout(timeout, next.run(call)).await;
        limited.unwrap_or_else(|_| Err(NodeTimeout { node, timeout }.into()))
    }
}
