//! `EnvelopeFlow`: a graph over envelopes that was built and checked.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow::run::Run;
use petalflow::thread::DocumentVersion;
use petalflow::{Graph, Launch};

use crate::kinds::WebhookTriggerNode;
use crate::{Envelope, NodeKind};

/// A graph over envelopes that was built and checked. Clones share it.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
/// let envelope = flow.run(Envelope::new().with_var("n", 7)).await?;
/// assert_eq!(envelope.get_var("n"), Some(&7.into()));
/// // With settings of the engine.
/// assert!(flow.launch().limit(10).run(Envelope::new()).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct EnvelopeFlow {
    graph: Graph<Envelope>,
    kinds: Arc<HashMap<String, NodeKind>>,
    /// The first node, if an HTTP request starts it.
    trigger: Option<Arc<(String, WebhookTriggerNode)>>,
    version: Option<DocumentVersion>,
}

impl EnvelopeFlow {
    pub(crate) fn new(graph: Graph<Envelope>, kinds: HashMap<String, NodeKind>) -> Self {
        EnvelopeFlow {
            graph,
            kinds: Arc::new(kinds),
            trigger: None,
            version: None,
        }
    }

    pub(crate) fn started_by(mut self, id: &str, trigger: Option<&WebhookTriggerNode>) -> Self {
        self.trigger = trigger.map(|trigger| Arc::new((id.into(), trigger.clone())));
        self
    }

    /// The first node of the graph and its id, if it is a webhook trigger. A server starts runs with it.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    ///
    /// let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// assert_eq!(flow.trigger().map(|(id, _)| id), Some("incoming"));
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn trigger(&self) -> Option<(&str, &WebhookTriggerNode)> {
        let (id, trigger) = &**self.trigger.as_ref()?;
        Some((id, trigger))
    }

    /// The kinds of the nodes, by id.
    pub(super) fn kinds(&self) -> &HashMap<String, NodeKind> {
        &self.kinds
    }

    /// Runs the graph with the default settings of petalflow. See [`run_with`](Self::run_with) for options and events.
    pub fn run(&self, envelope: Envelope) -> Run<Graph<Envelope>> {
        self.launch().run(envelope)
    }

    /// Returns a launch, to change its settings or to store its runs as threads.
    pub fn launch(&self) -> Launch<Graph<Envelope>> {
        match &self.version {
            Some(version) => self.graph.launch().document_version(version),
            None => self.graph.launch(),
        }
    }

    /// The version of the document, which is stored with each thread. [`load`](crate::load) sets it.
    pub fn version(&self) -> Option<&DocumentVersion> {
        self.version.as_ref()
    }

    /// Sets the version of the document.
    ///
    /// A thread that waits while its document changes goes on with the new document, if its graph fits. To refuse each other
    /// version, pin it:
    ///
    /// ```
    /// use petalflow_documents::document::GraphDefinition;
    /// use petalflow_documents::{Services, document_version, load};
    /// use serde_json::json;
    ///
    /// let graph: GraphDefinition = serde_json::from_value(json!({
    ///     "id": "one", "version": "1.0", "nodes": [{ "id": "only", "type": "noop" }], "edges": [],
    /// }))?;
    /// let version = document_version(&graph)?;
    /// let flow = load(&graph, &Services::new())?;
    /// assert_eq!(flow.version(), Some(&version));
    /// let flow = flow.with_version(version.pinned());
    /// # let _ = flow;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn with_version(mut self, version: DocumentVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// The graph of the engine, for diagrams and as a node of other flows.
    pub fn graph(&self) -> &Graph<Envelope> {
        &self.graph
    }
}
