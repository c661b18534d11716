//! One call of a model, as processors and callbacks see it.

use std::fmt;

use serde_json::{Map, Value};

use super::at::At;
use super::stream::tell;
use super::{AgentEvent, Conversation};
use petalflow::Context;
use petalflow_llm::LlmRequest;

/// One call of a model: the request that is made, and where. Processors and callbacks may change the request.
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
    /// What the model will be asked.
    pub request: LlmRequest,
    pub(super) at: At<'a>,
    pub(super) delta: Map<String, Value>,
    pub(super) events: Vec<AgentEvent>,
    pub(super) ended: bool,
    pub(super) partial: bool,
    /// The words of the answer's pieces before this one.
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

    /// The name of the agent whose model it is.
    pub fn agent(&self) -> &str {
        &self.at.agent().name
    }

    /// The conversation as it stood when the superstep began.
    pub fn conversation(&self) -> &Conversation {
        self.at.conversation
    }

    /// The run.
    pub fn cx(&self) -> &Context {
        self.at.cx
    }

    /// Whether a callback after the model sees a piece of the answer rather than the whole.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The words of the answer that came before a piece, without thoughts; empty where the answer is seen whole.
    pub fn so_far(&self) -> &str {
        if self.partial { &self.so_far } else { "" }
    }

    /// A value of the conversation's state, with what was set since.
    pub fn state(&self, key: &str) -> Option<Value> {
        self.at.state(&self.delta, key)
    }

    /// Sets a value of the conversation's state.
    pub fn set_state(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.delta.insert(key.into(), value.into());
    }

    /// Adds an event to the conversation, before what the model says. Id, turn, branch and, where it is empty, the author are
    /// filled in. Who listens hears it before the model is asked.
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
        tell(self.at.cx, &event);
        self.events.push(event);
    }

    /// Ends the turn without calling the model. What was emitted stays.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Adds to what sets the model up, as a paragraph of its own.
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
