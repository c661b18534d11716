//! Counts the usage of called agents while they run, before the conversation of their caller contains it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Limits, Usage};
use petalflow::Context;

/// The usage of the called agents of a run that still work, by a number for each call.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    /// By the number of the call: the numbers of the called agents that it works for and its own, and what it has used.
    used: BTreeMap<u64, (Arc<[u64]>, Usage)>,
}

/// A managed value of the runs of agents: the part of the called agent, and `None` for a run that no agent has called.
#[derive(Debug)]
pub(crate) struct OwnShare(pub(crate) Option<Share>);

/// The part of one called agent in a [`Meter`].
#[derive(Debug)]
pub(crate) struct Share {
    meter: Arc<Meter>,
    /// Its own number, after those of the called agents that it works for.
    line: Arc<[u64]>,
    /// The limits of these calls.
    limits: Arc<[CallLimits]>,
    /// The count of its conversation when it was called.
    start: Usage,
    /// The call in the conversation that is not itself that of a called agent.
    outermost: Context,
    /// The call.
    own: Context,
}

/// The limits of one call of an agent. They hold for it, and for the agents that work for it.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    /// The agent that was called.
    pub(crate) agent: Arc<str>,
    pub(crate) limits: Limits,
    /// What the call had used before it waited for a person.
    pub(crate) earlier: Usage,
}

impl Share {
    /// A share for a call in this context, by the agent with the share `caller`. An earlier run of the call has used `before`.
    pub(crate) fn new(
        meter: &Arc<Meter>,
        caller: Option<&Share>,
        start: Usage,
        before: Usage,
        cx: &Context,
        limits: CallLimits,
    ) -> Self {
        let mut entries = meter.entries();
        let number = entries.next;
        entries.next += 1;
        let line = caller.into_iter().flat_map(|caller| caller.line.iter());
        let above = caller.into_iter().flat_map(|caller| caller.limits.iter());
        let outermost = caller.map_or(cx, |caller| &caller.outermost);
        let share = Share {
            meter: Arc::clone(meter),
            line: line.copied().chain([number]).collect(),
            limits: above.cloned().chain([limits]).collect(),
            start,
            outermost: outermost.clone(),
            own: cx.clone(),
        };
        share.insert(&mut entries, before);
        drop(entries);
        share
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// The number of the call.
    pub(crate) fn number(&self) -> u64 {
        self.line.last().copied().unwrap_or_default()
    }

    /// Calls `check` with what the other agents have used, and with the limits of the calls that it works for and what they have
    /// used. Then reserves `next`, without a pause between both. The count `committed` contains what `finished` calls have used.
    pub(crate) fn reserve<E>(
        &self,
        committed: Usage,
        finished: &[u64],
        next: Usage,
        check: impl FnOnce(Usage, &[(&CallLimits, Usage)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut entries = self.meter.entries();
        entries.remove(finished);
        let used = committed.since(&self.start);
        self.insert(&mut entries, used);
        let others = entries.used.iter();
        let others = others.filter(|(number, _)| !self.line.contains(number));
        let others = others.fold(Usage::default(), |sum, (_, (_, used))| sum + *used);
        let calls = self.line.iter().zip(self.limits.iter());
        let calls = calls.map(|(call, limits)| (limits, limits.earlier + entries.used(*call)));
        let calls: Vec<(&CallLimits, Usage)> = calls.collect();
        check(others, &calls)?;
        self.insert(&mut entries, used + next);
        Ok(())
    }

    /// Replaces what was reserved.
    pub(crate) fn set(&self, committed: Usage, next: Usage) {
        let used = committed.since(&self.start) + next;
        self.insert(&mut self.meter.entries(), used);
    }

    /// The contexts of the calls of which the store has what they have used so far, in case that they do not finish.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&Context, Usage)> {
        self.limited().into_iter().chain([self.outermost()])
    }

    /// The context of the outermost call, and what the agents that work for it have used so far.
    fn outermost(&self) -> (&Context, Usage) {
        let number = self.line.first().copied().unwrap_or_default();
        (&self.outermost, self.meter.used(number))
    }

    /// The context of the call and what it has used so far, if it works for a called agent and one of their calls is limited: after
    /// a crash, the limits must know what others have used that have not made a request yet.
    fn limited(&self) -> Option<(&Context, Usage)> {
        let none = Limits::default();
        let is_limited = self.limits.iter().any(|call| call.limits != none);
        let is_needed = self.line.len() > 1 && is_limited;
        is_needed.then(|| (&self.own, self.meter.used(self.number())))
    }

    /// Whether a limit of a call depends on the tokens of the next request.
    pub(crate) fn need_estimate(&self) -> bool {
        self.limits.iter().any(|call| call.limits.need_estimate())
    }

    fn insert(&self, entries: &mut Entries, used: Usage) {
        let line = Arc::clone(&self.line);
        entries.used.insert(self.number(), (line, used));
    }
}

impl Meter {
    /// What a call has used so far, with the calls that it has made itself.
    pub(crate) fn used(&self, call: u64) -> Usage {
        self.entries().used(call)
    }

    /// Removes calls whose usage is part of their caller's conversation now.
    pub(crate) fn remove(&self, calls: &[u64]) {
        self.entries().remove(calls);
    }

    /// No code panics while it holds the lock, so the entries are always consistent.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn used(&self, call: u64) -> Usage {
        let used = self.used.values();
        let used = used.filter(|(line, _)| line.contains(&call));
        used.fold(Usage::default(), |sum, (_, used)| sum + *used)
    }

    fn remove(&mut self, calls: &[u64]) {
        for call in calls {
            self.used.remove(call);
        }
    }
}
