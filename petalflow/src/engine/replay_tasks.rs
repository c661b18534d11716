//! Which tasks of a replay run, and what they did.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::TaskId;

/// The tasks of a replay that run, and what they did.
#[derive(Debug, Default)]
pub(super) struct ReplayTasks {
    /// The tasks that run.
    pub(super) runs: HashSet<TaskId>,
    /// The tasks that run as far as their first request to a model.
    pub(super) prepared: HashSet<TaskId>,
    /// The tasks whose sub-flows are replayed. They run to enter the sub-flow.
    pub(super) entered: HashSet<TaskId>,
    /// Whether tasks are entered that are not sub-flows of the graph, but nodes that run one.
    pub(super) enters_nodes: bool,
    pub(super) did: Mutex<Did>,
}

#[derive(Debug, Default)]
pub(super) struct Did {
    refused_effects: Vec<(TaskId, String)>,
    left: HashSet<TaskId>,
    requests: HashMap<TaskId, Vec<(u32, Vec<u8>)>>,
    ran: u64,
}

impl ReplayTasks {
    fn did(&self) -> MutexGuard<'_, Did> {
        // Nothing under this lock can panic.
        self.did.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self, task: TaskId, is_subflow: bool) -> bool {
        if self.runs.contains(&task) {
            self.did().ran += 1;
            return true;
        }
        let enters = self.entered.contains(&task) && (is_subflow || self.enters_nodes);
        if enters || self.prepared.contains(&task) {
            return true;
        }
        self.did().left.insert(task);
        false
    }

    pub(super) fn prepares(&self, task: TaskId) -> bool {
        self.prepared.contains(&task) || self.entered.contains(&task)
    }

    pub(super) fn refuse_effect(&self, task: TaskId, name: &str) {
        self.did().refused_effects.push((task, name.into()));
    }

    pub(super) fn take_request(&self, task: TaskId, number: u32, request: Vec<u8>) {
        let mut did = self.did();
        let requests = did.requests.entry(task).or_default();
        // Of an attempt that was repeated, the last one counts.
        requests.retain(|(known, _)| *known < number);
        requests.push((number, request));
    }

    /// The effects without a record that tasks wanted to run.
    pub(super) fn refused_effects(&self) -> Vec<(TaskId, String)> {
        self.did().refused_effects.clone()
    }

    /// The tasks that would have run.
    pub(super) fn left(&self) -> HashSet<TaskId> {
        self.did().left.clone()
    }

    /// How many tasks ran.
    pub(super) fn ran(&self) -> u64 {
        self.did().ran
    }

    /// The requests that tasks made, each in their order.
    pub(super) fn requests(&self) -> HashMap<TaskId, Vec<(u32, Vec<u8>)>> {
        self.did().requests.clone()
    }
}
