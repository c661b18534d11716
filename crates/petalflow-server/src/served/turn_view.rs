//! A thread of an agent or a conversation, as readers of its turns need it.

use petalflow_agent::TurnEnd;

use super::open_question::OpenQuestion;

/// A checkpoint of a thread of an agent or a conversation, as readers of its turns need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnView {
    /// What the conversation has. Of a conversation of a document, this is the state alone, which has its values.
    pub(crate) turn: TurnEnd,
    /// The questions and approvals that the flow waits for.
    pub(crate) questions: Vec<OpenQuestion>,
}

/// Removes a key of the state, because it is secret.
pub(super) fn hide(turn: &mut TurnEnd, key: &str) {
    match key {
        "client" => turn.client = TurnEnd::default().client,
        "events" => turn.events.clear(),
        "state" | "values" => turn.state.clear(),
        "turn_spent" => turn.usage = TurnEnd::default().usage,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use petalflow::State;
    use petalflow_agent::{AgentEvent, ClientSettings, Conversation};
    use petalflow_conversations::ConversationState;

    use super::*;

    #[test]
    fn each_secret_key_is_removed() {
        let mut turn = TurnEnd::default();
        turn.client = ClientSettings::default().instruct("Be brief.");
        turn.events.push(AgentEvent::default());
        turn.state.insert("name".into(), "Ann".into());
        turn.usage.requests = 1;
        let keys = Conversation::KEYS.iter();
        keys.for_each(|key| hide(&mut turn, key.name));
        assert_eq!(turn, TurnEnd::default());

        turn.state.insert("name".into(), "Ann".into());
        let keys = ConversationState::KEYS.iter();
        keys.for_each(|key| hide(&mut turn, key.name));
        assert_eq!(turn, TurnEnd::default());
    }
}
