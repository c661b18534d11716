//! The tasks of a frontier as entries of a checkpoint.

use petalflow_graph::{ItemIdx, NodeIdx};

use crate::checkpoint::TaskEntry;
use crate::delivery::ItemCodec;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::superstep::Task;
use petalflow_store::codec::CodecError;

/// The nodes of a list of entries, to notice entries that stay the same.
#[derive(Default)]
pub(crate) struct TaskEntries(Vec<NodeIdx>);

impl TaskEntries {
    /// Saves the tasks over the entries of the barrier before. Often they are the same, and comparing indices is faster than
    /// comparing names.
    pub(in crate::durable) fn save(
        &mut self,
        plan: &ExecutionPlan,
        tasks: &[Task],
        entries: &mut Vec<TaskEntry>,
    ) -> Result<(), ThreadError> {
        // Most frontiers are one task.
        if let ([task], [entry], [node]) = (tasks, &mut entries[..], &self.0[..])
            && task.delivery.is_none()
            && *node == task.node
        {
            (entry.send, entry.item) = (task.send, None);
            return Ok(());
        }
        entries.truncate(tasks.len());
        self.0.truncate(tasks.len());
        for (index, task) in tasks.iter().enumerate() {
            match (entries.get_mut(index), self.0.get_mut(index)) {
                (Some(entry), Some(node)) if task.delivery.is_none() && *node == task.node => {
                    entry.send = task.send;
                    entry.item = None;
                }
                (Some(entry), Some(node)) => {
                    *entry = save(plan, task)?;
                    *node = task.node;
                }
                // Entries that were loaded from a store have no index.
                _ => {
                    entries.truncate(index);
                    entries.push(save(plan, task)?);
                    self.0.push(task.node);
                }
            }
        }
        Ok(())
    }
}

/// Encodes a task of the frontier.
fn save(plan: &ExecutionPlan, task: &Task) -> Result<TaskEntry, ThreadError> {
    let node = plan.name(task.node);
    let item = task.delivery.as_ref().map(|delivery| {
        let mut bytes = Vec::new();
        let codec = item_codec(plan, task.node)?;
        (codec.save)(delivery, task.item.map(ItemIdx::index), &mut bytes)
            .map_err(ThreadError::value(format!("the item of node `{node}`")))?;
        Ok::<_, ThreadError>(bytes)
    });
    Ok(TaskEntry {
        node: plan.stored_name(task.node).into(),
        send: task.send,
        item: item.transpose()?,
    })
}

/// Decodes the task of a node. Ignores an item that the node does not take any more.
pub(crate) fn load(
    plan: &ExecutionPlan,
    node: NodeIdx,
    entry: TaskEntry,
    unreadable: impl FnOnce(CodecError) -> ThreadError,
) -> Result<Task, ThreadError> {
    let item = entry.item.filter(|_| plan.takes_item(node));
    let delivery = item.map(|bytes| {
        let codec = item_codec(plan, node)?;
        (codec.load)(&bytes).map_err(unreadable)
    });
    Ok(Task {
        node,
        send: entry.send,
        item: None,
        delivery: delivery.transpose()?,
    })
}

/// How the item of a node is stored.
pub(in crate::durable) fn item_codec(
    plan: &ExecutionPlan,
    node: NodeIdx,
) -> Result<ItemCodec, ThreadError> {
    plan.item(node).ok_or_else(|| {
        ThreadError::Request(format!(
            "node `{}` takes an item that cannot be stored: its type needs `Serialize` and `Deserialize`, and a node written by hand sets `Node::ITEM_CODEC`",
            plan.name(node)
        ))
    })
}
