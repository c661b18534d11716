//! The conversation of an agent and its user: the state of the agent's flow, its input, and what models read of it.

pub(crate) mod branch;
mod calls;
mod client;
pub(crate) mod cut;
pub(crate) mod decisions;
pub(crate) mod history;
mod input;
mod pending;
pub(crate) mod repeated;
mod run_resources;
mod speakers;
mod state;
mod turn_end;
mod view;

pub(crate) use calls::{Outcome, PendingCall};
pub use client::ClientSettings;
pub use pending::Pending;
pub(crate) use speakers::{Speaker, Waiting};
pub use state::{Conversation, ConversationEvents, ConversationInput, ConversationSteering};
pub(crate) use state::{
    ConversationCalls, ConversationCuts, ConversationDecided, ConversationMessage,
    ConversationOutcomes, ConversationRemoved, ConversationSpeakers, ConversationSpent,
    ConversationState, ConversationTemp, ConversationThoughtOnlyAnswers, ConversationTurnId,
    ConversationTurnSpent, ConversationUnfinished, ConversationWaiting,
};
pub use turn_end::TurnEnd;

#[cfg(test)]
mod tests {
    use petalflow::State;
    use petalflow::state::KeyFlag;
    use petalflow::tool::ToolCall;
    use serde_json::json;

    use super::*;
    use crate::AgentEvent;

    #[test]
    fn the_names_in_storage_stay() {
        let keys = Conversation::KEYS.iter();
        let keys = keys.filter(|key| !key.has(KeyFlag::Untracked));
        let keys: Vec<&str> = keys.map(|key| key.id).collect();
        assert_eq!(
            keys.join(" "),
            "message events state temp branch invocation speakers waiting calls thoughts spent turn_spent unfinished cuts \
             removed outcomes decided steering client"
        );
        let outcome = json!({ "place": 2, "call": "c", "event": AgentEvent::default() });
        let read = Outcome::of(2, "c", AgentEvent::default());
        assert_eq!(serde_json::to_value(&read).unwrap(), outcome);
        let waiting = Waiting {
            call: ToolCall::default(),
            events: Vec::new(),
            speakers: Vec::new(),
            nested: Some(Vec::new()),
            spent: crate::limits::Usage::default(),
        };
        assert_eq!(serde_json::to_value(&waiting).unwrap()["within"], json!([]));
    }
}
