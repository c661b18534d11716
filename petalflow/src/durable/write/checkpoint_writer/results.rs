//! Stores the results of tasks beside a checkpoint, so that a superstep that was stopped need not run them again.

use super::CheckpointWriter;
use crate::checkpoint::{StoreChange, StoreError, StoredWrite, WriteName};
use crate::durable::results::task_results::save_finished;
use crate::error::NodeError;
use crate::exec::TaskResult;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::task_services::question::WaitingQuestion;

impl CheckpointWriter {
    /// Starts to write the results of tasks that have finished while others still run.
    ///
    /// Does nothing while another write is in flight, or while the barrier is not in the store: after a crash, other tasks
    /// could run from an older barrier.
    pub(in crate::durable) fn write_finished(
        &mut self,
        plan: &ExecutionPlan,
        finished: &mut dyn ExactSizeIterator<Item = TaskResult<'_>>,
    ) -> Result<(), ThreadError> {
        let busy = self
            .in_flight
            .as_ref()
            .is_some_and(|in_flight| !in_flight.is_finished());
        let count = finished.len();
        if busy || count == self.written_results || !self.saved {
            return Ok(());
        }
        let writes = self.encode_results(plan, finished)?;
        self.written_results = count;
        if writes.is_empty() {
            return Ok(());
        }
        let (storage, namespace, origin) = (
            self.storage.clone(),
            self.namespace.clone(),
            self.header.origin,
        );
        let earlier = self.in_flight.take();
        self.in_flight = Some(tokio::spawn(async move {
            if let Some(earlier) = earlier {
                earlier
                    .await
                    .map_err(|lost| StoreError::Other(lost.into()))??;
            }
            storage.write(&namespace, origin, writes).await
        }));
        Ok(())
    }

    /// Writes the results of a superstep that is not committed: what its tasks have finished, the failures, and the
    /// questions. The barrier is in the store.
    pub(in crate::durable) async fn write_stopped(
        &mut self,
        plan: &ExecutionPlan,
        finished: Vec<TaskResult<'_>>,
        failed: Vec<(TaskId, NodeError)>,
        questions: &[WaitingQuestion],
    ) -> Result<(), ThreadError> {
        let mut writes = self.encode_results(plan, finished.into_iter())?;
        for (task, error) in failed {
            let mut bytes = Vec::new();
            error.pack(&mut bytes);
            writes.push(StoredWrite::new(task, WriteName::Error, bytes));
        }
        self.await_in_flight().await?;
        self.write_questions(writes, questions).await
    }

    /// The results of a superstep that is committed now, as far as they are not written, are written together with its checkpoint. Not those
    /// of a superstep whose own checkpoint is not stored: there is nothing to replay it from.
    pub(in crate::durable) fn write_committed(
        &mut self,
        plan: &ExecutionPlan,
        finished: Vec<TaskResult<'_>>,
    ) -> Result<(), ThreadError> {
        if !self.saved {
            return Ok(());
        }
        let writes = self.encode_results(plan, finished.into_iter())?;
        if !writes.is_empty() {
            self.apply_with_next(vec![StoreChange::Write {
                namespace: self.namespace.clone(),
                seq: self.header.origin,
                writes,
            }]);
        }
        Ok(())
    }

    /// Writes questions, with other writes. The barrier is in the store.
    pub(in crate::durable) async fn write_questions(
        &self,
        mut writes: Vec<StoredWrite>,
        questions: &[WaitingQuestion],
    ) -> Result<(), ThreadError> {
        for WaitingQuestion {
            task, interrupt, ..
        } in questions
        {
            let mut bytes = Vec::new();
            interrupt.encode(&mut bytes);
            writes.push(StoredWrite::new(
                *task,
                WriteName::Ask(interrupt.id.0),
                bytes,
            ));
        }
        let (storage, namespace, origin) = (&self.storage, &self.namespace, self.header.origin);
        let expiries = questions.iter().filter_map(|it| it.interrupt.expires_ms);
        if let Some(expires_ms) = expiries.min() {
            storage
                .write_due(namespace, origin, writes, expires_ms)
                .await?;
        } else if !writes.is_empty() {
            storage.write(namespace, origin, writes).await?;
        }
        Ok(())
    }

    /// Encodes the results that are not written yet. A task that has written a key which is not stored has no result: it runs
    /// again.
    fn encode_results<'a>(
        &self,
        plan: &ExecutionPlan,
        finished: impl Iterator<Item = TaskResult<'a>>,
    ) -> Result<Vec<StoredWrite>, ThreadError> {
        let untracked = self.codec.ty.untracked;
        finished
            .skip(self.written_results)
            .filter(|result| !self.restored_results.contains(&result.id))
            .filter(|result| {
                let written = result.effects.written();
                written.intersection(untracked).is_empty()
            })
            .map(|result| {
                let bytes = save_finished(self.codec, &self.fingerprint, plan, &result)?;
                Ok(StoredWrite::new(result.id, WriteName::Done, bytes))
            })
            .collect()
    }
}
