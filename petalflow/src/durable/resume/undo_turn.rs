//! Undoes a turn that has not finished: the next turn begins from the checkpoint before it.

use super::opener::{OpenedThread, ThreadOpener};
use crate::checkpoint::{Cause, ThreadStatus, ThreadStorage};
use crate::durable::load::checkpoint::{LoadedCheckpoint, load_checkpoint};
use crate::durable::load::ended_call::is_end_of_call;
use crate::durable::ops::subflow_history::restore_subflows;
use crate::durable::record::seq::Origin;
use crate::erased::InputBox;
use crate::outcome::ThreadError;

/// The number of checkpoints that are read at once.
const PAGE: usize = 100;

/// A turn that has not finished.
pub(super) struct UnfinishedTurn {
    /// Its first checkpoint.
    first: u64,
    /// The checkpoint before it. `None`: it is the first turn of the thread.
    before: Option<u64>,
}

impl UnfinishedTurn {
    /// The last turn of a thread, if its run was stopped before its end. A turn that has failed, that waits, or that a person has
    /// edited or forked is not one.
    pub(super) async fn of(
        storage: &ThreadStorage,
        head: &LoadedCheckpoint,
    ) -> Result<Option<Self>, ThreadError> {
        let header = &head.record.header;
        let is_of_run = matches!(header.cause, Cause::Input | Cause::Superstep);
        if is_end_of_call(header) || !is_of_run {
            return Ok(None);
        }
        let status = storage.info().await?.map(|info| info.status);
        let was_stopped = matches!(
            status,
            Some(ThreadStatus::Running | ThreadStatus::Stopped | ThreadStatus::Held)
        );
        if !was_stopped {
            return Ok(None);
        }
        let mut turn = UnfinishedTurn {
            first: head.position.seq.get(),
            before: header.parent,
        };
        let mut before = turn.first;
        while turn.before.is_some() {
            let page = storage.history("", Some(before), PAGE).await?;
            let Some(oldest) = page.last() else {
                return Err(not_stored(storage));
            };
            before = oldest.seq;
            let records = storage.records("", &page).await?;
            for (checkpoint, record) in page.iter().zip(records) {
                if turn.before != Some(checkpoint.seq) {
                    continue;
                }
                if record.header.turn < header.turn {
                    return Ok(Some(turn));
                }
                turn = UnfinishedTurn {
                    first: checkpoint.seq,
                    before: record.header.parent,
                };
            }
        }
        Ok(Some(turn))
    }
}

impl ThreadOpener<'_> {
    /// Begins a turn in place of one that has not finished. What undoes that turn is stored together with the input.
    pub(super) async fn begin_instead(
        mut self,
        undone: UnfinishedTurn,
        head: LoadedCheckpoint,
        input: InputBox,
    ) -> Result<OpenedThread, ThreadError> {
        let storage = self.writer.storage().clone();
        let next = head.position.seq.next().get();
        let restored = restore_subflows(&storage, undone.first, &storage, next).await?;
        self.writer.apply_with_next(restored);
        let Some(before) = undone.before else {
            let origin = Origin::new(head.record.header.origin);
            self.writer.set_oldest_results(origin);
            return self.begin(input).await;
        };
        let (codec, program) = (self.writer.codec(), self.writer.fingerprint());
        let loaded = load_checkpoint(&storage, "", Some(before), codec, program).await?;
        let loaded = loaded.ok_or_else(|| not_stored(&storage))?;
        self.writer.set_previous_outline(loaded.outline.clone());
        self.writer.set_lost(loaded.lost);
        self.begin_turn(loaded, None, input).await
    }
}

fn not_stored(storage: &ThreadStorage) -> ThreadError {
    ThreadError::Request(format!(
        "the checkpoint before the last turn of thread `{}` is not stored any more, so the turn cannot be undone: let \
         `Retention` retain more checkpoints, or use `OnBusy::Cancel`",
        storage.thread
    ))
}
