//! Pieces of the answers of models.

use petalflow_agent::AgentEvent;
use petalflow_llm::Part;

/// Who says or does something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Voice {
    /// The name of the agent. Empty for the turn itself, and for a conversation of a document.
    pub(crate) agent: String,
    /// The branch of an agent that another agent has called. Its words are not for the user.
    pub(crate) branch: Option<String>,
    /// The id of the call that the agent works on, if it was given a task.
    pub(crate) scope: Option<String>,
}

/// A piece of the answer of a model, or what makes earlier pieces void.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Streamed {
    Pieces {
        voice: Voice,
        pieces: Vec<Piece>,
    },
    /// The attempt has failed, and another one follows.
    Retry,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Thought(String),
}

impl Voice {
    /// Whether another agent has called this one, so that its words are not for the user.
    pub(crate) fn is_called(&self) -> bool {
        self.branch.is_some()
    }
}

impl From<&AgentEvent> for Voice {
    /// Who has made the event.
    fn from(event: &AgentEvent) -> Self {
        Voice {
            agent: event.author.clone(),
            branch: event.branch.clone(),
            scope: event.scope.clone(),
        }
    }
}

impl Streamed {
    pub(crate) fn text(voice: Voice, text: String) -> Self {
        let pieces = vec![Piece::Text(text)];
        Streamed::Pieces { voice, pieces }
    }

    /// The pieces in an event of an agent, if it is one that has pieces.
    pub(crate) fn of_agent(event: &AgentEvent) -> Option<Self> {
        let message = event.message.as_ref().filter(|_| event.partial)?;
        let pieces = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(Piece::Text(text.text.clone())),
            Part::Thought(text) => Some(Piece::Thought(text.text.clone())),
            _ => None,
        });
        Some(Streamed::Pieces {
            voice: event.into(),
            pieces: pieces.collect(),
        })
    }
}
