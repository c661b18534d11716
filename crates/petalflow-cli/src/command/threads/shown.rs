//! What is shown of a thread, from a store or from a server.

use petalflow::checkpoint::ThreadInfo;
use petalflow::interrupt::Interrupt;
use petalflow_documents::Envelope;
use serde_json::Value;

/// What is shown of a thread.
pub(super) struct Shown {
    pub(super) info: ThreadInfo,
    pub(super) checkpoint: u64,
    /// The nodes that run next.
    pub(super) next: Vec<String>,
    /// The failures of nodes.
    pub(super) errors: Vec<String>,
    pub(super) questions: Vec<Interrupt>,
    pub(super) state: ShownState,
    /// The checkpoints, in JSON, and whether there are older ones.
    pub(super) history: Option<(Vec<Value>, bool)>,
}

/// The state of a thread.
pub(super) enum ShownState {
    Envelope(Box<Envelope>),
    /// The keys of a flow of another kind.
    #[cfg(feature = "client")]
    Keys(Value),
}
