//! A model with scripted responses.

mod reply;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream;

pub use reply::Reply;

use crate::stream::StreamEvent;
use crate::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;

/// A model with scripted responses: immediate and deterministic, for tests and for programs that run without a key.
///
/// It records requests. Clones share the script and the requests: a test gives a clone to an agent, and reads the requests
/// of the model afterwards. Delays take no time under paused time (`#[tokio::test(start_paused = true)]`).
///
/// ```
/// use petalflow_llm::{LlmClient, LlmRequest, Reply, ScriptedModel};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow_llm::LlmError> {
/// let model = ScriptedModel::new([Reply::call("search", json!({"for": "petals"})), "Five.".into()]);
/// let request = LlmRequest::prompt("How many petals has a wild rose?");
/// assert_eq!(model.complete(&request).await?.calls().count(), 1);
/// assert_eq!(model.complete(&request).await?.text(), "Five.");
/// assert_eq!(model.requests(), [request.clone(), request.clone()]);
///
/// let error = model.complete(&request).await.unwrap_err();
/// assert_eq!(error.to_string(), "the script of model `scripted` has 2 replies, and this is request 3; add a reply");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    name: String,
    capabilities: Capabilities,
    script: Arc<Script>,
    /// `None` if requests are not recorded.
    requests: Option<Arc<Mutex<Vec<LlmRequest>>>>,
}

enum Script {
    InOrder(Mutex<Replies>),
    Function(Box<dyn Fn(&LlmRequest) -> Reply + Send + Sync>),
}

/// The unused replies of a script.
struct Replies {
    unused: VecDeque<Reply>,
    /// The number of replies at the start.
    total: usize,
    requests: usize,
}

impl ScriptedModel {
    /// A model that answers with these replies, in order.
    pub fn new(replies: impl IntoIterator<Item = impl Into<Reply>>) -> Self {
        let replies: VecDeque<_> = replies.into_iter().map(Into::into).collect();
        Self::with_script(Script::InOrder(Mutex::new(Replies {
            total: replies.len(),
            unused: replies,
            requests: 0,
        })))
    }

    /// A model that computes its replies with this function.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let parrot = ScriptedModel::from_fn(|request| request.input_text.clone().unwrap_or_default());
    /// assert_eq!(parrot.complete(&LlmRequest::prompt("hello")).await?.text(), "hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_fn<R: Into<Reply>>(
        reply: impl Fn(&LlmRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        let reply = move |request: &LlmRequest| reply(request).into();
        Self::with_script(Script::Function(Box::new(reply)))
    }

    fn with_script(script: Script) -> Self {
        ScriptedModel {
            name: "scripted".to_string(),
            capabilities: Capabilities::default(),
            script: Arc::new(script),
            requests: Some(Arc::default()),
        }
    }

    /// Sets the name.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ScriptedModel};
    ///
    /// assert_eq!(ScriptedModel::new(["hi"]).with_name("openai").name(), "openai");
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the capabilities.
    ///
    /// ```
    /// use petalflow_llm::{Capabilities, LlmClient, ScriptedModel};
    ///
    /// let model = ScriptedModel::new(["hi"]).with_capabilities(Capabilities::default().with_schema_with_tools());
    /// assert!(model.capabilities().schema_with_tools);
    /// ```
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Turns off the recording of requests. For measurements: a recorded request shares its messages, and code that
    /// continues the conversation must then copy them.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    ///
    /// assert!(ScriptedModel::new(["hi"]).without_recording().requests().is_empty());
    /// ```
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.requests = None;
        self
    }

    /// The recorded requests, in order.
    pub fn requests(&self) -> Vec<LlmRequest> {
        let requests = self.requests.as_ref();
        requests
            .map(|requests| lock(requests).clone())
            .unwrap_or_default()
    }

    /// The last recorded request.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let model = ScriptedModel::new(["Paris", "Rome"]);
    /// assert!(model.last_request().is_none());
    /// model.complete(&LlmRequest::prompt("France?")).await?;
    /// assert_eq!(model.last_request().unwrap().transcript(), ["user: France?"]);
    /// assert_eq!(model.remaining(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_request(&self) -> Option<LlmRequest> {
        lock(self.requests.as_ref()?).last().cloned()
    }

    /// The number of unused replies. 0 for a function.
    pub fn remaining(&self) -> usize {
        match &*self.script {
            Script::InOrder(replies) => lock(replies).unused.len(),
            Script::Function(_) => 0,
        }
    }

    fn reply(&self, request: &LlmRequest) -> Reply {
        if let Some(requests) = &self.requests {
            lock(requests).push(request.clone());
        }
        match &*self.script {
            Script::Function(reply) => reply(request),
            Script::InOrder(replies) => {
                let mut replies = lock(replies);
                replies.requests += 1;
                let reply = replies.unused.pop_front();
                reply.unwrap_or_else(|| self.exhausted(replies.total, replies.requests).into())
            }
        }
    }

    fn exhausted(&self, total: usize, requests: usize) -> LlmError {
        let name = &self.name;
        let replies = match total {
            1 => "1 reply".to_string(),
            total => format!("{total} replies"),
        };
        LlmError::request(format!(
            "the script of model `{name}` has {replies}, and this is request {requests}; add a reply"
        ))
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl LlmClient for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let reply = self.reply(request);
        wait(reply.before).await;
        reply.into_response()?.checked(request)
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let reply = self.reply(request);
        wait(reply.before).await;
        let between = reply.between;
        let (deltas, end) = reply.split();
        let end = match end {
            Ok(rest) => Ok(StreamEvent::End(Box::new(rest))),
            // A failure before the first chunk is returned at once.
            Err(error) if deltas.is_empty() => return Err(error),
            Err(error) => Err(error),
        };
        let chunks = deltas
            .into_iter()
            .map(|delta| Ok(StreamEvent::Delta(delta)));
        let chunks = chunks.chain([end]);
        Ok(LlmStream::new(
            request,
            stream::unfold((chunks, false), move |(mut chunks, started)| async move {
                let chunk = chunks.next()?;
                if started {
                    wait(between).await;
                }
                Some((chunk, (chunks, true)))
            }),
        ))
    }
}

/// Waits, and does not read the clock if the duration is zero.
async fn wait(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

/// No code panics while it holds the lock, so the value is always consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
