//! When the open questions of a run in progress expire.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::question::{Interrupt, InterruptId};

/// When the open questions of a run in progress expire.
///
/// Their times are those of the store. What is left until then is measured with the clock of tokio, which nobody sets.
#[derive(Default)]
pub(super) struct QuestionExpiries {
    at: HashMap<InterruptId, Instant>,
    /// When the first of them expires, and what completes then.
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl QuestionExpiries {
    /// Sets which questions are open. `now_ms` is the time of the store.
    pub(super) fn set<'a>(
        &mut self,
        open: impl Iterator<Item = &'a Interrupt> + Clone,
        now_ms: u64,
    ) {
        let expiring = |open: &Interrupt| Some((open.id, open.expires_ms?));
        let mut known = std::mem::take(&mut self.at);
        for (id, expires_ms) in open.filter_map(expiring) {
            let left = Duration::from_millis(expires_ms.saturating_sub(now_ms));
            // No question is open for so long that the clock has no such time.
            if let Some(at) = known
                .remove(&id)
                .or_else(|| Instant::now().checked_add(left))
            {
                self.at.insert(id, at);
            }
        }
        self.timer = None;
    }

    /// Completes with the questions that have expired, which it forgets.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<InterruptId>> {
        if self.timer.is_none() {
            self.timer = self.next_timer();
        }
        let Some((first, timer)) = &mut self.timer else {
            return Poll::Pending;
        };
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let first = *first;
        self.timer = None;
        let expired = self.at.extract_if(|_, at| *at <= first);
        Poll::Ready(expired.map(|(id, _)| id).collect())
    }

    /// A timer for the first question that expires. `None` if none does, or on another executor, which has no timers: then the next
    /// resume finds what has expired.
    fn next_timer(&self) -> Option<(Instant, Pin<Box<Sleep>>)> {
        let first = self.at.values().min().copied()?;
        tokio::runtime::Handle::try_current().ok()?;
        Some((first, Box::pin(sleep_until(first))))
    }
}
