//! What a server says has changed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ServerNotification, SubscribeRequestParams};
use rmcp::service::{Peer, RoleClient};

/// What has changed on a server: see [`McpClient::changes`](crate::McpClient::changes).
///
/// ```
/// use petalflow_mcp::ServerChange;
///
/// fn line(change: &ServerChange) -> String {
///     match change {
///         ServerChange::Resource(uri) => format!("read {uri} again"),
///         other => format!("list again: {other:?}"),
///     }
/// }
/// assert_eq!(line(&ServerChange::Resource("notes://today".into())), "read notes://today again");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerChange {
    /// The list of tools. The client lists them again by itself.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The resource with this URI, to which the client has [subscribed](crate::McpClient::subscribe).
    Resource(String),
}

impl ServerChange {
    /// The change that a notification tells, if it tells one.
    pub(super) fn of(notification: &ServerNotification) -> Option<Self> {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => Some(ServerChange::Tools),
            ServerNotification::PromptListChangedNotification(_) => Some(ServerChange::Prompts),
            ServerNotification::ResourceListChangedNotification(_) => Some(ServerChange::Resources),
            ServerNotification::ResourceUpdatedNotification(updated) => {
                Some(ServerChange::Resource(updated.params.uri.clone()))
            }
            _ => None,
        }
    }
}

/// What a program does with changes.
#[derive(Clone)]
pub(super) struct ChangeHandler(pub(super) Arc<dyn Fn(ServerChange) + Send + Sync>);

impl ChangeHandler {
    pub(super) fn take(&self, change: ServerChange) {
        // It runs where messages are read: a panic must not end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(change)));
    }
}

/// The resources that a client has subscribed to. They outlive a connection.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<BTreeSet<String>>>);

impl Subscriptions {
    pub(super) fn uris(&self) -> MutexGuard<'_, BTreeSet<String>> {
        // The value is always consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes again, on a new connection. The resources may have changed meanwhile.
    #[expect(
        deprecated,
        reason = "sessions with `initialize` have no other subscriptions"
    )]
    pub(super) async fn renew(&self, peer: &Peer<RoleClient>, handler: Option<&ChangeHandler>) {
        let uris = self.uris().clone();
        for uri in uris {
            // A server that refuses tells nothing more about the resource: this is the last that is known.
            let _ = peer
                .subscribe(SubscribeRequestParams::new(uri.clone()))
                .await;
            if let Some(handler) = handler {
                handler.take(ServerChange::Resource(uri));
            }
        }
    }
}
