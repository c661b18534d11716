//! The error of flows that are too deep inside each other.

use std::fmt;

/// How many levels deep flows can be inside each other by default. Without optimization, each level takes up to 65 kB of the stack of its
/// thread, which has 2 MB by default.
pub(crate) const DEFAULT_MAX_DEPTH: u32 = 16;

/// A flow was called at the maximum depth. A retry would fail again, and multiply with the retries of each level above.
#[derive(Clone, Debug)]
pub(crate) struct TooDeep {
    /// The name of the flow.
    pub(crate) flow: String,
    pub(crate) max_depth: u32,
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` would run {} levels inside the first flow, and at most {} are allowed; if a flow contains itself, end the recursion earlier, write a loop, or raise `.max_depth(..)`",
            self.flow,
            u64::from(self.max_depth) + 1,
            self.max_depth
        )
    }
}

impl std::error::Error for TooDeep {}
