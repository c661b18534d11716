//! What a conversation has when a turn has ended.

use serde_json::{Map, Value};

use super::client::ClientSettings;
use super::pending::Pending;
use super::state::Conversation;
use crate::AgentEvent;
use crate::limits::Usage;

/// What a conversation has when a turn has ended, for programs that report turns to clients, such as servers.
///
/// ```
/// use petalflow_agent::{Agent, TurnEnd};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let end = TurnEnd::from(Agent::new(ScriptedModel::new(["hello"])).run("hi").await?);
/// assert!(end.pending.is_empty());
/// assert_eq!((end.events.len(), end.usage.requests), (2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// What the conversation waits for, in the order of the requests.
    pub pending: Vec<Pending>,
    /// What the client has added to the turn.
    pub client: ClientSettings,
    /// What the turn has used, with the agents that were called.
    pub usage: Usage,
    /// The state that tools and callbacks write.
    pub state: Map<String, Value>,
    /// The events of all turns.
    pub events: Vec<AgentEvent>,
}

impl From<Conversation> for TurnEnd {
    fn from(talk: Conversation) -> Self {
        TurnEnd {
            pending: talk.pending(),
            client: talk.client,
            usage: talk.turn_spent,
            state: talk.state,
            events: talk.events,
        }
    }
}
