//! Replays a stored thread with the program of today, and compares.
//!
//! Each committed superstep is resumed from its own checkpoint, as after a crash: the results that its tasks have recorded are beside the
//! checkpoint, so none of them runs, and the superstep is committed by the program of today. What it commits is compared with what was
//! stored. A difference in one superstep does not lead to others in the next, because that one begins with what was stored.
//!
//! For a superstep of a sub-flow, the task that runs the sub-flow has no result, and all others have theirs.

mod compare;
mod continued;
mod difference;
mod located;
mod program;
mod replay_run;
mod replayed;
mod requests;
mod rows;
mod slices;
mod steps;
mod superstep;

pub use continued::ContinuedReplay;
pub use difference::{Difference, DifferenceKind};
pub use replayed::Replayed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::replay_run::{Replay, RunsNode};
use super::erased::AnyEngine;
use super::pass_store::PassStore;
use super::replay_tasks::ReplayTasks;
use crate::durable::outline_of;
use crate::outcome::ThreadError;
use crate::thread::ThreadFile;

impl AnyEngine {
    /// Replays the thread of a file.
    pub(in crate::engine) async fn replay(
        &self,
        file: &ThreadFile,
        runs: RunsNode,
        requests: bool,
    ) -> Result<Replayed, ThreadError> {
        let thread = file.model();
        let own = thread.flows.get("");
        let Some(own) = own.filter(|own| !own.checkpoints.is_empty()) else {
            return Err(ThreadError::Request(format!(
                "the file of thread `{}` has no checkpoint",
                thread.id
            )));
        };
        let mut replayed = Replayed::default();
        if thread.flow != self.flow.stored_name() {
            replayed.add(Difference::of_program(
                DifferenceKind::Flow,
                None,
                &thread.flow,
                self.flow.stored_name(),
            ));
            return Ok(replayed);
        }
        let newest = own.checkpoints.last();
        let was = newest.and_then(|newest| own.outline(newest));
        let changes = was.map(|was| program::changes(was, &outline_of(&*self.flow).0));
        let records = superstep::records_of(thread).await?;
        let store = PassStore::of_replay(&thread.id, records, ReplayTasks::default());
        let store = store.map_err(|error| ThreadError::Request(error.to_string()))?;
        let mut replay = Replay {
            thread,
            recorded: superstep::storage(thread, Arc::new(store)),
            runs,
            requests,
            asking: BTreeSet::new(),
            changes: BTreeMap::from([(String::new(), changes.unwrap_or_default())]),
            replayed,
        };
        let frontiers = located::located(thread);
        for at in &frontiers {
            let tasks = self.tasks(&replay, at);
            let asking = tasks.iter().filter(|task| !task.requests.is_empty());
            let asking = asking.map(|task| at.path(&task.node)).collect::<Vec<_>>();
            replay.asking.extend(asking);
        }
        if requests && replay.asking.is_empty() {
            replay.replayed.add(Difference {
                name: "all".into(),
                ..Difference::of_program(DifferenceKind::Request, None, "not recorded", "-")
            });
        }
        for at in &frontiers {
            self.replay_superstep(&mut replay, at).await?;
        }
        Ok(replay.finished())
    }
}
