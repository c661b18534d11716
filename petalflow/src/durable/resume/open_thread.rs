//! Opens a thread: loads its newest checkpoint and applies an input or a resume to it.

use std::sync::Arc;

use super::opener::{OpenedThread, ThreadOpener};
use super::thread_start::{Command, Nested, ThreadStart};
use super::undo_turn::UnfinishedTurn;
use crate::checkpoint::{Cause, Header, OnBusy, Outline, StoredWrite, ThreadStatus, WriteName};
use crate::clock::from_ms;
use crate::durable::inbox::Inbox;
use crate::durable::load::checkpoint::{LoadedCheckpoint, load_checkpoint, waiting};
use crate::durable::load::ended_call::{back_to_ended_call, is_end_of_call};
use crate::durable::load::sleeps::sleeps;
use crate::durable::record::fingerprint::{Fingerprint, codec_of};
use crate::durable::record::seq::Origin;
use crate::durable::results::task_results::load_writes_of;
use crate::durable::write::checkpoint_writer::CheckpointWriter;
use crate::durable::write::event_log::LoadedBarrier;
use crate::erased::{EffectsBox, InputBox, begin_turn};
use crate::flow::AnyFlow;
use crate::ids::TaskId;
use crate::interrupt::AnyResume;
use crate::outcome::ThreadError;
use crate::plan::{ExecutionPlan, NodeNames};
use crate::question::Interrupt;
use crate::state::{KeyFlag, KeyMeta, KeySet};
use crate::superstep::Planner;
use crate::task_services::question::answer::only_interrupts;

/// Opens a thread, or the history of a sub-flow, and applies the command to it.
pub(in crate::durable) async fn open(
    flow: &dyn AnyFlow,
    plan: &ExecutionPlan,
    start: ThreadStart,
) -> Result<OpenedThread, ThreadError> {
    let ThreadStart {
        storage,
        namespace,
        durability,
        on_busy,
        command,
        nested,
        discard_pending,
        retention,
        leaves_held,
        ..
    } = start;
    let ty = flow.state_type();
    let codec = codec_of(ty)?;
    let fingerprint = Fingerprint::of(ty, flow.stored_name(), plan);
    let head = load_checkpoint(&storage, namespace.as_str(), None, codec, &fingerprint).await?;
    if nested.is_none() {
        if head.is_none() {
            storage.begin().await?;
        }
        let newest = head.as_ref().map(|head| head.position.seq.get());
        storage.set_newest(newest);
    }
    // Of the thread's own flow: the task of another thread that has started it.
    let started_by = head.as_ref().and_then(|head| head.record.header.owner);
    let started_by = started_by
        .filter(|_| nested.is_none())
        .map(TaskId::from_bytes);
    if started_by.is_some() {
        storage.links.set_child();
    }
    let (address, newest) = (
        namespace.to_string(),
        head.as_ref().map(|head| head.position.seq),
    );
    let mut writer =
        CheckpointWriter::new(storage, address, codec, fingerprint, durability, newest);
    writer.set_retention(retention);
    if let Some(head) = &head {
        writer.set_previous_outline(head.outline.clone());
        writer.set_lost(head.lost);
    }
    if let Some(owner) = nested.as_ref().map(|nested| nested.owner.id).or(started_by) {
        writer.set_owner(owner);
    }
    let loaded = head.as_ref().and_then(loaded_barrier);
    let mut opener = ThreadOpener {
        plan,
        planner: Planner::new(plan),
        writer,
        namespace,
        inbox: nested.is_none().then(|| Inbox::of(ty)).flatten(),
    };
    let opened = match (command, head) {
        (Command::Input(input), None) => {
            let Some(nested) = nested else {
                return opener.begin(input).await;
            };
            opener.writer.set_parent_barrier(nested.barrier());
            let mut opened = opener.begin(input).await?;
            opened.nest_in(nested.owner);
            Ok(opened)
        }
        (Command::Input(input), Some(head)) => match nested {
            None => {
                let undone = match on_busy {
                    OnBusy::Rollback => UnfinishedTurn::of(opener.writer.storage(), &head).await?,
                    _ => None,
                };
                if let Some(undone) = undone {
                    return opener.begin_instead(undone, head, input).await;
                }
                if !discard_pending {
                    opener.check_nothing_waits(&head).await?;
                }
                opener.begin_turn(head, None, input).await
            }
            Some(nested) => opener.open_nested(head, input, nested).await,
        },
        (Command::Resume(resume), Some(head)) => opener.resume(head, *resume, !leaves_held).await,
        (Command::Resume(_), None) => Err(ThreadError::Unknown {
            thread: opener.writer.storage().thread.to_string(),
        }),
    };
    Ok(OpenedThread { loaded, ..opened? })
}

/// The checkpoint of a run, whose events are in the log if the process has not ended behind it. Edits and forks have none.
fn loaded_barrier(head: &LoadedCheckpoint) -> Option<LoadedBarrier> {
    let header = &head.record.header;
    let ends_superstep = match header.cause {
        Cause::Superstep => true,
        Cause::Input => false,
        _ => return None,
    };
    Some(LoadedBarrier {
        checkpoint: head.position.seq.get(),
        superstep: header.superstep,
        ends_superstep,
    })
}

impl ThreadOpener<'_> {
    /// Begins a new thread, or a sub-flow without an earlier state.
    pub(super) async fn begin(mut self, input: InputBox) -> Result<OpenedThread, ThreadError> {
        self.writer.set_lost(KeySet::NONE);
        let start = self.writer.codec().ty.start;
        let (state, written) = start(input).map_err(|error| {
            ThreadError::Request(format!("the input cannot be applied: {error}"))
        })?;
        self.start(1, state, written).await
    }

    /// Opens a sub-flow that has run before. It resumes if it runs for the same task as before, unless that is tried again.
    /// Otherwise it begins a turn if it retains its state, and begins without an earlier state if it does not.
    async fn open_nested(
        mut self,
        mut head: LoadedCheckpoint,
        input: InputBox,
        nested: Nested,
    ) -> Result<OpenedThread, ThreadError> {
        self.writer.set_parent_barrier(nested.barrier());
        let Nested {
            owner,
            retains_state,
            is_retry,
            ..
        } = nested;
        let answers = Arc::clone(&owner.services.answers);
        let is_of_task = head.record.header.owner == Some(owner.id.to_bytes());
        let mut opened = if is_of_task && !is_retry {
            // The outermost flow also stores the decisions for its sub-flows.
            head.record.header.answers.extend(answers.entries());
            self.resume(head, AnyResume::default(), false).await?
        } else {
            let origin = Origin::new(head.record.header.origin);
            let last = if retains_state {
                self.ended_call(head, owner.id).await?
            } else {
                None
            };
            if let Some((ended, failed)) = last {
                self.begin_turn(ended, failed, input).await?
            } else {
                self.writer.set_oldest_results(origin);
                self.begin(input).await?
            }
        };
        opened
            .waiting
            .retain(|interrupt| !answers.has(interrupt.id));
        opened.nest_in(owner);
        Ok(opened)
    }

    /// The checkpoint at which the last call of the sub-flow by another task has ended, and the newest one if that is of a call
    /// that has not ended. A call that fails leaves nothing, except for what it has recorded for this case.
    async fn ended_call(
        &mut self,
        head: LoadedCheckpoint,
        owner: TaskId,
    ) -> Result<Option<(LoadedCheckpoint, Option<LoadedCheckpoint>)>, ThreadError> {
        let header = &head.record.header;
        if is_end_of_call(header) && header.owner != Some(owner.to_bytes()) {
            // A fork from before the first call has left a checkpoint without a turn.
            return Ok((header.turn > 0).then_some((head, None)));
        }
        let (storage, namespace) = (self.writer.storage(), self.namespace.as_str());
        let ended = back_to_ended_call(storage, namespace, Some(owner)).await?;
        let Some(ended) = ended.as_ref().and_then(|newer| newer.last()) else {
            return Ok(None);
        };
        let (codec, program) = (self.writer.codec(), self.writer.fingerprint());
        let seq = Some(ended.seq);
        let ended = load_checkpoint(storage, namespace, seq, codec, program).await?;
        let Some(ended) = ended.filter(|ended| ended.record.header.turn > 0) else {
            return Ok(None);
        };
        self.writer.set_previous_outline(ended.outline.clone());
        self.writer.set_lost(ended.lost);
        Ok(Some((ended, Some(head))))
    }

    /// Refuses an input while the thread waits for an answer that a person can still give, or sleeps.
    async fn check_nothing_waits(&self, head: &LoadedCheckpoint) -> Result<(), ThreadError> {
        let storage = self.writer.storage();
        let namespace = self.namespace.as_str();
        let waits = waiting(
            storage,
            namespace,
            NodeNames::Current(self.plan),
            &head.record,
            &head.writes,
        )?;
        let sleeps = sleeps(&head.writes)?;
        if waits.is_empty() && sleeps.is_empty() {
            // Only a turn that has not ended can begin later.
            if head.record.header.frontier.is_empty() {
                return Ok(());
            }
            return self.check_begins_at_once().await;
        }
        let now = storage.store.now_ms().await?;
        let waiting: Vec<Interrupt> = only_interrupts(&waits)
            .into_iter()
            .filter(|interrupt| interrupt.expires_ms.is_none_or(|at| at > now))
            .collect();
        let thread = storage.thread.to_string();
        if !waiting.is_empty() {
            return Err(ThreadError::Waiting { thread, waiting });
        }
        let until_ms = match sleeps.iter().filter(|end| **end > now).min() {
            Some(next) => *next,
            None => match sleeps.iter().min() {
                // Its time has come, and nobody has resumed it.
                Some(ended) if self.is_asleep().await? => *ended,
                _ => return Ok(()),
            },
        };
        let until = from_ms(until_ms);
        Err(ThreadError::Sleeping { thread, until })
    }

    /// Refuses an input for a thread that was begun and that is to run later.
    async fn check_begins_at_once(&self) -> Result<(), ThreadError> {
        let storage = self.writer.storage();
        let info = storage.info().await?;
        let sleeping = info.filter(|info| info.status == ThreadStatus::Sleeping);
        match sleeping.and_then(|info| info.due_ms) {
            Some(due_ms) => Err(ThreadError::Sleeping {
                thread: storage.thread.to_string(),
                until: from_ms(due_ms),
            }),
            None => Ok(()),
        }
    }

    /// Whether the last run of the thread has ended in a sleep.
    async fn is_asleep(&self) -> Result<bool, ThreadError> {
        let info = self.writer.storage().info().await?;
        Ok(info.is_some_and(|info| info.status == ThreadStatus::Sleeping))
    }

    /// The writes to `recover` keys by the tasks of a superstep that was not committed, in the order of the tasks: those of the
    /// tasks that finished, and those that the other tasks have recorded for this case.
    fn recovered_writes(
        &self,
        header: &Header,
        outline: &Outline,
        writes: &[StoredWrite],
    ) -> Result<Vec<EffectsBox>, ThreadError> {
        let codec = self.writer.codec();
        let keys = KeyMeta::set(codec.ty.keys, KeyFlag::Recover);
        let mut recovered = Vec::new();
        if keys.is_empty() {
            return Ok(recovered);
        }
        let (storage, namespace) = (self.writer.storage(), self.namespace.as_str());
        for task in &header.frontier {
            let id = storage.task_id(namespace, header.origin, &task.node, task.send);
            let Some(write) = StoredWrite::result_of(id, writes) else {
                recovered.push(self.unfinished_writes(id, keys, writes));
                continue;
            };
            let program = (self.writer.fingerprint(), outline);
            let recorded = load_writes_of(codec, program, keys, &write.bytes);
            let what = || format!("the result of node `{}`", task.node);
            recovered.extend(recorded.map_err(ThreadError::value(what()))?);
        }
        Ok(recovered)
    }

    /// The writes to these keys that a task has recorded in case it does not finish. Those of another type are lost.
    fn unfinished_writes(&self, task: TaskId, keys: KeySet, writes: &[StoredWrite]) -> EffectsBox {
        let codec = self.writer.codec();
        let mut recorded = (codec.ty.no_effects)();
        for write in writes.iter().filter(|write| write.task == task) {
            if let Some(WriteName::Unfinished(id)) = write.contents()
                && let Some(key) = codec.ty.keys.iter().position(|key| key.id == id)
                && keys.contains(key)
            {
                let _ = (codec.load_writes)(&mut *recorded, key, &write.bytes);
            }
        }
        recorded
    }

    /// Begins a new turn: the state remains, except for the keys that last one turn. `failed` is a later checkpoint, of a turn
    /// that is not continued and of which the state has nothing.
    pub(super) async fn begin_turn(
        mut self,
        head: LoadedCheckpoint,
        failed: Option<LoadedCheckpoint>,
        input: InputBox,
    ) -> Result<OpenedThread, ThreadError> {
        let LoadedCheckpoint {
            mut state,
            mut written,
            record,
            position,
            outline,
            writes,
            lost,
            ..
        } = head;
        self.writer.follow(position, &record.header);
        let ty = self.writer.codec().ty;
        let kept = if record.header.frontier.is_empty() {
            KeySet::NONE
        } else {
            // The tasks that were to read these values have not finished.
            KeyMeta::set(ty.keys, KeyFlag::Recover)
        };
        let reset = begin_turn(&mut *state, &mut written, kept);
        // The new turn begins without what the last one has lost.
        self.writer.mark_changed(reset.union(lost));
        let recovered = match &failed {
            Some(failed) => {
                self.recovered_writes(&failed.record.header, &failed.outline, &failed.writes)?
            }
            None => self.recovered_writes(&record.header, &outline, &writes)?,
        };
        for recovered in recovered {
            self.write(&mut *state, &mut written, recovered)?;
        }
        // What was sent before the input is before it.
        self.take_messages(&mut *state, &mut written).await?;
        self.write(&mut *state, &mut written, (ty.input)(input))?;
        self.start(record.header.turn + 1, state, written).await
    }
}
