//! How long a superstep or a placed node may run without news.

use std::time::Duration;

/// How long a superstep or a placed node may run without news.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Restate asks an invocation to stop after this silence.
    pub(crate) inactivity: Duration,
    /// And aborts it this long after it.
    pub(crate) abort: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            inactivity: Duration::from_mins(15),
            abort: Duration::from_mins(1),
        }
    }
}

impl Timeouts {
    /// The silence after which a process drops a node. It is shorter than that of Restate, so that the process says so.
    pub(crate) fn silence(self) -> Duration {
        self.inactivity + self.abort / 2
    }

    /// How often a process looks whether a node has said something.
    pub(crate) fn news_interval(self) -> Duration {
        self.inactivity / 3
    }

    /// Why a node is not begun again.
    pub(crate) fn too_long(self, times: u32) -> String {
        format!(
            "a node ran for {:?} without news, {times} times, and was dropped each time: raise `RestateFlow::timeouts` in drivers and node \
             hosts, or call `cx.heartbeat()` in the node",
            self.silence()
        )
    }
}
