//! Where a turn begins and ends in the log of its thread.

use std::sync::Arc;

use petalflow::event::LoggedEvent;

use super::begin::Turn;
use crate::refusal::Refusal;
use crate::served::ServedThreads;
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

    /// The last turn of a thread, as far as its log shows.
    pub(crate) async fn newest(
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
    ) -> Result<Self, Refusal> {
        let events = flow.events_since(thread, 0).await?;
        let mut ends = events.iter().rev();
        let is_end = |event: &&LoggedEvent| Logged::of(event).is_some_and(|it| it.ends_turn());
        let last = events.last().map(|last| last.number);
        // The end of the last turn is no beginning of another one.
        let before = ends.find(|event| is_end(event) && Some(event.number) != last);
        let after = before.map_or(0, |end| end.number);
        Ok(Turn::attach(flow, thread.to_string(), after))
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
