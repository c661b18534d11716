//! Which tasks of a replay run, and what they did.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::TaskId;

/// The tasks of a replay that run, and what they did.
#[derive(Default)]
pub(super) struct ReplayTasks {
    /// The nodes that really run, with their effects, by the names that lead to them.
    pub(super) named: Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    /// The tasks that run.
    pub(super) runs: HashSet<TaskId>,
    /// The tasks that run as far as their requests to models.
    pub(super) prepared: HashSet<TaskId>,
    /// What tasks have recorded of their requests.
    pub(super) recorded: HashMap<TaskId, RecordedRequests>,
    /// The tasks whose sub-flows are replayed. They run to enter the sub-flow.
    pub(super) entered: HashSet<TaskId>,
    /// Whether tasks are entered that are not sub-flows of the graph, but nodes that run one.
    pub(super) enters_nodes: bool,
    pub(super) did: Mutex<Did>,
}

/// What a task has recorded of its requests to models.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedRequests {
    /// The effects in which they were made, which run again as far as the requests.
    pub(super) effects: HashSet<String>,
    /// The answers that were recorded, by the group of the request and its index in that.
    pub(super) answers: HashMap<(Vec<String>, u32), Vec<u8>>,
}

#[derive(Debug, Default)]
pub(super) struct Did {
    refused_effects: Vec<(TaskId, String)>,
    left: HashSet<TaskId>,
    /// The nodes of the tasks that were left.
    left_nodes: BTreeSet<String>,
    requests: HashMap<TaskId, Vec<(u32, Vec<u8>)>>,
    ran: u64,
}

impl fmt::Debug for ReplayTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayTasks")
            .field("runs", &self.runs)
            .field("did", &self.did)
            .finish_non_exhaustive()
    }
}

impl ReplayTasks {
    fn did(&self) -> MutexGuard<'_, Did> {
        // Nothing under this lock can panic.
        self.did.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self, task: TaskId, node: &str, is_subflow: bool) -> bool {
        let is_named = self.named.as_ref().is_some_and(|named| named(node));
        if is_named || self.runs.contains(&task) {
            self.did().ran += 1;
            return true;
        }
        let enters = self.entered.contains(&task) && (is_subflow || self.enters_nodes);
        if enters || self.prepared.contains(&task) {
            return true;
        }
        let mut did = self.did();
        did.left.insert(task);
        did.left_nodes.insert(node.into());
        false
    }

    pub(super) fn prepares(&self, task: TaskId) -> bool {
        self.prepared.contains(&task) || self.entered.contains(&task)
    }

    /// Whether an effect without a record does not run.
    pub(super) fn refuses_effect(&self, task: TaskId, name: &str) -> bool {
        if self.named.is_some() {
            return false;
        }
        self.did().refused_effects.push((task, name.into()));
        true
    }

    /// Whether an effect that has a record runs as far as the requests in it.
    pub(super) fn enters_effect(&self, task: TaskId, name: &str) -> bool {
        let recorded = self.recorded.get(&task);
        recorded.is_some_and(|recorded| recorded.effects.contains(name))
    }

    /// Takes a request. Returns the answer that was recorded.
    pub(super) fn take_request(
        &self,
        task: TaskId,
        (number, group, index): (u32, &[String], u32),
        request: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let mut did = self.did();
        let requests = did.requests.entry(task).or_default();
        // Of an attempt that was repeated, the last one counts.
        requests.retain(|(known, _)| *known < number);
        requests.push((number, request));
        let recorded = self.recorded.get(&task)?;
        recorded.answers.get(&(group.to_vec(), index)).cloned()
    }

    /// The effects without a record that tasks wanted to run.
    pub(super) fn refused_effects(&self) -> Vec<(TaskId, String)> {
        self.did().refused_effects.clone()
    }

    /// The tasks that would have run.
    pub(super) fn left(&self) -> HashSet<TaskId> {
        self.did().left.clone()
    }

    /// The nodes of those.
    pub(super) fn left_nodes(&self) -> BTreeSet<String> {
        self.did().left_nodes.clone()
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
