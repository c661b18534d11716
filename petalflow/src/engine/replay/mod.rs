//! Replays a stored thread with the program of today, and compares.
//!
//! Each committed superstep is resumed from its own checkpoint, as after a crash: the results that its tasks have recorded are beside the
//! checkpoint, so none of them runs, and the superstep is committed by the program of today. What it commits is compared with what was
//! stored. A difference in one superstep does not lead to others in the next, because that one begins with what was stored.

mod compare;
mod difference;
mod program;
mod replayed;
mod rows;
mod slices;
mod superstep;

pub use difference::{Difference, DifferenceKind};
pub use replayed::Replayed;

use std::sync::Arc;

use self::superstep::RunsNode;
use super::erased::AnyEngine;
use super::pass_store::PassStore;
use crate::outcome::ThreadError;
use crate::thread::ThreadFile;

impl AnyEngine {
    /// Replays the thread of a file.
    pub(in crate::engine) async fn replay(
        &self,
        file: &ThreadFile,
        runs: RunsNode,
    ) -> Result<Replayed, ThreadError> {
        let thread = file.model();
        let own = thread.flows.get("");
        let mut replayed = Replayed::default();
        let Some(own) = own.filter(|own| !own.checkpoints.is_empty()) else {
            return Err(ThreadError::Request(format!(
                "the file of thread `{}` has no checkpoint",
                thread.id
            )));
        };
        if thread.flow != self.flow.stored_name() {
            replayed.add(Difference::of_program(
                DifferenceKind::Flow,
                None,
                &thread.flow,
                self.flow.stored_name(),
            ));
            return Ok(replayed);
        }
        let changes = program::changes(&*self.flow, own);
        let store = PassStore::of_replay(&thread.id, superstep::records_of(thread).await?);
        let store = store.map_err(|error| ThreadError::Request(error.to_string()))?;
        let recorded = superstep::storage(thread, Arc::new(store));
        for step in slices::steps(own) {
            let of = (thread, &recorded);
            self.replay_superstep(of, &step, &changes, &runs, &mut replayed)
                .await?;
        }
        replayed.add_first(changes.differences);
        Ok(replayed)
    }
}
