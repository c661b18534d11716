//! Where a turn ends in the log of its thread.

use super::begin::Turn;
use super::logged::Logged;
use crate::refusal::Refusal;

/// Where a turn is in its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The number of its last event. `None` while it runs.
    pub(crate) end: Option<u64>,
    /// The checkpoint at its end.
    pub(crate) checkpoint: Option<u64>,
    /// Whether no turn follows.
    pub(crate) is_last: bool,
    /// The number of the last event before the turn that was before it. `None` for the first turn.
    pub(crate) previous: Option<u64>,
}

impl Turn {
    /// Where the turn is in its thread. `None` if the log does not have its start.
    pub(crate) async fn extent(&self) -> Result<Option<Extent>, Refusal> {
        let events = self.flow.events_since(&self.thread, 0).await?;
        let last = events.last().map(|last| last.number);
        let is_logged = events.iter().any(|event| event.number == self.after + 1);
        if !is_logged {
            return Ok(None);
        }
        let mut extent = Extent::default();
        let mut begin = 0;
        for event in &events {
            let is_before = event.number <= self.after;
            match Logged::of(event) {
                Some(Logged::Checkpoint(checkpoint)) if !is_before => {
                    extent.checkpoint = Some(checkpoint);
                }
                Some(logged) if logged.ends_turn() => {
                    if is_before {
                        extent.previous = Some(begin);
                        begin = event.number;
                        continue;
                    }
                    extent.end = Some(event.number);
                    extent.is_last = extent.end == last;
                    return Ok(Some(extent));
                }
                _ => {}
            }
        }
        Ok(Some(Extent {
            is_last: true,
            ..extent
        }))
    }
}
