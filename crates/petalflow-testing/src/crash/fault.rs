//! The faults, and when they occur.

use std::fmt;

/// A kind of fault. Each is tried at its first, second, third … occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Window {
    /// The process dies before the store does what was requested: nothing is written.
    KilledBefore,
    /// The process dies after the store has done what was requested, and before the run gets the result.
    KilledAfter,
    /// The store fails from this write until the run ends. It has not done the first write.
    OutageBefore,
    /// The same, but the first write is done.
    OutageAfter,
    /// The store fails once. The write is not done.
    HiccupBefore,
    /// The store fails once, although the write is done.
    HiccupAfter,
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

/// One fault: the n-th occurrence of its window, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The kind of fault.
    pub window: Window,
    /// Which occurrence, counted from 1.
    pub nth: u64,
}

impl Window {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Window::KilledBefore,
        Window::KilledAfter,
        Window::OutageBefore,
        Window::OutageAfter,
        Window::HiccupBefore,
        Window::HiccupAfter,
        Window::Event,
        Window::Drop,
    ];

    /// Those in which the process dies.
    pub const KILLED: [Self; 2] = [Window::KilledBefore, Window::KilledAfter];

    /// What the fault hits.
    pub fn target(self) -> FaultTarget {
        match self {
            Window::Event => FaultTarget::Event,
            Window::Drop => FaultTarget::Wait,
            _ => FaultTarget::Call,
        }
    }

    /// Whether the store does the write before it fails.
    pub(super) fn is_after(self) -> bool {
        matches!(
            self,
            Window::KilledAfter | Window::OutageAfter | Window::HiccupAfter
        )
    }

    /// Whether the process dies.
    pub(super) fn kills(self) -> bool {
        matches!(self, Window::KilledBefore | Window::KilledAfter)
    }

    /// Whether the store continues to fail.
    pub(super) fn lasts(self) -> bool {
        matches!(self, Window::OutageBefore | Window::OutageAfter)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { window, nth } = self;
        match window {
            Window::KilledBefore => write!(f, "killed before write {nth} to the store"),
            Window::KilledAfter => write!(f, "killed right after write {nth} to the store"),
            Window::OutageBefore => write!(f, "the store not available from write {nth}"),
            Window::OutageAfter => write!(f, "the store not available right after write {nth}"),
            Window::HiccupBefore => write!(f, "write {nth} to the store failed"),
            Window::HiccupAfter => {
                write!(
                    f,
                    "write {nth} to the store was done and reported as failed"
                )
            }
            Window::Event => write!(f, "the stream of events dropped after event {nth}"),
            Window::Drop => write!(f, "the run dropped when it was pending for the {nth}. time"),
        }
    }
}
