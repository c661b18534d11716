//! What agents that run at the same time have used, before their caller's conversation contains it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Usage;

/// The usage of the called agents of a run that still work, by a number for each call.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    used: BTreeMap<u64, Usage>,
}

/// The part of one called agent in a [`Meter`].
#[derive(Debug)]
pub(crate) struct Share {
    meter: Arc<Meter>,
    /// Its own number, after those of the called agents that it works for.
    line: Vec<u64>,
    /// The count of its conversation when it was called.
    start: Usage,
}

impl Share {
    /// A share for a call by the agent with the share `caller`.
    pub(crate) fn new(meter: &Arc<Meter>, caller: Option<&Share>, start: Usage) -> Self {
        let mut entries = meter.entries();
        let number = entries.next;
        entries.next += 1;
        let mut line = caller.map_or_else(Vec::new, |caller| caller.line.clone());
        line.push(number);
        Share {
            meter: Arc::clone(meter),
            line,
            start,
        }
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// The number of the call.
    pub(crate) fn number(&self) -> u64 {
        self.line.last().copied().unwrap_or_default()
    }

    /// Calls `check` with what the other agents have used, and then reserves `next`, without a pause between both.
    pub(crate) fn reserve<E>(
        &self,
        committed: Usage,
        next: Usage,
        check: impl FnOnce(Usage) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut entries = self.meter.entries();
        let others = entries.used.iter();
        let others = others.filter(|(number, _)| !self.line.contains(number));
        check(others.fold(Usage::default(), |sum, (_, used)| sum + *used))?;
        let used = committed.since(&self.start) + next;
        entries.used.insert(self.number(), used);
        Ok(())
    }

    /// Replaces what was reserved.
    pub(crate) fn set(&self, committed: Usage, next: Usage) {
        let used = committed.since(&self.start) + next;
        self.meter.entries().used.insert(self.number(), used);
    }
}

impl Meter {
    /// What a call has used so far.
    pub(crate) fn used(&self, call: u64) -> Usage {
        self.entries().used.get(&call).copied().unwrap_or_default()
    }

    /// Removes calls whose usage is part of their caller's conversation now.
    pub(crate) fn remove(&self, calls: &[u64]) {
        let mut entries = self.entries();
        for call in calls {
            entries.used.remove(call);
        }
    }

    /// No code panics while it holds the lock, so the entries are always consistent.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
