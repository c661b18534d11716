//! The event of a compaction.

use serde::Serialize;

/// A compaction, as listeners see it: [`AgentEventKind::Compacted`](crate::stream::AgentEventKind::Compacted).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompactionEvent {
    /// The agent whose model reads less.
    pub agent: String,
    /// The number of messages that were cut.
    pub cut: usize,
    /// The number of messages that stayed.
    pub kept: usize,
    /// The number of messages that replace those that were cut.
    pub replacement: usize,
}
