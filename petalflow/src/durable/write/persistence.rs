//! The persistence of a run on a thread: what the driver reports, as checkpoints and task results.

use std::collections::{HashMap, HashSet};
use std::future::ready;
use std::sync::Arc;

use petalflow_graph::NodeIdx;

use super::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use super::event_log::EventLog;
use crate::checkpoint::{DecisionKind, DecisionRecord, StoreError};
use crate::durable::inbox::Inbox;
use crate::durable::load::checkpoint::interrupt_at;
use crate::durable::record::seq::CheckpointSeq;
use crate::erased::AnyEffects;
use crate::exec::{
    Barrier, Committed, FinishedTask, InterruptDecision, LostKeys, Persistence, Stopped,
    TaskDisposition, TaskResult, Unread, Waits,
};
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId, InterruptKind};
use crate::state::KeySet;
use crate::superstep::Task;
use crate::task_services::TaskServices;
use crate::task_services::question::answer::time_for;
use crate::task_services::question::{GivenAnswers, WaitingQuestion};

/// The persistence of a run on a thread.
pub(in crate::durable) struct ThreadPersistence {
    writer: CheckpointWriter,
    services: Arc<TaskServices>,
    /// The results of tasks in a superstep that was stopped.
    finished: HashMap<TaskId, FinishedTask>,
    /// The keys whose values were not stored, until they are written again.
    lost: LostKeys,
    log: Option<Arc<EventLog>>,
    inbox: Option<Inbox>,
    /// The questions of the superstep that were told while other tasks ran.
    told: HashSet<InterruptId>,
    /// The decisions that end the run, which it was given while tasks ran.
    rejecting: Vec<GivenAnswers>,
}

impl ThreadPersistence {
    pub(in crate::durable) fn new(
        mut writer: CheckpointWriter,
        services: Arc<TaskServices>,
        finished: HashMap<TaskId, FinishedTask>,
        lost: LostKeys,
        log: Option<Arc<EventLog>>,
        inbox: Option<Inbox>,
    ) -> Self {
        writer.set_restored_results(finished.keys().copied());
        ThreadPersistence {
            writer,
            services,
            finished,
            lost,
            log,
            inbox,
            told: HashSet::new(),
            rejecting: Vec::new(),
        }
    }

    /// Lets callers of this process answer these questions while the run goes on, until they expire.
    async fn set_open(&self, questions: Vec<WaitingQuestion>) -> Result<(), StoreError> {
        let Some(live) = &self.services.live else {
            return Ok(());
        };
        let open = questions.iter().map(|open| &open.interrupt);
        let now_ms = time_for(self.writer.storage(), open).await?;
        let open = questions.into_iter();
        live.set_open(
            open.map(|open| (open.task, open.interrupt)).collect(),
            now_ms,
        );
        Ok(())
    }

    fn task_id(&self, node: &str, send: Option<u32>) -> TaskId {
        self.writer.storage().task_id(
            self.writer.namespace(),
            self.writer.origin().get(),
            node,
            send,
        )
    }

    /// The interrupt before or after a node of the last barrier's frontier, with the task that waits.
    fn interrupt_at(&self, node: &str, kind: InterruptKind) -> (TaskId, Interrupt) {
        interrupt_at(
            self.writer.storage(),
            self.writer.namespace(),
            self.writer.origin().get(),
            node,
            kind,
        )
    }
}

impl Persistence for ThreadPersistence {
    fn is_stored(&self) -> bool {
        true
    }

    fn runs_all(&self) -> bool {
        self.finished.is_empty() && self.lost.is_empty()
    }

    fn superstep_begun(&mut self, plan: &ExecutionPlan, frontier: &[Task]) -> Vec<TaskDisposition> {
        if self.finished.is_empty() {
            return Vec::new();
        }
        let mut dispositions = Vec::new();
        for task in frontier {
            let id = self.task_id(plan.stored_name(task.node), task.send);
            dispositions.push(match self.finished.remove(&id) {
                Some(finished) => TaskDisposition::Finished(finished),
                None => TaskDisposition::Run,
            });
        }
        self.finished.clear();
        dispositions
    }

    fn lost(&self) -> LostKeys {
        self.lost
    }

    fn interrupt_decision(&self, plan: &ExecutionPlan, node: NodeIdx) -> Option<InterruptDecision> {
        let (_, interrupt) = self.interrupt_at(plan.stored_name(node), InterruptKind::Before);
        let (decision, _) = self.services.answers.get(interrupt.id)?;
        Some(match DecisionKind::named(&decision) {
            Some(DecisionKind::Skipped) => InterruptDecision::Skip,
            _ => InterruptDecision::Continue,
        })
    }

    fn wait_at_interrupt(&mut self, plan: &ExecutionPlan, node: NodeIdx) {
        let (task, mut interrupt) =
            self.interrupt_at(plan.stored_name(node), InterruptKind::Before);
        interrupt.node = plan.name(node).into();
        interrupt.chooses = plan.chooses(node);
        if let Some(asked_ms) = self.services.first_asked_ms(interrupt.id) {
            interrupt.asked_ms = asked_ms;
        }
        self.services.wait_for_approval(WaitingQuestion {
            node,
            index: None,
            task,
            interrupt,
        });
    }

    fn tasks_finished(
        &mut self,
        plan: &ExecutionPlan,
        finished: &mut dyn ExactSizeIterator<Item = TaskResult<'_>>,
    ) -> Result<(), ThreadError> {
        self.writer.write_finished(plan, finished)
    }

    fn waited(&mut self) {
        self.writer.forget_time();
    }

    fn flush<'a>(&'a mut self, committed: Committed<'a>) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            // A pass that is lost leaves the result of a task only with the events of the task.
            if let Some(log) = self.log.as_ref().filter(|log| log.is_part()) {
                log.flush().await?;
            }
            self.writer.flush(committed).await?;
            self.services.notify_flushed();
            Ok(())
        })
    }

    fn questions_asked<'a>(
        &'a mut self,
        committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<Vec<Interrupt>, ThreadError>> {
        Box::pin(async move {
            self.flush(committed).await?;
            let mut questions = self.services.open_questions();
            number_questions(&mut questions);
            let ids = |question: &WaitingQuestion| question.interrupt.id;
            let new: Vec<Interrupt> = questions
                .iter()
                .filter(|question| !self.told.contains(&ids(question)))
                .map(|question| question.interrupt.clone())
                .collect();
            if new.is_empty() {
                return Ok(new);
            }
            // Those that were told before have another position now.
            self.writer.write_questions(Vec::new(), &questions).await?;
            self.told.extend(questions.iter().map(ids));
            if let Some(parent) = &self.services.parent {
                parent.announce(&new);
            }
            self.set_open(questions).await?;
            Ok(new)
        })
    }

    fn questions_told(&mut self) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            if let Some(log) = &self.log {
                log.flush().await?;
            }
            Ok(())
        })
    }

    fn answers_given<'a>(
        &'a mut self,
        committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<Option<DecisionRecord>, ThreadError>> {
        Box::pin(async move {
            let given = self.services.live.as_ref().map(|live| live.take_given());
            let given = given.unwrap_or_default();
            let mut notes = given.iter().flat_map(|given| &given.notes);
            if let Some(rejected) = notes.find(|note| note.decision == DecisionKind::Rejected) {
                let rejected = rejected.clone();
                // Recorded when the effects that are in flight are.
                self.rejecting = given;
                return Ok(Some(rejected));
            }
            self.writer.save_answers(&given, committed).await?;
            let entries = given.iter().flat_map(|given| given.entries.iter().cloned());
            self.services.answers.add(entries);
            given.into_iter().for_each(GivenAnswers::are_stored);
            Ok(None)
        })
    }

    fn is_idle(&self) -> bool {
        !self.writer.has_write_in_flight()
            && !self.services.has_questions()
            && !self.writer.keeps_results()
    }

    fn tasks_ended<'a>(
        &'a mut self,
        plan: &'a ExecutionPlan,
        committed: Committed<'a>,
        finished: Vec<TaskResult<'a>>,
        stopped: Option<Stopped>,
    ) -> BoxFuture<'a, Result<Waits, ThreadError>> {
        Box::pin(async move {
            let wakes_ms = self.services.wakes_ms();
            let mut questions = self.services.questions();
            let rejecting = std::mem::take(&mut self.rejecting);
            if !rejecting.is_empty() {
                let saved = self.writer.save_rejection(plan, &rejecting, committed);
                saved.await?;
                rejecting.into_iter().for_each(GivenAnswers::are_stored);
                return Ok(Waits::default());
            }
            number_questions(&mut questions);
            let waits = !questions.is_empty() || wakes_ms.is_some() || self.services.is_held();
            if stopped.is_none() && !waits {
                // A write that is in flight must not reach the store after the checkpoint that makes it unnecessary.
                self.writer.await_in_flight().await?;
                if self.writer.keeps_results() {
                    self.writer.write_committed(plan, finished)?;
                }
                return Ok(Waits::default());
            }
            // First the barrier: after a crash, other tasks would find results that are beside a barrier that was lost.
            self.writer.close(committed).await?;
            let failed = stopped.map_or_else(Vec::new, |stopped| stopped.failed);
            self.writer
                .write_stopped(plan, finished, failed, &questions)
                .await?;
            let interrupts = questions.into_iter().map(|question| question.interrupt);
            Ok(Waits {
                interrupts: interrupts.collect(),
                wakes_ms,
            })
        })
    }

    fn takes_messages(&self) -> bool {
        self.inbox.is_some()
    }

    fn read_messages(&mut self) -> BoxFuture<'_, Result<Vec<Unread>, ThreadError>> {
        let (storage, codec) = (self.writer.storage(), self.writer.codec());
        match &mut self.inbox {
            Some(inbox) => Box::pin(inbox.unread(storage, codec)),
            None => Box::pin(ready(Ok(Vec::new()))),
        }
    }

    fn take_messages(&mut self, number: u64) {
        if let Some(inbox) = &mut self.inbox {
            inbox.take(number);
        }
        self.writer.take_messages(number);
    }

    fn record_writes(
        &mut self,
        effects: &[&dyn AnyEffects],
        overwritten: KeySet,
    ) -> Result<(), ThreadError> {
        self.writer.record_writes(effects, overwritten)?;
        for effects in effects {
            self.lost.remove(effects.written());
        }
        Ok(())
    }

    fn barrier_reached(&mut self, barrier: Barrier<'_>) -> Result<bool, ThreadError> {
        self.writer
            .record_with_next(self.services.take_caller_records());
        let received = self.services.forget_tasks();
        if !received.is_empty() {
            self.writer.receive_messages(received);
        }
        if !self.told.is_empty() {
            self.told.clear();
            if let Some(live) = &self.services.live {
                live.set_open(Vec::new(), 0);
            }
        }
        let waits = !barrier.interrupt_points.is_empty();
        self.writer.set_interrupt_points(barrier.interrupt_points);
        let due = self.writer.advance(&PlannedFrontier {
            plan: barrier.plan,
            planner: barrier.planner,
            frontier: barrier.frontier,
            superstep: barrier.superstep,
        })?;
        let due = due || barrier.frontier.is_empty() || waits;
        if due {
            self.writer.encode(barrier.committed)?;
        }
        Ok(due)
    }

    fn write_checkpoint(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        let Some(log) = &self.log else {
            return self.writer.write_encoded();
        };
        let writer = &mut self.writer;
        Box::pin(async move {
            log.flush().await?;
            writer.write_encoded().await
        })
    }

    fn checkpoint_written(&mut self) {
        self.writer.mark_appended();
    }

    fn interrupts_after(&self) -> Vec<Interrupt> {
        let interrupt_points = self.writer.interrupt_points().iter();
        interrupt_points
            .map(|node| self.interrupt_at(node, InterruptKind::After).1)
            .collect()
    }

    fn run_ended<'a>(
        &'a mut self,
        committed: Committed<'a>,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(self.writer.close(committed))
    }

    fn take_checkpoint(&mut self) -> Option<u64> {
        self.writer.take_unreported().map(CheckpointSeq::get)
    }
}

/// Sorts the questions in the order in which their tasks are declared, and numbers them. The questions of one task are in the
/// order in which it asked.
fn number_questions(questions: &mut [WaitingQuestion]) {
    questions.sort_by_key(|question| (question.node, question.index));
    for (position, question) in (0..).zip(questions) {
        question.interrupt.position = position;
    }
}
