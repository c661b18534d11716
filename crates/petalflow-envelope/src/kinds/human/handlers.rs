//! The trait `HumanHandler`, and its implementations: the ways to ask a person.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{HumanRequest, HumanResponse};
use crate::clock::now_ms;
use crate::wire::rfc3339;
use petalflow::interrupt::{Ask, Expiry};
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, Context, async_trait};

/// A way to ask a person.
///
/// Implementations: [`AutoHandler`], [`FuncHandler`], [`ChannelHandler`], [`QueuedHandler`], [`ThreadHandler`].
#[async_trait]
pub trait HumanHandler: Send + Sync + 'static {
    /// Asks, and returns the response, or `None` if the time is over. The node drops the future after its timeout.
    ///
    /// # Errors
    ///
    /// If the person cannot be asked. The node then fails.
    async fn request(
        &self,
        request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError>;
}

#[async_trait]
impl<H: HumanHandler + ?Sized> HumanHandler for Arc<H> {
    async fn request(
        &self,
        request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        (**self).request(request, cx).await
    }
}

/// A handler that approves or rejects everything. For tests and programs without people.
///
/// ```
/// use petalflow_envelope::kinds::AutoHandler;
/// use std::time::Duration;
///
/// let handler = AutoHandler::reject().notes("not today").delay(Duration::from_secs(1));
/// # let _ = handler;
/// ```
#[derive(Clone, Debug)]
pub struct AutoHandler {
    response: HumanResponse,
    delay: Duration,
}

impl AutoHandler {
    /// Approves, with the choice `approve`.
    pub fn approve() -> Self {
        Self::responding(true, "approve")
    }

    /// Rejects, with the choice `reject`.
    pub fn reject() -> Self {
        Self::responding(false, "reject")
    }

    fn responding(approved: bool, choice: &str) -> Self {
        AutoHandler {
            response: HumanResponse {
                approved,
                choice: choice.into(),
                responded_by: "auto".into(),
                ..HumanResponse::default()
            },
            delay: Duration::ZERO,
        }
    }

    /// Sets the choice.
    ///
    /// ```
    /// use petalflow_envelope::kinds::AutoHandler;
    ///
    /// let handler = AutoHandler::approve().choice("large");
    /// # let _ = handler;
    /// ```
    #[must_use]
    pub fn choice(mut self, choice: impl Into<String>) -> Self {
        self.response.choice = choice.into();
        self
    }

    /// Sets the data.
    ///
    /// ```
    /// use petalflow_envelope::kinds::AutoHandler;
    ///
    /// let handler = AutoHandler::approve().data(serde_json::json!({ "title": "Petals" }));
    /// # let _ = handler;
    /// ```
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.response.data = Some(data.into());
        self
    }

    /// Sets the notes.
    #[must_use]
    pub fn notes(mut self, notes: impl Into<String>) -> Self {
        self.response.notes = notes.into();
        self
    }

    /// Waits before the response.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

#[async_trait]
impl HumanHandler for AutoHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        Ok(Some(HumanResponse {
            request_id: request.id,
            responded_at: rfc3339(now_ms()),
            ..self.response.clone()
        }))
    }
}

type Function =
    dyn Fn(HumanRequest) -> BoxFuture<'static, Result<HumanResponse, BoxError>> + Send + Sync;

/// A handler that calls a function.
///
/// ```
/// use petalflow_envelope::kinds::{FuncHandler, HumanResponse};
///
/// let handler = FuncHandler::new(|request| async move {
///     println!("{}", request.prompt);
///     Ok(HumanResponse { approved: true, ..HumanResponse::default() })
/// });
/// # let _ = handler;
/// ```
#[derive(Clone)]
pub struct FuncHandler(Arc<Function>);

impl fmt::Debug for FuncHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuncHandler").finish_non_exhaustive()
    }
}

impl FuncHandler {
    /// Asks with this function.
    pub fn new<F>(ask: impl Fn(HumanRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HumanResponse, BoxError>> + Send + 'static,
    {
        FuncHandler(Arc::new(move |request| Box::pin(ask(request))))
    }
}

#[async_trait]
impl HumanHandler for FuncHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        let id = request.id.clone();
        let mut response = (self.0)(request).await?;
        if response.request_id.is_empty() {
            response.request_id = id;
        }
        Ok(Some(response))
    }
}

/// A handler that lists the open requests, for a program that shows them and sends the responses. Clones share it.
///
/// ```
/// use petalflow_envelope::kinds::{HumanResponse, QueuedHandler};
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
    /// use petalflow_envelope::kinds::QueuedHandler;
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
/// use petalflow_envelope::kinds::ChannelHandler;
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
    /// use petalflow_envelope::kinds::{ChannelHandler, HumanResponse};
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

/// A handler that stops the run until the thread is resumed with the response: a
/// [`HumanQuestion`]. The run needs a store. The answer is a [`HumanResponse`], or `None` if the question expired.
///
/// ```
/// use petalflow_envelope::kinds::{HumanConfig, HumanNode, ThreadHandler};
///
/// let node = HumanNode::new(HumanConfig::default())?.handler(ThreadHandler);
/// # let _ = node;
/// # Ok::<(), petalflow_envelope::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadHandler;

/// The question of a [`ThreadHandler`], to answer it.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow_envelope::Envelope;
/// use petalflow_envelope::kinds::{HumanConfig, HumanNode, HumanQuestion, HumanResponse, ThreadHandler};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config = HumanConfig { output_var: "review".into(), ..HumanConfig::default() };
/// let node = HumanNode::new(config)?.handler(ThreadHandler);
/// let flow = Graph::<Envelope>::builder("review").node_as("review", node).build()?;
/// let thread = flow.store(&InMemoryStore::new()).thread("t");
///
/// let paused = thread.run(Envelope::new()).await?;
/// let response = HumanResponse { approved: true, ..HumanResponse::default() };
/// let answer = paused.interrupts()[0].answer::<HumanQuestion>(Some(response))?;
/// let envelope = thread.resume(answer).await?.into_finished()?;
/// assert_eq!(envelope.get_var("review_approved"), Some(&true.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HumanQuestion(pub HumanRequest);

impl Ask for HumanQuestion {
    type Answer = Option<HumanResponse>;
    const NAME: &'static str = "petalflow-envelope/human";

    fn key(&self) -> String {
        self.0.node.clone()
    }

    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        let after = self.0.timeout.0;
        (!after.is_zero()).then_some(Expiry {
            after,
            answer: None,
        })
    }
}

#[async_trait]
impl HumanHandler for ThreadHandler {
    async fn request(
        &self,
        mut request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        // The node asks again after the answer, and the request must have the same identifier.
        request.id = format!("{}-{}", cx.task_id(), request.node);
        let id = request.id.clone();
        let response = cx.ask(HumanQuestion(request)).await?;
        Ok(response.map(|response| HumanResponse {
            request_id: id,
            ..response
        }))
    }
}
