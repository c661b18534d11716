//! Where the supersteps of a thread are: in its own flow, or in a sub-flow that a task of another superstep runs.

use std::collections::{BTreeMap, HashMap};

use super::steps::{Step, steps};
use crate::ids::{Namespace, TaskId};
use crate::thread_file::FileThread;

/// A frontier, and how a run reaches it.
pub(super) struct Located<'f> {
    pub(super) namespace: &'f str,
    pub(super) step: Step<'f>,
    /// The tasks whose sub-flows lead to it, the innermost first.
    pub(super) entered: Vec<TaskId>,
    /// The newest checkpoints of the flows that lead to it, and of its own, by namespace.
    pub(super) cuts: BTreeMap<&'f str, u64>,
    /// The frontier of the thread's own flow.
    pub(super) own: Step<'f>,
}

impl<'f> Located<'f> {
    /// A frontier of the thread's own flow.
    pub(super) fn of_own(step: Step<'f>) -> Self {
        Located {
            namespace: "",
            step,
            entered: Vec::new(),
            cuts: BTreeMap::from([("", step.start.seq)]),
            own: step,
        }
    }

    /// Its sub-flow without the indices of items: the flows of all items have one program.
    pub(super) fn program(&self) -> String {
        let path = self.path("");
        path.trim_end_matches('/').into()
    }

    /// The names that lead to a node of it.
    pub(super) fn path(&self, node: &str) -> String {
        let names = self.namespace.split('/').filter(|name| !name.is_empty());
        let flow = names.fold(Namespace::ROOT, |flow, name| flow.child(name, None));
        flow.plain_path(node)
    }
}

/// The frontiers of all flows of a thread: those of sub-flows after the one whose task runs them. A sub-flow that no task of the file runs,
/// such as one before a fork, has none.
pub(super) fn located(thread: &FileThread) -> Vec<Located<'_>> {
    let mut owners: HashMap<[u8; 16], (&str, Step<'_>)> = HashMap::new();
    let mut all = Vec::new();
    for (namespace, flow) in &thread.flows {
        for step in steps(flow) {
            let header = &step.start.record.header;
            for task in &header.frontier {
                let id = thread.task_id(namespace, header, &task.node, task.send);
                owners.insert(id.to_bytes(), (namespace, step));
            }
            all.push((&**namespace, step));
        }
    }
    let mut found: Vec<Located<'_>> = all
        .into_iter()
        .filter_map(|(namespace, step)| locate(&owners, namespace, step))
        .collect();
    // Stable: within a superstep of the thread's own flow, in the order of the names and then of the checkpoints.
    found.sort_by_key(|at| at.own.start.seq);
    found
}

fn locate<'f>(
    owners: &HashMap<[u8; 16], (&'f str, Step<'f>)>,
    namespace: &'f str,
    step: Step<'f>,
) -> Option<Located<'f>> {
    let mut at = Located {
        namespace,
        step,
        entered: Vec::new(),
        cuts: BTreeMap::from([(namespace, step.start.seq)]),
        own: step,
    };
    let mut innermost = namespace;
    while !innermost.is_empty() {
        let owner = at.own.start.record.header.owner?;
        let (outer, step) = owners.get(&owner)?;
        // A damaged file may name a task of the flow itself.
        if outer.len() >= innermost.len() {
            return None;
        }
        at.entered.push(TaskId::from_bytes(owner));
        at.cuts.insert(outer, step.start.seq);
        (innermost, at.own) = (outer, *step);
    }
    Some(at)
}
