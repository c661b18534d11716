//! The conversation of an agent and its user: the state of the agent's flow, its input, and what models read of it.

mod calls;
pub(crate) mod cut;
pub(crate) mod decisions;
pub(crate) mod history;
mod input;
mod pending;
pub(crate) mod repeated;
mod run_resources;
mod speakers;
mod state;
mod view;

pub(crate) use calls::{Outcome, PendingCall};
pub use pending::Pending;
pub(crate) use speakers::{Speaker, Waiting};
pub use state::{Conversation, ConversationInput};
pub(crate) use state::{
    ConversationCalls, ConversationCuts, ConversationDecided, ConversationEvents,
    ConversationMessage, ConversationOutcomes, ConversationRemoved, ConversationSpeakers,
    ConversationSpent, ConversationState, ConversationTemp, ConversationThoughtOnlyAnswers,
    ConversationTurnId, ConversationTurnSpent, ConversationUnfinished, ConversationWaiting,
};
