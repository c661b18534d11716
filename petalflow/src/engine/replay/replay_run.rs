//! A replay of a thread, as far as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::difference::Difference;
use super::program::ProgramChanges;
use super::replayed::Replayed;
use super::requests;
use crate::checkpoint::ThreadStorage;
use crate::thread_file::FileThread;

/// Which nodes run in a replay, by their current names. The node of a sub-flow has the names that lead to it before its own:
/// `review/write`.
pub(in crate::engine) type RunsNode = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The thread of a file, and what of the program of today runs over it.
pub(super) struct Replay<'f> {
    pub(super) thread: &'f FileThread,
    /// All of it, in a store.
    pub(super) recorded: ThreadStorage,
    pub(super) runs: RunsNode,
    /// Whether the nodes that have asked a model run as far as their requests.
    pub(super) requests: bool,
    /// The nodes that have recorded a request.
    pub(super) asking: BTreeSet<String>,
    /// What of each program has changed: of the thread's own flow, and of sub-flows by the names that lead to them.
    pub(super) changes: BTreeMap<String, ProgramChanges>,
    pub(super) replayed: Replayed,
}

impl Replay<'_> {
    pub(super) fn finished(mut self) -> Replayed {
        let mut first = Vec::new();
        for (flow, changes) in self.changes {
            first.extend(changes.differences.into_iter().map(|difference| {
                let flow = flow.clone();
                Difference { flow, ..difference }
            }));
        }
        self.replayed.add_first(first);
        let requests: usize = self.thread.flows.values().map(requests::count).sum();
        self.replayed.requests_left = (requests as u64).saturating_sub(self.replayed.requests);
        self.replayed
    }
}
