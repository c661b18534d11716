//! The stored form of the events of a turn.

use petalflow::event::{EventName, LoggedEvent};
use petalflow_agent::AgentEvent;
use petalflow_conversations::ConversationEvent;
use serde::Deserialize;
use serde_json::Value;

use super::streamed::{Streamed, Voice};

/// A stored event of a turn, as far as readers need it.
#[derive(Debug)]
pub(crate) enum Logged {
    /// A run has begun. In a turn, a second one continues it after a crash.
    RunStarted,
    NodeFinished,
    Checkpoint(u64),
    Streamed(Streamed),
    /// A message or an action of an agent.
    Agent(Box<AgentEvent>),
    Conversation(ConversationEvent),
    Finished,
    Interrupted(Vec<Value>),
    Failed {
        error: String,
        reason: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Stored {
    namespace: String,
    value: Value,
    checkpoint: u64,
    interrupts: Vec<Value>,
    error: Value,
    reason: Option<String>,
}

impl Logged {
    /// Whether it ends a turn. The next process continues one that was drained.
    pub(crate) fn ends_turn(&self) -> bool {
        match self {
            Logged::Finished | Logged::Interrupted(_) => true,
            Logged::Failed { reason, .. } => reason.as_deref() != Some("drained"),
            _ => false,
        }
    }

    /// The stored event. `None` if no reader needs it. The events of called agents are in the log of their caller, except for the
    /// start and the end of their runs, which are not those of the turn.
    pub(crate) fn of(event: &LoggedEvent) -> Option<Self> {
        let stored: Stored = event.value.decode().ok()?;
        let is_nested = !stored.namespace.is_empty();
        Some(match event.name()? {
            EventName::Custom => return custom(stored.value, is_nested),
            _ if is_nested => return None,
            EventName::RunStarted => Logged::RunStarted,
            EventName::NodeFinished | EventName::NodeRestored => Logged::NodeFinished,
            EventName::Checkpoint => Logged::Checkpoint(stored.checkpoint),
            EventName::Retry => Logged::Streamed(Streamed::Retry),
            EventName::Finished => Logged::Finished,
            EventName::Interrupted => Logged::Interrupted(stored.interrupts),
            EventName::Failed => Logged::Failed {
                error: match stored.error {
                    Value::String(text) => text,
                    other => other.to_string(),
                },
                reason: stored.reason,
            },
            _ => return None,
        })
    }
}

/// Whether an event of a thread that an engine runs says that its task begins again.
pub(super) fn restarts(event: &LoggedEvent) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Restarts {
        restarts: bool,
    }
    let stored = event.value.decode::<Restarts>();
    stored.is_ok_and(|stored| stored.restarts)
}

/// The event of an agent or of a conversation in a value that a node has emitted.
fn custom(mut value: Value, is_nested: bool) -> Option<Logged> {
    if let Some(event) = value.get_mut("agent_event") {
        let event: AgentEvent = serde_json::from_value(event.take()).ok()?;
        if !event.partial {
            return Some(Logged::Agent(Box::new(event)));
        }
        // Only the pieces of the flow itself have numbers. The words of called agents come whole.
        let piece = Streamed::of_agent(&event).filter(|_| !is_nested)?;
        return Some(Logged::Streamed(piece));
    }
    if is_nested {
        return None;
    }
    let event: ConversationEvent = serde_json::from_value(value).ok()?;
    Some(match event {
        ConversationEvent::Piece { text } => {
            Logged::Streamed(Streamed::text(Voice::default(), text))
        }
        event => Logged::Conversation(event),
    })
}
