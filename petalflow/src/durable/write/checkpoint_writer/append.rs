//! Encodes a checkpoint and appends it to the store, in the order that the durability asks for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

use super::{ChainSize, CheckpointSeq, CheckpointWriter, ParentBarrier, PlannedFrontier};
use crate::checkpoint::{Cause, Durability, INBOX, StoreChange, StoreError, inbox_of};
use crate::clock::now_ms;
use crate::exec::Committed;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::inbox::{taken_at, taken_up_to};
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::superstep::Planner;
use crate::task_services::question::GivenAnswers;

/// A chain of checkpoints with fewer bytes gets no new base.
const SMALLEST_CHAIN: u64 = 4 * 1024;

/// A new base is written when the chain has this many times its bytes. A chain of writes to lists never has: all of it is part
/// of the state, and a base would store it again.
const WORTH_A_BASE: u64 = 3;

impl CheckpointWriter {
    /// Writes a checkpoint of an input, an answer or an edit. An answer, an edit, or an input in the place of another turn is in the store
    /// when this returns, with any durability.
    pub(in crate::durable) async fn save_change(
        &mut self,
        planned: &PlannedFrontier<'_>,
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        self.describe(planned)?;
        self.saved = false;
        // An input that restores sub-flows is stored before they are loaded, too.
        let may_wait = self.header.cause == Cause::Input && self.with_next.is_empty();
        if may_wait && self.durability == Durability::Exit {
            return Ok(());
        }
        self.save(committed).await?;
        if may_wait {
            return Ok(());
        }
        self.await_in_flight().await
    }

    /// Writes a checkpoint of answers and decisions that arrived while the superstep runs. It is in the store when this returns.
    pub(in crate::durable) async fn save_answers(
        &mut self,
        given: &[GivenAnswers],
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        // What the answers are beside: the questions need it too.
        self.flush(committed).await?;
        self.add_given(given);
        self.begin_change(Cause::Update);
        self.saved = false;
        self.flush(committed).await
    }

    /// Writes a checkpoint of a decision that ends the run, with what else has arrived while the superstep ran. It is in the store when
    /// this returns.
    pub(in crate::durable) async fn save_rejection(
        &mut self,
        plan: &ExecutionPlan,
        given: &[GivenAnswers],
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        self.flush(committed).await?;
        self.add_given(given);
        self.clear_interrupt_points();
        self.begin_change(Cause::Rejected);
        let nothing = PlannedFrontier {
            plan,
            planner: &Planner::new(plan),
            frontier: &[],
            superstep: self.header.superstep,
        };
        self.save_change(&nothing, committed).await
    }

    fn add_given(&mut self, given: &[GivenAnswers]) {
        for given in given {
            self.header.answers.extend(given.entries.iter().cloned());
            self.header.notes.extend(given.notes.iter().cloned());
        }
    }

    /// Writes the last barrier as a checkpoint.
    pub(in crate::durable) async fn save(
        &mut self,
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        self.encode(committed)?;
        self.write_encoded().await?;
        self.mark_appended();
        Ok(())
    }

    /// Writes the last barrier and waits until it is in the store, with any durability.
    pub(in crate::durable) async fn flush(
        &mut self,
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        if !self.saved {
            self.save(committed).await?;
        }
        self.await_in_flight().await
    }

    /// Writes the last barrier at the end of the run, whether or not the run failed.
    pub(in crate::durable) async fn close(
        &mut self,
        committed: Committed<'_>,
    ) -> Result<(), ThreadError> {
        if self.is_ahead {
            // A state that is ahead of its barrier is lost, as in a crash.
            self.await_in_flight().await
        } else {
            self.flush(committed).await
        }
    }

    /// Encodes the last barrier as the next checkpoint.
    pub(in crate::durable) fn encode(
        &mut self,
        Committed { state, written }: Committed<'_>,
    ) -> Result<(), ThreadError> {
        let next = &mut self.next;
        let mut is_base = self.builds_on.is_none() || self.builds_on != self.newest;
        is_base |= self.pruning.needs_base(self.size.checkpoints);
        if !is_base && self.size.bytes >= self.size.limit.max(SMALLEST_CHAIN) {
            next.keys.save_all(self.codec, state, written)?;
            self.size.limit = next.keys.size().saturating_mul(WORTH_A_BASE);
            is_base = self.size.bytes >= self.size.limit;
        }
        let keys = &mut next.keys;
        if is_base {
            self.dirty.take_all(self.codec, state, written, keys)?;
        } else {
            self.dirty.take(self.codec, state, written, keys)?;
        }
        if self.namespace.is_empty() {
            self.attributes
                .set(self.codec.ty, Committed { state, written });
        }
        // The changes are encoded. Until this checkpoint is known to be in the store, the next one must not build on another.
        self.builds_on = None;
        let outline = &self.fingerprint.outline;
        // Nearly always it is `None` before and after.
        if is_base {
            self.header.outline = Some(outline.clone());
        } else if self.header.outline.is_some() {
            self.header.outline = None;
        }
        let checkpoint = &mut next.checkpoint;
        checkpoint.bytes.clear();
        checkpoint.seq = self.seq.get();
        checkpoint.base = if is_base { self.seq } else { self.base }.get();
        checkpoint.created_ms = *self.now_ms.get_or_insert_with(now_ms);
        let (seq, names) = (checkpoint.seq, (!is_base).then_some(outline));
        self.header
            .encode(seq, names, next.keys.get(), &mut checkpoint.bytes);
        let size = checkpoint.bytes.len() as u64;
        self.pruning.add(size);
        next.size = if is_base {
            ChainSize {
                checkpoints: 1,
                bytes: size,
                limit: size.saturating_mul(WORTH_A_BASE),
            }
        } else {
            ChainSize {
                checkpoints: self.size.checkpoints + 1,
                bytes: self.size.bytes + size,
                ..self.size
            }
        };
        Ok(())
    }

    /// Writes the checkpoint that was encoded. With `Durability::Async` this only starts the write.
    pub(in crate::durable) fn write_encoded(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        let prunes = self.pruning.is_due(self.header.superstep);
        if self.in_flight.is_none() && self.parent_barrier.is_none() && !prunes {
            return self.append();
        }
        Box::pin(async move {
            self.wait_for_earlier_writes().await?;
            if prunes {
                self.pruning
                    .prune(&self.storage, self.header.superstep)
                    .await?;
            }
            self.append().await
        })
    }

    /// Waits for what must be in the store before a checkpoint is appended.
    async fn wait_for_earlier_writes(&mut self) -> Result<(), StoreError> {
        self.join_in_flight().await?;
        if let Some(ParentBarrier {
            services,
            superstep,
        }) = &self.parent_barrier
        {
            services.barrier_stored(*superstep).await;
            self.parent_barrier = None;
        }
        Ok(())
    }

    /// Appends the next checkpoint. With `Durability::Async` this only starts the write.
    fn append(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        let after = self.newest.map(CheckpointSeq::get);
        let removed_results = self.removed_results();
        let has_messages = self.taken_message.is_some() || !self.received.is_empty();
        if has_messages || !self.with_next.is_empty() || self.attributes.has_change() {
            return self.append_with_changes(after, removed_results);
        }
        let checkpoint = &mut self.next.checkpoint;
        if self.durability == Durability::Async {
            let (storage, namespace) = (self.storage.clone(), self.namespace.clone());
            let mut checkpoint = checkpoint.clone();
            self.in_flight = Some(tokio::spawn(async move {
                storage
                    .append(&namespace, &mut checkpoint, after, removed_results)
                    .await
            }));
            Box::pin(std::future::ready(Ok(())))
        } else {
            self.storage
                .append(&self.namespace, checkpoint, after, removed_results)
        }
    }

    /// Appends the next checkpoint, records that it has the messages up to a number, and makes the changes that belong to it: all of
    /// them or none.
    fn append_with_changes(
        &mut self,
        after: Option<u64>,
        removed_results: Range<u64>,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let append = StoreChange::Append {
            namespace: self.namespace.clone(),
            checkpoint: self.next.checkpoint.clone(),
            after,
            settled: removed_results,
        };
        let mut changes = vec![append];
        let taken = self.taken_message;
        changes.extend(taken.map(|number| taken_up_to(INBOX, number)));
        if let Some(taken) = taken.filter(|_| self.keeps_results()) {
            changes.push(taken_at(&self.namespace, self.next.checkpoint.seq, taken));
        }
        let received = self.received.iter();
        changes.extend(received.map(|(key, number)| taken_up_to(&inbox_of(key), *number)));
        changes.extend(self.attributes.change());
        changes.extend(self.with_next.iter().cloned());
        if self.durability == Durability::Async {
            let storage = self.storage.clone();
            self.in_flight = Some(tokio::spawn(async move { storage.apply(changes).await }));
            return Box::pin(std::future::ready(Ok(())));
        }
        Box::pin(self.storage.apply(changes))
    }

    /// These changes are made together with the next checkpoint.
    pub(in crate::durable) fn apply_with_next(&mut self, changes: Vec<StoreChange>) {
        self.with_next.extend(changes);
    }

    /// Stores these records together with the next checkpoint, in place of earlier ones that no checkpoint was written with.
    pub(in crate::durable) fn record_with_next(&mut self, records: Vec<StoreChange>) {
        for record in records {
            let replaced = place(&record);
            self.with_next
                .retain(|earlier| replaced.is_none() || place(earlier) != replaced);
            self.with_next.push(record);
        }
    }

    /// The messages up to a number are in the writes that were recorded, or were refused.
    pub(in crate::durable) fn take_messages(&mut self, number: u64) {
        self.taken_message = Some(number);
        self.saved = false;
    }

    /// The tasks of the superstep have received these messages: for each key the number of the last one.
    pub(in crate::durable) fn receive_messages(&mut self, received: BTreeMap<String, u64>) {
        // With a durability that writes few checkpoints, the next one has those of several supersteps.
        self.received.extend(received);
    }

    /// The numbers of the results that the next checkpoint removes.
    fn removed_results(&mut self) -> Range<u64> {
        let begun_writes = self.storage.begun_writes.load(Ordering::Relaxed);
        self.next.begun_writes = begun_writes;
        if self.keeps_results() {
            return 0..0;
        }
        // Nothing was written since the results of earlier supersteps were removed.
        if self.settled_writes == Some(begun_writes) {
            return 0..0;
        }
        self.oldest_results.get()..self.header.origin
    }

    /// The last barrier as changes of the thread. The caller applies them, before or together with later changes of this writer.
    pub(in crate::durable) fn change(
        &mut self,
        committed: Committed<'_>,
    ) -> Result<Vec<StoreChange>, ThreadError> {
        self.encode(committed)?;
        let append = StoreChange::Append {
            namespace: self.namespace.clone(),
            checkpoint: self.next.checkpoint.clone(),
            after: self.newest.map(CheckpointSeq::get),
            settled: self.removed_results(),
        };
        let changes = std::iter::once(append).chain(self.attributes.change());
        let changes = changes.collect();
        self.mark_appended();
        Ok(changes)
    }

    /// The next checkpoint is in the store, or is being written.
    pub(in crate::durable) fn mark_appended(&mut self) {
        let seq = CheckpointSeq::new(self.next.checkpoint.seq);
        self.unreported = Some(seq);
        // A checkpoint within a superstep, such as that of an answer, removes nothing of this superstep.
        if self.oldest_results.get() < self.header.origin {
            self.settled_writes = Some(self.next.begun_writes);
        }
        self.base = CheckpointSeq::new(self.next.checkpoint.base);
        self.size = self.next.size;
        self.newest = Some(seq);
        self.builds_on = Some(seq);
        self.header.parent = Some(seq.get());
        self.header.notes.clear();
        self.taken_message = None;
        self.received.clear();
        self.attributes.mark_appended();
        self.with_next.clear();
        self.oldest_results = self.origin();
        self.saved = true;
        self.mark_stored();
    }

    /// Notifies the tasks that the last barrier is in the store, if it is.
    pub(in crate::durable) fn mark_stored(&self) {
        if self.saved && self.in_flight.is_none() {
            self.stored.set(self.header.origin);
        }
    }

    /// Waits for the write that is in flight.
    pub(in crate::durable) async fn await_in_flight(&mut self) -> Result<(), ThreadError> {
        Ok(self.join_in_flight().await?)
    }

    async fn join_in_flight(&mut self) -> Result<(), StoreError> {
        let Some(in_flight) = &mut self.in_flight else {
            return Ok(());
        };
        // Removed only after it has ended: it must remain if the caller stops waiting.
        let ended = in_flight.await;
        self.in_flight = None;
        match ended {
            Ok(written) => written?,
            Err(lost) => return Err(StoreError::Other(lost.into())),
        }
        self.mark_stored();
        Ok(())
    }

    pub(in crate::durable) fn has_write_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }
}

/// Where the one record of a change is: its namespace, its number, its task and its name.
fn place(change: &StoreChange) -> Option<(&str, u64, TaskId, &str)> {
    let StoreChange::Write {
        namespace,
        seq,
        writes,
    } = change
    else {
        return None;
    };
    let [write] = &writes[..] else {
        return None;
    };
    Some((namespace, *seq, write.task, &write.name))
}
