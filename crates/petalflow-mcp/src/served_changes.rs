//! What changes while a server works, and the clients that are told.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio_util::task::AbortOnDropHandle;

/// How many changes wait for a client that reads slowly. After more, it is told that everything has changed.
const WAITING: usize = 256;

/// How many resources a session subscribes to at most, so that a client cannot fill the memory.
const MAX_SUBSCRIPTIONS: usize = 1_000;

/// Something that has changed.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Tools,
    Resource(Arc<str>),
    /// It is not known what: the client was too slow.
    Everything,
}

/// The changes of a server, for the sessions of all its clients.
#[derive(Clone, Debug)]
pub(super) struct Changes(Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Changes(Sender::new(WAITING))
    }
}

impl Changes {
    fn send(&self, change: Change) {
        // Without a client nobody is told.
        let _ = self.0.send(change);
    }

    /// The changes from now on.
    fn subscribe(&self) -> Receiver<Change> {
        self.0.subscribe()
    }
}

/// The next change. `None` after the last one.
async fn next(changes: &mut Receiver<Change>) -> Option<Change> {
    match changes.recv().await {
        Ok(change) => Some(change),
        Err(RecvError::Lagged(_)) => Some(Change::Everything),
        Err(RecvError::Closed) => None,
    }
}

/// Notifies the clients of an [`McpServer`](crate::McpServer) that its tool list, or a resource, has changed.
///
/// ```
/// use petalflow_mcp as mcp;
/// use petalflow::tool::ToolRegistry;
///
/// let registry = ToolRegistry::new();
/// let serve = mcp::serve(registry.clone());
/// let changed = serve.changed();
/// // After `registry.register(..)`:
/// changed.notify();
/// // After a change of what the function of a resource reads:
/// changed.notify_resource("notes://today");
/// ```
#[derive(Clone, Debug)]
pub struct ListChangedNotifier(pub(super) Changes);

impl ListChangedNotifier {
    /// Sends the notification about the tool list. Each client decides when to list the tools again.
    pub fn notify(&self) {
        self.0.send(Change::Tools);
    }

    /// Notifies the clients that have subscribed to the resource with this URI. Each decides when to read it again.
    pub fn notify_resource(&self, uri: impl Into<Arc<str>>) {
        self.0.send(Change::Resource(uri.into()));
    }
}

/// What ends with the session of a client: its subscriptions, and the task that notifies it. A clone is another session.
#[derive(Default)]
pub(super) struct Session {
    notifying: OnceLock<AbortOnDropHandle<()>>,
    subscribed: Arc<Mutex<HashSet<String>>>,
    /// Made before the client is told that it listens, so that it misses no change.
    listening: Mutex<VecDeque<Receiver<Change>>>,
}

impl Clone for Session {
    fn clone(&self) -> Self {
        Session::default()
    }
}

impl Session {
    /// Notifies the client until the session ends.
    pub(super) fn notify(&self, peer: Peer<RoleServer>, changes: &Changes) {
        let mut changes = changes.subscribe();
        let subscribed = Arc::clone(&self.subscribed);
        let notifying = tokio::spawn(async move {
            while let Some(change) = next(&mut changes).await {
                if send(&peer, &change, &subscribed).await.is_err() {
                    break;
                }
            }
        });
        // The handler of a session is dropped when the session ends, and the task with it.
        let _ = self.notifying.set(AbortOnDropHandle::new(notifying));
    }

    /// The client wants to know when this resource changes.
    pub(super) fn subscribe(&self, uri: String) -> Result<(), ErrorData> {
        let mut subscribed = lock(&self.subscribed);
        if subscribed.len() >= MAX_SUBSCRIPTIONS && !subscribed.contains(&uri) {
            let message = format!("a session subscribes to {MAX_SUBSCRIPTIONS} resources at most");
            return Err(ErrorData::invalid_params(message, None));
        }
        subscribed.insert(uri);
        Ok(())
    }

    /// A client is about to listen to changes.
    pub(super) fn begin_to_listen(&self, changes: &Changes) {
        lock(&self.listening).push_back(changes.subscribe());
    }

    /// The changes since a client began to listen.
    pub(super) fn listening(&self, changes: &Changes) -> Receiver<Change> {
        let begun = lock(&self.listening).pop_front();
        begun.unwrap_or_else(|| changes.subscribe())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        lock(&self.subscribed).remove(uri);
    }
}

/// Tells a client of a change, if it wants to know it.
async fn send(
    peer: &Peer<RoleServer>,
    change: &Change,
    subscribed: &Mutex<HashSet<String>>,
) -> Result<(), ServiceError> {
    if matches!(change, Change::Tools | Change::Everything) {
        peer.notify_tool_list_changed().await?;
    }
    let uris: Vec<String> = match change {
        Change::Tools => Vec::new(),
        Change::Resource(uri) => lock(subscribed).get(&**uri).cloned().into_iter().collect(),
        Change::Everything => lock(subscribed).iter().cloned().collect(),
    };
    for uri in uris {
        let updated = ResourceUpdatedNotificationParam::new(uri);
        peer.notify_resource_updated(updated).await?;
    }
    Ok(())
}

/// The changes that a client may listen to: those of the tool list, and of these resources.
pub(super) fn accepted(
    requested: &SubscriptionFilter,
    is_known: impl Fn(&str) -> bool,
) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let uris = uris.filter(|uri| is_known(uri)).take(MAX_SUBSCRIPTIONS);
    SubscriptionFilter::builder()
        .tools_list_changed()
        .resource_subscriptions(uris.cloned())
        .build()
}

/// Sends the changes that the client listens to, until it stops.
pub(super) async fn listen(subscription: SubscriptionContext, mut changes: Receiver<Change>) {
    let ended = subscription.cancelled();
    let sending = async {
        while let Some(change) = next(&mut changes).await {
            if send_accepted(&subscription, &change).await.is_err() {
                break;
            }
        }
    };
    futures_util::future::select(std::pin::pin!(ended), std::pin::pin!(sending)).await;
}

async fn send_accepted(
    subscription: &SubscriptionContext,
    change: &Change,
) -> Result<(), rmcp::service::SubscriptionSendError> {
    let (sink, accepted) = (subscription.sink(), subscription.accepted());
    if accepted.tools_list_changed == Some(true)
        && matches!(change, Change::Tools | Change::Everything)
    {
        sink.notify_tool_list_changed().await?;
    }
    let uris = accepted.resource_subscriptions.iter().flatten();
    for uri in uris {
        let has_changed = match change {
            Change::Tools => false,
            Change::Resource(changed) => **changed == **uri,
            Change::Everything => true,
        };
        if has_changed {
            sink.notify_resource_updated(uri.as_str()).await?;
        }
    }
    Ok(())
}

/// The values are consistent at every point, so a panic does not invalidate them.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
