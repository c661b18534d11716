//! What goes wrong, and when.

use std::fmt;

/// At which moments of a run something may go wrong. Each is tried at its first, second, third … occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Window {
    /// The process dies before the store has done what was asked: nothing is written.
    KilledBefore,
    /// The process dies when the store has done what was asked, and before the run learns of it.
    KilledAfter,
    /// The store fails, and goes on failing until the run has ended. It has not done what it was asked first.
    OutageBefore,
    /// The same, but what was asked first was done.
    OutageAfter,
    /// The store fails once, without having done what was asked.
    HiccupBefore,
    /// The store fails once, although it has done what was asked.
    HiccupAfter,
    /// The stream of events is dropped when it has yielded an event.
    Event,
    /// The run is dropped where it waits.
    Drop,
}

/// Who is struck by a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Moment {
    /// A call of the store.
    Call,
    /// The stream of events.
    Event,
    /// The future of the run.
    Wait,
}

/// One thing that goes wrong: at the n-th occurrence of its window, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// At which moments.
    pub window: Window,
    /// At which of them, from 1.
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

    /// The deaths of a process.
    pub const KILLED: [Self; 2] = [Window::KilledBefore, Window::KilledAfter];

    /// Who is struck.
    pub fn moment(self) -> Moment {
        match self {
            Window::Event => Moment::Event,
            Window::Drop => Moment::Wait,
            _ => Moment::Call,
        }
    }

    /// Whether the store does what it was asked before it fails.
    pub(super) fn is_after(self) -> bool {
        matches!(
            self,
            Window::KilledAfter | Window::OutageAfter | Window::HiccupAfter
        )
    }

    /// Whether the process is gone.
    pub(super) fn kills(self) -> bool {
        matches!(self, Window::KilledBefore | Window::KilledAfter)
    }

    /// Whether the store goes on failing.
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
            Window::OutageBefore => write!(f, "no store from write {nth} on"),
            Window::OutageAfter => write!(f, "no store right after write {nth}"),
            Window::HiccupBefore => write!(f, "write {nth} to the store failed"),
            Window::HiccupAfter => {
                write!(
                    f,
                    "write {nth} to the store was done and said to have failed"
                )
            }
            Window::Event => write!(f, "the events dropped after event {nth}"),
            Window::Drop => write!(f, "the run dropped at wait {nth}"),
        }
    }
}
