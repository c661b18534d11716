//! The kinds of faults, and the occurrence at which a fault is injected.

use std::fmt;

/// A kind of fault. Each is tried at its first, second, third … occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The process dies before the store does what was requested: nothing is written.
    KilledBefore,
    /// The process dies after the store has done what was requested, and before the run gets the result.
    KilledAfter,
    /// The store fails from this write until the run ends. It has not done the first write.
    OutageBefore,
    /// The same, but the first write is done.
    OutageAfter,
    /// The store fails once. The write is not done.
    TransientErrorBefore,
    /// The store fails once, although the write is done.
    TransientErrorAfter,
    /// The stream of events is dropped after it has yielded an event.
    Event,
    /// The future of the run is dropped when it is pending.
    Drop,
}

/// What a [`Fault`] hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultTarget {
    /// A call of the store.
    Call,
    /// The stream of events.
    Event,
    /// The future of the run.
    Wait,
}

/// One fault: the n-th occurrence of its kind, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// Which occurrence, counted from 1.
    pub nth: u64,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        FaultKind::KilledBefore,
        FaultKind::KilledAfter,
        FaultKind::OutageBefore,
        FaultKind::OutageAfter,
        FaultKind::TransientErrorBefore,
        FaultKind::TransientErrorAfter,
        FaultKind::Event,
        FaultKind::Drop,
    ];

    /// Those in which the process dies.
    pub const KILLED: [Self; 2] = [FaultKind::KilledBefore, FaultKind::KilledAfter];

    /// What the fault hits.
    pub fn target(self) -> FaultTarget {
        match self {
            FaultKind::Event => FaultTarget::Event,
            FaultKind::Drop => FaultTarget::Wait,
            _ => FaultTarget::Call,
        }
    }

    /// Whether the store does the write before it fails.
    pub(super) fn is_after(self) -> bool {
        matches!(
            self,
            FaultKind::KilledAfter | FaultKind::OutageAfter | FaultKind::TransientErrorAfter
        )
    }

    /// Whether the process dies.
    pub(super) fn kills(self) -> bool {
        matches!(self, FaultKind::KilledBefore | FaultKind::KilledAfter)
    }

    /// Whether the store continues to fail.
    pub(super) fn lasts(self) -> bool {
        matches!(self, FaultKind::OutageBefore | FaultKind::OutageAfter)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { kind, nth } = self;
        match kind {
            FaultKind::KilledBefore => write!(f, "killed before write {nth} to the store"),
            FaultKind::KilledAfter => write!(f, "killed right after write {nth} to the store"),
            FaultKind::OutageBefore => write!(f, "the store not available from write {nth}"),
            FaultKind::OutageAfter => write!(f, "the store not available right after write {nth}"),
            FaultKind::TransientErrorBefore => write!(f, "write {nth} to the store failed"),
            FaultKind::TransientErrorAfter => {
                write!(
                    f,
                    "write {nth} to the store was done and reported as failed"
                )
            }
            FaultKind::Event => write!(f, "the stream of events dropped after event {nth}"),
            FaultKind::Drop => write!(f, "the run dropped when it was pending for the {nth}. time"),
        }
    }
}
