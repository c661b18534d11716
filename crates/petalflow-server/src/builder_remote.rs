//! Flows whose threads an engine keeps, among the settings of a server.

use std::sync::Arc;

use petalflow::Flow;
use petalflow::state::Storable;

use crate::ServerBuilder;
use crate::served::{RemoteThreads, ServedFlow};

impl ServerBuilder {
    /// Serves a flow whose threads an engine keeps and runs in other processes, at the same addresses. See [`RemoteThreads`].
    #[must_use]
    pub fn serve_remote<F: Flow<State: Storable>>(
        self,
        flow: ServedFlow<F>,
        threads: impl RemoteThreads<F>,
    ) -> Self {
        self.add(flow, move |flow, _| {
            Arc::new(flow.with_engine(Arc::new(threads)))
        })
    }
}
