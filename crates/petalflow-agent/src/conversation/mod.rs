//! The conversation of an agent and its user: the state of the agent's flow, its input, and what models read of it.

pub(crate) mod cut;
pub(crate) mod decisions;
pub(crate) mod history;
mod input;
mod pending;
pub(crate) mod repeated;
mod run_resources;
mod state;
mod view;

pub use pending::Pending;
pub use state::{Conversation, ConversationInput};
pub(crate) use state::{
    ConversationCalls, ConversationCuts, ConversationDecided, ConversationEvents,
    ConversationInvocation, ConversationMessage, ConversationOutcomes, ConversationRemoved,
    ConversationSpeakers, ConversationSpent, ConversationState, ConversationTemp,
    ConversationThoughts, ConversationTurnSpent, ConversationUnfinished, ConversationWaiting,
    Outcome, PendingCall, Speaker, Waiting,
};
