//! Which finished threads a server keeps.

use crate::builder::ServerBuilder;
use crate::error::SetupError;
use crate::retention::ThreadRetention;

impl ServerBuilder {
    /// Keeps only some finished threads of a flow, a document or a graph with webhooks: those that are not older than a time, or only the
    /// newest. Once in a minute, one of the processes with the store deletes the others, with their histories. Threads that have failed,
    /// wait, sleep, run or are held stay. A client with access to all threads changes the rule of a flow with `PUT /retention/{flow}`.
    ///
    /// The threads are those whose ids begin with the name of the flow, which the server gives. A flow that joins threads it has started
    /// needs them until then: keep them for longer.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::{WebhookTriggerConfig, WebhookTriggerNode};
    /// use petalflow_server::{Server, ThreadRetention};
    /// use std::time::Duration;
    ///
    /// # let trigger = WebhookTriggerNode::new(WebhookTriggerConfig::default())?;
    /// # let flow = EnvelopeBuilder::new("orders").add_node("incoming", trigger).build()?;
    /// let month = Duration::from_secs(30 * 86_400);
    /// let server = Server::builder(&InMemoryStore::new())
    ///     .webhooks("orders", &flow)
    ///     .thread_retention("orders", ThreadRetention::new().max_age(month))
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn thread_retention(mut self, flow: impl Into<String>, keeps: ThreadRetention) -> Self {
        self.retention.insert(flow.into(), keeps);
        self
    }

    /// The rules for flows that the server does not serve.
    pub(crate) fn retention_problems(&self) -> Vec<SetupError> {
        let names = self.retention.keys();
        let unknown = names.filter(|name| !self.serves(name));
        unknown
            .map(|name| SetupError::NoRetention { name: name.clone() })
            .collect()
    }
}
