//! A model with scripted responses.

mod reply;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream;

pub use reply::Reply;

use super::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, StreamEvent};
use petalflow::async_trait;

/// A model with scripted responses: immediate and deterministic, for tests and for programs that run without a key.
///
/// It records requests. Delays take no time under paused time (`#[tokio::test(start_paused = true)]`).
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
pub struct ScriptedModel {
    name: String,
    capabilities: Capabilities,
    script: Script,
    /// `None` if requests are not recorded.
    asked: Option<Mutex<Vec<LlmRequest>>>,
}

enum Script {
    InOrder(Mutex<Left>),
    Function(Box<dyn Fn(&LlmRequest) -> Reply + Send + Sync>),
}

/// The unused replies of a script.
struct Left {
    replies: VecDeque<Reply>,
    /// The number of replies at the start.
    all: usize,
    asked: usize,
}

impl ScriptedModel {
    /// A model that answers with these replies, in order.
    pub fn new(replies: impl IntoIterator<Item = impl Into<Reply>>) -> Self {
        let replies: VecDeque<_> = replies.into_iter().map(Into::into).collect();
        Self::with_script(Script::InOrder(Mutex::new(Left {
            all: replies.len(),
            replies,
            asked: 0,
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
            script,
            asked: Some(Mutex::default()),
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
    /// assert!(ScriptedModel::new(["hi"]).forgetful().requests().is_empty());
    /// ```
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.asked = None;
        self
    }

    /// The recorded requests, in order.
    pub fn requests(&self) -> Vec<LlmRequest> {
        let asked = self.asked.as_ref();
        asked.map(|asked| lock(asked).clone()).unwrap_or_default()
    }

    fn reply(&self, request: &LlmRequest) -> Reply {
        if let Some(asked) = &self.asked {
            lock(asked).push(request.clone());
        }
        match &self.script {
            Script::Function(reply) => reply(request),
            Script::InOrder(left) => {
                let mut left = lock(left);
                left.asked += 1;
                let reply = left.replies.pop_front();
                reply.unwrap_or_else(|| self.over(left.all, left.asked).into())
            }
        }
    }

    fn over(&self, all: usize, asked: usize) -> LlmError {
        let name = &self.name;
        let replies = match all {
            1 => "1 reply".to_string(),
            all => format!("{all} replies"),
        };
        LlmError::request(format!(
            "the script of model `{name}` has {replies}, and this is request {asked}; add a reply"
        ))
    }
}

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
        reply.whole()?.checked(request)
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
        let pieces = deltas
            .into_iter()
            .map(|delta| Ok(StreamEvent::Delta(delta)));
        let pieces = pieces.chain([end]);
        Ok(LlmStream::new(
            request,
            stream::unfold((pieces, false), move |(mut pieces, begun)| async move {
                let piece = pieces.next()?;
                if begun {
                    wait(between).await;
                }
                Some((piece, (pieces, true)))
            }),
        ))
    }
}

/// Waits, and does not read the clock if the duration is zero.
async fn wait(long: Duration) {
    if !long.is_zero() {
        tokio::time::sleep(long).await;
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
