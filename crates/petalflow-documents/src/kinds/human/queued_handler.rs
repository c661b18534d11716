//! Handlers whose requests another part of the program answers: a list of open requests, or a channel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::handler::HumanHandler;
use super::{HumanRequest, HumanResponse};
use crate::clock::now_ms;
use crate::wire::rfc3339;
use petalflow::{BoxError, Context, async_trait};

/// A handler that lists the open requests, for a program that shows them and sends the responses. Clones share it.
///
/// ```
/// use petalflow_documents::kinds::{HumanResponse, QueuedHandler};
///
/// let handler = QueuedHandler::new();
/// assert!(handler.pending().is_empty());
/// assert!(handler.respond("17", HumanResponse::default()).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct QueuedHandler(Arc<Mutex<BTreeMap<String, OpenRequest>>>);

#[derive(Debug)]
struct OpenRequest {
    request: HumanRequest,
    /// `None` after the response.
    respond: Option<oneshot::Sender<HumanResponse>>,
}

/// Removes a request from the queue when the node no longer waits for it.
struct RemoveOnDrop<'h>(&'h QueuedHandler, String);

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl QueuedHandler {
    /// Creates a handler without requests.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, OpenRequest>> {
        // No code that can panic runs while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identifiers of the open requests, sorted.
    pub fn pending(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// An open request.
    ///
    /// ```
    /// use petalflow_documents::kinds::QueuedHandler;
    ///
    /// assert_eq!(QueuedHandler::new().get("17"), None);
    /// ```
    pub fn get(&self, id: &str) -> Option<HumanRequest> {
        self.lock().get(id).map(|open| open.request.clone())
    }

    /// Responds to a request.
    ///
    /// # Errors
    ///
    /// If there is no open request with this identifier, or it already has a response.
    pub fn respond(&self, id: &str, mut response: HumanResponse) -> Result<(), BoxError> {
        let mut open = self.lock();
        let Some(open) = open.get_mut(id) else {
            return Err(format!("there is no open request `{id}`").into());
        };
        let Some(respond) = open.respond.take() else {
            return Err(format!("request `{id}` already has a response").into());
        };
        response.request_id = id.into();
        if response.responded_at.is_empty() {
            response.responded_at = rfc3339(now_ms());
        }
        let sent = respond.send(response);
        sent.map_err(|_| format!("the node of request `{id}` no longer waits").into())
    }

    async fn wait(&self, request: HumanRequest) -> Result<Option<HumanResponse>, BoxError> {
        let (respond, response) = oneshot::channel();
        let guard = RemoveOnDrop(self, request.id.clone());
        let open = OpenRequest {
            request,
            respond: Some(respond),
        };
        self.lock().insert(guard.1.clone(), open);
        // The sender is in the map until the response or the end of this function.
        Ok(response.await.ok())
    }
}

#[async_trait]
impl HumanHandler for QueuedHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        self.wait(request).await
    }
}

/// A handler that sends the requests to a channel. Clones share it.
///
/// ```
/// use petalflow_documents::kinds::ChannelHandler;
///
/// let (handler, requests) = ChannelHandler::new(8);
/// # let _ = (handler, requests);
/// ```
#[derive(Clone, Debug)]
pub struct ChannelHandler {
    queue: QueuedHandler,
    requests: mpsc::Sender<HumanRequest>,
}

impl ChannelHandler {
    /// Creates a handler, and the channel of its requests with this capacity. Zero means one.
    pub fn new(capacity: usize) -> (Self, mpsc::Receiver<HumanRequest>) {
        let (requests, receiver) = mpsc::channel(capacity.max(1));
        let queue = QueuedHandler::new();
        (ChannelHandler { queue, requests }, receiver)
    }

    /// Responds to the request that the response names.
    ///
    /// ```
    /// use petalflow_documents::kinds::{ChannelHandler, HumanResponse};
    ///
    /// let (handler, _requests) = ChannelHandler::new(8);
    /// assert!(handler.respond(HumanResponse::default()).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no open request with this identifier, or it already has a response.
    pub fn respond(&self, response: HumanResponse) -> Result<(), BoxError> {
        let id = response.request_id.clone();
        self.queue.respond(&id, response)
    }
}

#[async_trait]
impl HumanHandler for ChannelHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        let wait = self.queue.wait(request.clone());
        let send = async {
            let sent = self.requests.send(request).await;
            sent.map_err(|_| BoxError::from("nobody receives the requests"))
        };
        // `wait` first, so that the request is open when it is received.
        let (response, ()) = futures_util::future::try_join(wait, send).await?;
        Ok(response)
    }
}
