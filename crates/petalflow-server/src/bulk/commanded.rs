//! The server whose threads get commands, for the flow that gives them, which is part of the server.

use std::sync::{Arc, OnceLock, Weak};

use petalflow::async_trait;

use super::command::Command;

/// The threads that get commands.
#[async_trait]
pub(crate) trait Commanded: Send + Sync {
    /// The next threads that meet the conditions, at most as many. The error is the reason in words.
    async fn page(
        &self,
        conditions: &str,
        label: Option<(&str, &str)>,
        after: &str,
        limit: usize,
    ) -> Result<Page, String>;

    /// Gives a thread the command. The error is the reason in words.
    async fn give(self: Arc<Self>, command: &Command, thread: &str) -> Result<(), String>;
}

/// Threads of a list.
pub(crate) struct Page {
    /// Those that get the command.
    pub(crate) threads: Vec<String>,
    /// The last one that was listed. `None` if there is none.
    pub(crate) last: Option<String>,
}

/// The server. It exists after the flow that gives the commands.
#[derive(Clone, Default)]
pub(crate) struct OfServer(Arc<OnceLock<Weak<dyn Commanded>>>);

impl OfServer {
    pub(crate) fn set(&self, server: Weak<dyn Commanded>) {
        // A server is built once.
        let _ = self.0.set(server);
    }

    /// `None` once the server has been dropped.
    pub(super) fn get(&self) -> Option<Arc<dyn Commanded>> {
        self.0.get().and_then(Weak::upgrade)
    }
}
