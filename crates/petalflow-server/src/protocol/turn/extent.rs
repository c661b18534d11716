//! Where a turn begins and ends in the log of its thread.

use super::begin::Turn;
use crate::refusal::Refusal;
use crate::turn_parts::Logged;

/// Where a turn is in its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The number of its last event. `None` while it runs.
    pub(crate) end: Option<u64>,
    /// The checkpoint at its end.
    pub(crate) checkpoint: Option<u64>,
    /// Whether no turn follows.
    pub(crate) is_last: bool,
}

impl Turn {
    /// Where the turn is in its thread. `None` if the log does not have its start.
    pub(crate) async fn extent(&self) -> Result<Option<Extent>, Refusal> {
        let events = self.flow.events_since(&self.thread, self.after).await?;
        let (Some(first), Some(last)) = (events.first(), events.last()) else {
            return Ok(None);
        };
        if first.number != self.after + 1 {
            return Ok(None);
        }
        let mut extent = Extent {
            is_last: true,
            ..Extent::default()
        };
        for event in &events {
            match Logged::of(event) {
                Some(Logged::Checkpoint(checkpoint)) => extent.checkpoint = Some(checkpoint),
                Some(logged) if logged.ends_turn() => {
                    extent.end = Some(event.number);
                    extent.is_last = event.number == last.number;
                    break;
                }
                _ => {}
            }
        }
        Ok(Some(extent))
    }

    /// The number of the last event before the turn that was before this one. `None` for the first turn.
    #[cfg(feature = "openai")]
    pub(crate) async fn previous(&self) -> Result<Option<u64>, Refusal> {
        let events = self.flow.events_since(&self.thread, 0).await?;
        let before = events.iter().filter(|event| event.number <= self.after);
        let ends = before
            .filter(|event| Logged::of(event).is_some_and(|logged| logged.ends_turn()))
            .map(|event| event.number);
        let mut ends: Vec<u64> = ends.collect();
        let is_second_or_later = ends.pop().is_some();
        Ok(is_second_or_later.then(|| ends.pop().unwrap_or(0)))
    }
}
