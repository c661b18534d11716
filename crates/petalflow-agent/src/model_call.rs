//! One model call, as processors and callbacks see it.

use std::fmt;

use serde_json::{Map, Value};

use super::at::At;
use super::stream;
use super::{AgentEvent, Conversation};
use petalflow::Context;
use petalflow_llm::LlmRequest;

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
    pub(super) at: At<'a>,
    pub(super) delta: Map<String, Value>,
    pub(super) events: Vec<AgentEvent>,
    pub(super) ended: bool,
    pub(super) partial: bool,
    /// The text of the answer's earlier pieces.
    pub(super) so_far: String,
}

impl<'a> ModelCall<'a> {
    pub(super) fn new(at: At<'a>) -> Self {
        ModelCall {
            request: LlmRequest::default(),
            at,
            delta: Map::new(),
            events: Vec::new(),
            ended: false,
            partial: false,
            so_far: String::new(),
        }
    }

    /// The name of the agent that makes the call.
    pub fn agent(&self) -> &str {
        &self.at.agent().name
    }

    /// The conversation as it was when the superstep began.
    pub fn conversation(&self) -> &Conversation {
        self.at.conversation
    }

    /// The context of the run.
    pub fn cx(&self) -> &Context {
        self.at.cx
    }

    /// Whether a callback after the model gets a piece of the answer instead of the complete answer.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The text of the answer's earlier pieces, without thoughts. Empty for a complete answer.
    pub fn so_far(&self) -> &str {
        if self.partial { &self.so_far } else { "" }
    }

    /// A value of the conversation's state, with the changes of this call.
    pub fn state(&self, key: &str) -> Option<Value> {
        self.at.state(&self.delta, key)
    }

    /// Sets a value of the conversation's state.
    pub fn set_state(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.delta.insert(key.into(), value.into());
    }

    /// Adds an event to the conversation, before the model's answer. Fills in the id, the turn, the branch and, if it
    /// is empty, the author. Listeners receive it before the model is called.
    pub fn emit(&mut self, event: AgentEvent) {
        let filled = self.at.event(self.events.len());
        let event = AgentEvent {
            id: filled.id,
            invocation: filled.invocation,
            branch: filled.branch,
            scope: filled.scope,
            author: if event.author.is_empty() {
                filled.author
            } else {
                event.author
            },
            ..event
        };
        stream::emit(self.at.cx, || event.clone());
        self.events.push(event);
    }

    /// Ends the turn without a model call. Emitted events are kept.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Adds a paragraph to the system instructions.
    pub fn instruct(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match &mut self.request.system {
            Some(system) => {
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
