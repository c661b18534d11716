//! The error of flows that are nested too deep.

/// How many levels deep flows can be inside each other by default. Without optimization, each level takes up to 65 kB of the
/// stack of its thread, which has 2 MB by default.
pub(crate) const DEFAULT_MAX_DEPTH: u32 = 16;

/// A flow was called at the maximum depth. A retry would fail again, and multiply with the retries of each level above.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "`{flow}` would run {} levels inside the first flow, and at most {max_depth} are allowed; if a flow contains itself, end the recursion earlier, write a loop, or raise `.max_depth(..)`",
    u64::from(*max_depth) + 1
)]
pub(crate) struct TooDeep {
    /// The name of the flow.
    pub(crate) flow: String,
    pub(crate) max_depth: u32,
}
