//! The law of passes: a pass commits, requests, waits or fails. One that did none of these would be made again without end.

use super::batch::PassEnd;
use super::pass_store::PassStore;
use crate::checkpoint::ThreadStatus;
use crate::ids::TaskId;

/// What a pass is for, which says what it may end with.
#[derive(Clone, Copy)]
pub(super) enum Law {
    /// It runs the tasks of a superstep, or requests them, and may commit it. `waits`: other processes run tasks that an earlier pass has
    /// requested.
    Tasks { waits: bool },
    /// It commits a superstep whose requested tasks have ended.
    Commit,
    /// It makes the result of one task.
    Task(TaskId),
}

impl Law {
    /// Why a pass that ended so is an error. `None` if it is none.
    pub(super) fn broken(self, store: &PassStore, end: &PassEnd) -> Option<String> {
        if end.status != ThreadStatus::Running || end.committed {
            return None;
        }
        match self {
            Law::Tasks { waits } if waits || store.has_requested() => None,
            Law::Commit | Law::Tasks { .. } => Some(without_results(&store.unusable())),
            Law::Task(task) if store.records().result_key(task).is_some() => None,
            Law::Task(_) => Some(
                store
                    .ran()
                    .map_or_else(no_such_task, |node| no_result(&node)),
            ),
        }
    }
}

fn without_results(nodes: &[String]) -> String {
    let deploy =
        "deploy the same version of the program to drivers and node hosts, then resume the thread";
    if nodes.is_empty() {
        return format!(
            "the superstep came to nothing: no task of it runs here or elsewhere; {deploy}"
        );
    }
    let nodes = nodes.join("`, `");
    format!(
        "the result of node `{nodes}` cannot be used: a node host with another version of the program has made it, with other keys, routes \
         or items; {deploy}"
    )
}

fn no_such_task() -> String {
    "the program of the node host does not have this task in the superstep: deploy the same version of the program to drivers and node \
     hosts, then resume the thread"
        .into()
}

fn no_result(node: &str) -> String {
    format!(
        "node `{node}` has written a key that is not stored (`untracked`), so its result cannot reach the driver: do not place the node, \
         or store the key"
    )
}
