//! The tasks of a frontier as entries of a checkpoint.

use super::stored_task::save;
use crate::checkpoint::TaskEntry;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::superstep::Task;

/// Which nodes stand in a list of entries.
#[derive(Default)]
pub(crate) struct TaskEntries(Vec<u32>);

impl TaskEntries {
    /// The tasks as entries, over those of the barrier before: often they are the same, which a number tells faster than a
    /// name.
    #[inline]
    pub(super) fn save(
        &mut self,
        plan: &ExecutionPlan,
        tasks: &[Task],
        entries: &mut Vec<TaskEntry>,
    ) -> Result<(), ThreadError> {
        entries.truncate(tasks.len());
        self.0.truncate(tasks.len());
        for (place, task) in tasks.iter().enumerate() {
            match (entries.get_mut(place), self.0.get_mut(place)) {
                (Some(entry), Some(node)) if task.delivery.is_none() && *node == task.node => {
                    entry.send = task.send;
                    entry.item = None;
                }
                (Some(entry), Some(node)) => {
                    *entry = save(plan, task)?;
                    *node = task.node;
                }
                // What was read from a store is not known by number.
                _ => {
                    entries.truncate(place);
                    entries.push(save(plan, task)?);
                    self.0.push(task.node);
                }
            }
        }
        Ok(())
    }
}
