//! The typed answers of agents while their models write them. No log has them: a reader gets them from the run, beside its log.

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::event::{Event, EventKind};
use petalflow::state::State;
use petalflow_agent::PartialOutput;
use tokio::sync::watch;

use crate::thread_event::ThreadEvent;

/// The task whose agent writes an answer: its sub-flow and its id.
pub(crate) type Writer = (String, String);

/// What an event of a run changes.
pub(crate) enum OutputChange {
    /// The answer has grown.
    Grown(Writer, Box<ThreadEvent>),
    /// The task has ended, or begins again. The log says which.
    Ended(Writer),
}

/// The newest partial answers of a run.
#[derive(Debug, Default)]
pub(crate) struct PartialOutputs {
    newest: watch::Sender<Newest>,
}

/// The newest partial answer of each task, with the number of the change.
#[derive(Debug, Default)]
struct Newest {
    changes: u64,
    outputs: BTreeMap<Writer, (u64, Arc<ThreadEvent>)>,
}

/// Reads the partial answers of a run. It skips those that were replaced before they were read.
pub(crate) struct OutputReader {
    newest: watch::Receiver<Newest>,
    /// The number of the newest change that was read.
    read: u64,
}

impl OutputChange {
    /// What the event changes, if it changes anything.
    pub(crate) fn of<S: State>(event: &Event<S>) -> Option<Self> {
        let task = event.task.as_ref()?;
        let writer = (event.namespace.to_string(), task.id.to_string());
        if let Some(output) = PartialOutput::of(event) {
            let event =
                ThreadEvent::partial_output(&event.namespace, event.superstep, task, output);
            return Some(OutputChange::Grown(writer, Box::new(event)));
        }
        let name = match &event.kind {
            EventKind::Nested(nested) => nested.name(),
            kind => kind.name(),
        };
        let ends = ["node_finished", "node_failed", "retry"].contains(&name);
        ends.then_some(OutputChange::Ended(writer))
    }
}

impl PartialOutputs {
    pub(crate) fn add(&self, change: OutputChange) {
        self.newest.send_if_modified(|newest| match change {
            OutputChange::Grown(writer, event) => {
                newest.changes += 1;
                let output = (newest.changes, Arc::from(event));
                newest.outputs.insert(writer, output);
                true
            }
            // Nothing to read.
            OutputChange::Ended(writer) => {
                newest.outputs.remove(&writer);
                false
            }
        });
    }

    pub(crate) fn reader(&self) -> OutputReader {
        let mut newest = self.newest.subscribe();
        // What is there is read first.
        newest.mark_changed();
        OutputReader { newest, read: 0 }
    }
}

impl OutputReader {
    /// The partial answers that have grown since the last call. `None` when the run has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<Arc<ThreadEvent>>> {
        self.newest.changed().await.ok()?;
        let newest = self.newest.borrow_and_update();
        let read = std::mem::replace(&mut self.read, newest.changes);
        let mut new: Vec<_> = newest
            .outputs
            .values()
            .filter(|(number, _)| *number > read)
            .collect();
        new.sort_by_key(|(number, _)| *number);
        Some(
            new.into_iter()
                .map(|(_, event)| Arc::clone(event))
                .collect(),
        )
    }
}
