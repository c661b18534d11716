//! Result of the start of a turn.

use crate::AgentEvent;
use crate::conversation::{PendingCall, Speaker, Waiting};
use crate::limits::Usage;
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value};

/// Result of the start of a turn.
pub(super) struct TurnStart {
    pub(super) turn_id: String,
    /// The user's message without credentials, if it contained some. Only the calls that need a credential get it.
    pub(super) message: Option<ChatMessage>,
    pub(super) events: Vec<AgentEvent>,
    pub(super) speakers: Vec<Speaker>,
    /// The state changes of calls of an interrupted turn.
    pub(super) state: Map<String, Value>,
    /// The ids of the calls that decisions have started.
    pub(super) decided: Vec<String>,
    /// The agents that wait for a person after this step; `None` if they are the same as before.
    pub(super) waiting: Option<Vec<Waiting>>,
    /// What steps of an interrupted turn had used, as far as the conversation does not contain it.
    pub(super) spent: Usage,
    pub(super) next: TurnStep,
}

/// The first step of a turn.
pub(super) enum TurnStep {
    /// A model call.
    Ask,
    /// The calls that the user has just decided about.
    Call(Vec<PendingCall>),
    /// None: the input repeats what was decided before.
    End,
}
