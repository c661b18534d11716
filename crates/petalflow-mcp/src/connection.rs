//! One connection to a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ProgressToken;
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio::process::Child;

use super::connect::Connected;
use super::handler::{MessageHandler, ProgressReceiver};
use super::problem::{self, TOO_LONG};
use petalflow::tool::ToolSpec;

/// How long a child process may take to exit after its connection is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// One connection to a server.
pub(super) struct Connection {
    service: RunningService<RoleClient, MessageHandler>,
    handler: MessageHandler,
    child: Mutex<Option<Child>>,
    exceeded: Arc<AtomicBool>,
    broken: AtomicBool,
    tools: Mutex<Option<ToolList>>,
}

/// The tool list of a server. It holds no tools: a tool holds the client, which holds this connection.
pub(super) type ToolList = Arc<[ListedTool]>;

/// A tool in the tool list: the server's name of it, and its spec for models.
pub(super) struct ListedTool {
    pub(super) name: Arc<str>,
    pub(super) spec: Arc<ToolSpec>,
    /// Whether the server says that the tool destroys something.
    pub(super) destructive: bool,
    /// The schema of its structured results.
    pub(super) output_schema: Option<Arc<Value>>,
}

impl Connection {
    pub(super) fn new(connected: Connected, handler: MessageHandler) -> Self {
        Connection {
            service: connected.service,
            handler,
            child: Mutex::new(connected.child),
            exceeded: connected.exceeded,
            broken: AtomicBool::new(false),
            tools: Mutex::new(None),
        }
    }

    pub(super) fn service(&self) -> &RunningService<RoleClient, MessageHandler> {
        &self.service
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether the connection can take requests.
    pub(super) fn is_open(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
            && !self.service.is_closed()
            && !self.peer().is_transport_closed()
    }

    /// Marks the connection as unusable. The next call connects again.
    pub(super) fn mark_broken(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// Describes how the connection was lost, by the error of a request.
    pub(super) fn lost_reason(&self, error: &ServiceError) -> String {
        if self.exceeded.load(Ordering::Relaxed) {
            return TOO_LONG.into();
        }
        problem::of_request(error)
    }

    pub(super) fn progress_of(&self, token: ProgressToken) -> ProgressReceiver {
        self.handler.progress_of(token)
    }

    /// Returns the cached tool list, if it is current.
    pub(super) fn cached_tools(&self) -> Option<ToolList> {
        if self.handler.take_list_changed() {
            *self.tools() = None;
        }
        self.tools().clone()
    }

    pub(super) fn cache_tools(&self, tools: &ToolList) {
        *self.tools() = Some(Arc::clone(tools));
    }

    fn tools(&self) -> MutexGuard<'_, Option<ToolList>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection. A child process gets some time to exit, and is then killed.
    pub(super) async fn close(&self) {
        self.mark_broken();
        self.service.cancellation_token().cancel();
        let child = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut child) = child
            && tokio::time::timeout(EXIT_TIMEOUT, child.wait())
                .await
                .is_err()
        {
            let _ = child.kill().await;
        }
    }
}
