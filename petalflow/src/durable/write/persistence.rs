//! The persistence of a run on a thread: what the driver reports, as checkpoints and task results.

use std::collections::HashMap;
use std::sync::Arc;

use petalflow_graph::NodeIdx;

use super::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use super::event_log::EventLog;
use crate::checkpoint::{DecisionKind, StoreError};
use crate::durable::load::checkpoint::interrupt_at;
use crate::durable::record::seq::CheckpointSeq;
use crate::exec::{
    Barrier, Committed, FinishedTask, InterruptDecision, LostKeys, Persistence, Stopped,
    TaskDisposition, TaskResult,
};
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptKind};
use crate::state::{KeySet, State, Update};
use crate::superstep::Task;
use crate::task_services::TaskServices;
use crate::task_services::question::WaitingQuestion;

/// The persistence of a run on a thread.
pub(in crate::durable) struct ThreadPersistence<S: State> {
    writer: CheckpointWriter<S>,
    services: Arc<TaskServices>,
    /// The results of tasks in a superstep that was stopped.
    finished: HashMap<TaskId, FinishedTask<S>>,
    /// The interrupts before nodes of the superstep, with the tasks that wait.
    interrupt_points: Vec<WaitingQuestion>,
    /// The keys whose values were not stored, until they are written again.
    lost: LostKeys,
    log: Option<Arc<EventLog>>,
}

impl<S: State> ThreadPersistence<S> {
    pub(in crate::durable) fn new(
        writer: CheckpointWriter<S>,
        services: Arc<TaskServices>,
        finished: HashMap<TaskId, FinishedTask<S>>,
        lost: LostKeys,
        log: Option<Arc<EventLog>>,
    ) -> Self {
        ThreadPersistence {
            writer,
            services,
            finished,
            interrupt_points: Vec::new(),
            lost,
            log,
        }
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

impl<S: State> Persistence<S> for ThreadPersistence<S> {
    const STORED: bool = true;

    fn runs_all(&self) -> bool {
        self.finished.is_empty() && self.lost.is_empty()
    }

    fn superstep_begun(
        &mut self,
        plan: &ExecutionPlan,
        frontier: &[Task],
    ) -> Vec<TaskDisposition<S>> {
        if self.finished.is_empty() {
            return Vec::new();
        }
        let mut dispositions = Vec::new();
        for task in frontier {
            let id = self.task_id(plan.stored_name(task.node), task.send);
            dispositions.push(match self.finished.remove(&id) {
                Some(finished) => TaskDisposition::Finished(Box::new(finished)),
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
        let (decision, _) = self.services.answers.get(&interrupt.id)?;
        Some(match DecisionKind::named(decision) {
            Some(DecisionKind::Skipped) => InterruptDecision::Skip,
            _ => InterruptDecision::Continue,
        })
    }

    fn wait_at_interrupt(&mut self, plan: &ExecutionPlan, node: NodeIdx) {
        let (task, mut interrupt) =
            self.interrupt_at(plan.stored_name(node), InterruptKind::Before);
        if self
            .interrupt_points
            .iter()
            .any(|point| point.interrupt.id == interrupt.id)
        {
            return;
        }
        interrupt.node = plan.name(node).into();
        interrupt.chooses = plan.chooses(node);
        if let Some(asked_ms) = self.services.first_asked_ms(interrupt.id) {
            interrupt.asked_ms = asked_ms;
        }
        self.interrupt_points.push(WaitingQuestion {
            node,
            index: None,
            task,
            interrupt,
        });
    }

    fn tasks_finished<'a>(
        &mut self,
        plan: &ExecutionPlan,
        finished: impl ExactSizeIterator<Item = TaskResult<'a, S>>,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        self.writer.write_finished(plan, finished)
    }

    fn waited(&mut self) {
        self.writer.forget_time();
    }

    async fn flush(&mut self, committed: Committed<'_, S>) -> Result<(), ThreadError> {
        // A pass that is lost leaves the result of a task only with the events of the task.
        if let Some(log) = self.log.as_ref().filter(|log| log.is_part()) {
            log.flush().await?;
        }
        self.writer.flush(committed).await?;
        self.services.notify_flushed();
        Ok(())
    }

    fn is_idle(&self) -> bool {
        !self.writer.has_write_in_flight()
            && !self.services.has_questions()
            && self.interrupt_points.is_empty()
    }

    async fn tasks_ended<'a>(
        &mut self,
        plan: &ExecutionPlan,
        committed: Committed<'_, S>,
        finished: Vec<TaskResult<'a, S>>,
        stopped: Option<Stopped>,
    ) -> Result<Vec<Interrupt>, ThreadError>
    where
        S: 'a,
    {
        let mut questions = std::mem::take(&mut self.interrupt_points);
        questions.extend(self.services.questions());
        number_questions(&mut questions);
        if stopped.is_none() && questions.is_empty() && !self.services.is_held() {
            // A write that is in flight must not reach the store after the checkpoint that makes it unnecessary.
            self.writer.await_in_flight().await?;
            return Ok(Vec::new());
        }
        // First the barrier: after a crash, other tasks would find results that are beside a barrier that was lost.
        self.writer.close(committed).await?;
        let failed = stopped.map_or_else(Vec::new, |stopped| stopped.failed);
        self.writer
            .write_stopped(plan, finished, failed, &questions)
            .await?;
        let interrupts = questions.into_iter().map(|question| question.interrupt);
        Ok(interrupts.collect())
    }

    fn record_writes<'a>(
        &mut self,
        updates: impl Iterator<Item = &'a Update<S>>,
        overwritten: KeySet,
    ) -> Result<(), ThreadError>
    where
        S: 'a,
    {
        let mut lost = self.lost;
        let updates = updates.inspect(|update| lost.remove(update.written()));
        self.writer.record_writes(updates, overwritten)?;
        self.lost = lost;
        Ok(())
    }

    fn barrier_reached(&mut self, barrier: Barrier<'_, S>) -> Result<bool, ThreadError> {
        self.services.forget_tasks();
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

    async fn run_ended(&mut self, committed: Committed<'_, S>) -> Result<(), ThreadError> {
        self.writer.close(committed).await
    }

    fn take_checkpoint(&mut self) -> Option<u64> {
        self.writer.take_unreported().map(CheckpointSeq::get)
    }
}

/// Sorts the questions in the order in which their tasks are declared, and numbers them. The questions of one task are in the
/// order in which it asked.
///
/// Not generic, so that programs do not compile the sort.
fn number_questions(questions: &mut [WaitingQuestion]) {
    questions.sort_by_key(|question| (question.node, question.index));
    for (position, question) in (0..).zip(questions) {
        question.interrupt.position = position;
    }
}
