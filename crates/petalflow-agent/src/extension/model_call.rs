//! One model call, as processors and callbacks see it.

use std::fmt;

use serde_json::{Map, Value};

use super::position::{Position, call_methods};
use crate::AgentEvent;
use petalflow_llm::{LlmRequest, TokenUsage};

/// A model call: the request, and its position in the conversation. Processors and callbacks may change the request.
///
/// ```
/// # use petalflow_agent::Agent;
/// # use petalflow_llm::ScriptedModel;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["hello"])).before_model(|call| {
///     call.request.temperature = Some(0.0);
///     call.set_state("asked", true);
///     Ok(None)
/// });
/// assert_eq!(agent.run("hi").await?.state["asked"], true);
/// # Ok(())
/// # }
/// ```
pub struct ModelCall<'a> {
    /// The request to the model.
    pub request: LlmRequest,
    position: Position<'a>,
    /// The changes of the conversation's state by processors and callbacks.
    pub(crate) delta: Map<String, Value>,
    /// The events of processors and callbacks. They come before the model's answer.
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) stage: CallStage,
    /// The text of the answer's earlier pieces.
    pub(crate) so_far: String,
    /// The number of requests that were made to the model.
    pub(crate) requests: u64,
    /// The tokens of the answer, once there is one.
    pub(crate) used: Option<TokenUsage>,
}

/// How far a model call is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallStage {
    /// The request is prepared.
    Request,
    /// The turn ends without a model call.
    Ended,
    /// A callback has answered instead of the model.
    Replaced,
    /// The callbacks get a piece of the model's answer.
    Partial,
    /// The callbacks get the complete answer of the model.
    Complete,
}

impl<'a> ModelCall<'a> {
    pub(crate) fn new(position: Position<'a>) -> Self {
        ModelCall {
            request: LlmRequest::default(),
            position,
            delta: Map::new(),
            events: Vec::new(),
            stage: CallStage::Request,
            so_far: String::new(),
            requests: 0,
            used: None,
        }
    }

    call_methods!(delta);

    /// Whether a callback after the model gets a piece of the answer instead of the complete answer.
    pub fn is_partial(&self) -> bool {
        self.stage == CallStage::Partial
    }

    /// The text of the answer's earlier pieces, without thoughts. Empty for a complete answer.
    pub fn so_far(&self) -> &str {
        if self.is_partial() { &self.so_far } else { "" }
    }

    /// Adds an event to the conversation, before the model's answer. Fills in the id, the turn, the branch and, if it
    /// is empty, the author. Listeners receive it before the model is called.
    pub fn emit(&mut self, event: AgentEvent) {
        let template = self.position.event(self.events.len());
        let event = AgentEvent {
            id: template.id,
            invocation: template.invocation,
            branch: template.branch,
            scope: template.scope,
            author: if event.author.is_empty() {
                template.author
            } else {
                event.author
            },
            ..event
        };
        AgentEvent::emit(self.position.cx, || event.clone());
        self.events.push(event);
    }

    /// Ends the turn without a model call. Emitted events are kept. Only request steps can end the turn: it has no effect in
    /// callbacks.
    pub fn end(&mut self) {
        if self.stage == CallStage::Request {
            self.stage = CallStage::Ended;
        }
    }

    /// Adds a paragraph to the system instructions.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
    /// let agent = Agent::new(model).before_model(|call| {
    ///     call.instruct("Answer in French.");
    ///     Ok(None)
    /// });
    /// assert_eq!(agent.run("hello").await?.answer(), "Answer in French.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn instruct(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match &mut self.request.system {
            Some(system) => {
                system.reserve("\n\n".len() + text.len());
                system.push_str("\n\n");
                system.push_str(text);
            }
            none => *none = Some(text.into()),
        }
    }
}

impl fmt::Debug for ModelCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCall")
            .field("agent", &self.agent())
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
