//! Where a turn begins in its thread, as the ids that clients have say it.

use std::fmt;
use std::sync::Arc;

use super::queued::{Begun, QueueState, QueuedTurn};
use super::turn::Turn;
use crate::refusal::Refusal;
use crate::request_labels;
use crate::served::{Labels, ServedThreads};
use crate::server::Inner;

/// Where a turn begins in its thread, as an id for clients says it. An id that was given to a queued request stays that of its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnStart {
    /// The number of the last event before the turn.
    After(u64),
    /// The short name of a request that was queued.
    Queued(String),
}

impl TurnStart {
    pub(crate) fn of(begun: &Begun) -> Self {
        match begun {
            Begun::Turn(turn) => Self::of_turn(turn),
            Begun::Queued(queued) => TurnStart::Queued(queued.mark.clone()),
        }
    }

    pub(crate) fn of_turn(turn: &Turn) -> Self {
        let queued = turn.queued_as.clone().map(TurnStart::Queued);
        queued.unwrap_or(TurnStart::After(turn.after))
    }

    /// The turn after this event, as the labels of its thread say how clients know it.
    pub(crate) fn known_by(labels: &Labels, after: u64) -> Self {
        let mark = request_labels::queued_before(labels, after);
        mark.map_or(TurnStart::After(after), |mark| {
            TurnStart::Queued(mark.to_string())
        })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let Some(mark) = text.strip_prefix('q') else {
            return text.parse().ok().map(TurnStart::After);
        };
        let is_hex = mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| TurnStart::Queued(mark.to_string()))
    }

    /// The turn that begins here. `None` if the request is unknown.
    pub(crate) async fn begun(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
    ) -> Result<Option<Begun>, Refusal> {
        let mark = match self {
            TurnStart::After(after) => {
                return Ok(Some(Begun::Turn(Turn::attach(flow, thread, *after))));
            }
            TurnStart::Queued(mark) => mark.clone(),
        };
        let queued = QueuedTurn {
            flow: Arc::clone(flow),
            thread,
            mark,
        };
        Ok(queued.state(server).await?.map(|state| match state {
            QueueState::Begun(turn) => Begun::Turn(turn),
            QueueState::Waits(_) | QueueState::Cancelled { .. } => Begun::Queued(queued),
        }))
    }
}

impl fmt::Display for TurnStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TurnStart::After(after) => write!(f, "{after}"),
            TurnStart::Queued(mark) => write!(f, "q{mark}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_start_of_a_turn_is_read_as_it_is_written() {
        for start in [
            TurnStart::After(12),
            TurnStart::Queued(request_labels::mark("a")),
        ] {
            assert_eq!(TurnStart::parse(&start.to_string()), Some(start));
        }
        for other in ["", "q", "q12", "qzzzzzzzzzzzzzzzz", "-1"] {
            assert_eq!(TurnStart::parse(other), None);
        }
    }
}
