//! Flows whose threads an engine keeps, among the settings of a server.

use std::sync::Arc;

use petalflow::Flow;
use petalflow::state::Storable;

use crate::served::{FlowKind, RemoteThreads, ServedFlow};
use crate::{ServerBuilder, SetupError};

impl ServerBuilder {
    /// Serves a flow whose threads an engine keeps and runs in other processes, at the same addresses. An agent is served by the
    /// protocols of agents too, if the engine [logs](RemoteThreads::has_event_log) the events of its threads. See
    /// [`RemoteThreads`].
    #[must_use]
    pub fn serve_remote<F: Flow<State: Storable>>(
        mut self,
        flow: ServedFlow<F>,
        threads: impl RemoteThreads<F>,
    ) -> Self {
        let is_agent = matches!(flow.facts.kind, FlowKind::Agent | FlowKind::Conversation);
        if is_agent && !threads.has_event_log() {
            self.unlogged.push(flow.facts.name.clone());
        }
        self.add(flow, move |flow, _| {
            Arc::new(flow.with_engine(Arc::new(threads)))
        })
    }

    /// The agents that a protocol cannot serve.
    pub(crate) fn unlogged_problems(&self) -> Vec<SetupError> {
        let Some(protocol) = self.protocols.first() else {
            return Vec::new();
        };
        let unlogged = self.unlogged.iter().cloned();
        unlogged
            .map(|name| SetupError::NoLog { name, protocol })
            .collect()
    }
}
