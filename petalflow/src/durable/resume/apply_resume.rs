//! Applies a resume to the newest checkpoint of a thread: answers, decisions, updates, or another frontier.

use super::opener::{OpenedThread, ThreadOpener};
use super::restored_frontier::{node_of, restore_frontier};
use crate::checkpoint::{Cause, DecisionKind, DecisionRecord, Header, ThreadStatus, ThreadStorage};
use crate::durable::load::checkpoint::{LoadedCheckpoint, waiting};
use crate::durable::load::sleeps::sleeps;
use crate::erased::AnyState;
use crate::exec::LostKeys;
use crate::interrupt::{AnyDecision, AnyResume, DecisionAction};
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::question::{AnswerError, Interrupt, InterruptId, InterruptKind};
use crate::state::KeySet;
use crate::superstep::{Planner, Task};
use crate::task_services::question::answer::{self, Waiting};

impl ThreadOpener<'_> {
    /// Continues where the thread stopped. `releases`: a person who holds the thread does so no longer.
    pub(in crate::durable) async fn resume(
        mut self,
        head: LoadedCheckpoint,
        resume: AnyResume,
        releases: bool,
    ) -> Result<OpenedThread, ThreadError> {
        let LoadedCheckpoint {
            mut state,
            mut written,
            record,
            writes,
            position,
            lost,
            ..
        } = head;
        let storage = self.writer.storage();
        let namespace = self.namespace.as_str();
        let mut waiting = waiting(
            storage,
            namespace,
            NodeNames::Current(self.plan),
            &record,
            &writes,
        )?;
        let header = record.header;
        let superstep = header.superstep;
        self.writer.resume_from(position, &header);
        let AnyResume {
            answers,
            decisions,
            updates,
            goto,
            responses: _,
        } = resume.with_responses(waiting.iter().map(|(_, open)| open))?;
        let mut changed =
            !answers.is_empty() || !decisions.is_empty() || !updates.is_empty() || !goto.is_empty();
        // A caller that resumes again after a crash gets the same result.
        let mut rejected = if changed { None } else { rejection(&header) };
        // With `goto` the stored frontier is not used, so it need not fit the program.
        let mut frontier = Vec::new();
        if goto.is_empty() {
            let waits = restore_frontier(self.plan, &self.writer, header)?;
            frontier = waits.frontier;
            self.planner.restore(waits.deferred, &waits.arrived);
        }
        for answer in answer::answers(&mut waiting, answers)? {
            self.writer.add_answer(answer);
        }
        changed |= self.record_expired(&mut waiting).await?;
        for update in updates {
            let update = update.map_err(|error| AnswerError::Value(error.to_string()))?;
            self.write(&mut *state, &mut written, update)?;
        }
        for (id, decision) in decisions {
            let state = (&mut *state, &mut written);
            rejected = self
                .apply_decision(id, decision, state, &mut waiting)?
                .or(rejected);
        }
        if rejected.is_some() {
            frontier.clear();
            self.planner = Planner::new(self.plan);
            self.writer.clear_interrupt_points();
            waiting.clear();
        }
        if !goto.is_empty() {
            self.planner = Planner::new(self.plan);
            frontier = self.frontier_of(&goto)?;
            waiting.clear();
        }
        if changed {
            self.writer.begin_change(match rejected {
                Some(_) => Cause::Rejected,
                None => Cause::Update,
            });
            if !goto.is_empty() {
                self.writer.replace_frontier();
            }
            self.save_change(&*state, written, &frontier, superstep)
                .await?;
        } else {
            self.describe(&frontier, superstep)?;
            // The status that is listed holds until the next checkpoint.
            if releases && !frontier.is_empty() && !self.writer.has_parent_barrier() {
                let waiting = waiting.iter().map(|(_, interrupt)| interrupt);
                let expires = waiting.filter_map(|interrupt| interrupt.expires_ms);
                // Also of sleeps that have ended: if the process dies, the thread is due.
                let due_ms = expires.chain(sleeps(&writes)?).min();
                list_as_running(self.writer.storage(), due_ms).await?;
            }
        }
        let lossy = self.writer.codec().ty.lossy;
        let mut opened = self.opened(state, written, frontier, superstep, &writes)?;
        opened.waiting = interrupts_after(waiting);
        opened.rejected = rejected;
        opened.lost = LostKeys {
            possible: lossy.minus(opened.written),
            certain: lost.minus(opened.written),
        };
        Ok(opened)
    }

    /// Records the questions that have expired, and returns whether one has. The outermost flow also waits for the questions of its
    /// sub-flows, and does it for them.
    async fn record_expired(&mut self, waiting: &mut Waiting) -> Result<bool, ThreadError> {
        if self.writer.has_parent_barrier() {
            return Ok(false);
        }
        let open = waiting.iter().map(|(_, interrupt)| interrupt);
        let now_ms = answer::time_for(self.writer.storage(), open).await?;
        let has_expired = |open: &Interrupt| open.expires_ms.is_some_and(|at| at <= now_ms);
        let expired = answer::take_expired(waiting, has_expired);
        let is_changed = !expired.is_empty();
        for answer in expired {
            self.writer.add_answer(answer);
        }
        Ok(is_changed)
    }

    /// Applies a decision and adds it to the history. Returns its record if it ends the run.
    fn apply_decision(
        &mut self,
        id: Option<InterruptId>,
        decision: AnyDecision,
        (state, written): (&mut dyn AnyState, &mut KeySet),
        waiting: &mut Waiting,
    ) -> Result<Option<DecisionRecord>, ThreadError> {
        let decided = answer::take_decided(waiting, id)?;
        for interrupt in &decided {
            let kind = decision.action.kind();
            self.writer.add_answer(answer::decision(interrupt, kind));
            self.writer.add_decision(decision.record(interrupt));
        }
        let rejected = decided.first().map(|interrupt| decision.record(interrupt));
        match decision.action {
            DecisionAction::Approve => {}
            DecisionAction::Skip => {
                for interrupt in &decided {
                    self.can_skip(interrupt)?;
                }
            }
            DecisionAction::Edit(edit) => {
                for interrupt in &decided {
                    self.can_edit(interrupt)?;
                }
                let update = edit.map_err(|error| AnswerError::Value(error.to_string()))?;
                self.write(state, written, update)?;
            }
            DecisionAction::Reject => return Ok(rejected),
        }
        Ok(None)
    }

    /// Checks that the node may be skipped. If it chooses a route, the run cannot continue without its choice.
    fn can_skip(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        let Interrupt {
            node, namespace, ..
        } = interrupt;
        let inside = namespace != self.namespace.as_str();
        let node_here = self.plan.index_of(node).filter(|_| !inside);
        // The program may have changed since then. Of a sub-flow, only the recorded interrupt is known.
        let chooses = node_here.map_or(interrupt.chooses, |node| self.plan.chooses(node));
        Ok(answer::check_skip(interrupt, chooses, inside)?)
    }

    /// Checks that the decision may edit the state. The state of a sub-flow cannot be edited.
    fn can_edit(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        if interrupt.namespace == self.namespace.as_str() {
            return Ok(());
        }
        Err(AnswerError::Value(format!(
            "the run waits inside `{}`, whose state cannot be edited from outside: approve, reject or skip node `{}`",
            interrupt.namespace, interrupt.node
        ))
        .into())
    }

    /// The frontier of the nodes that `goto` names.
    fn frontier_of(&self, nodes: &[String]) -> Result<Vec<Task>, ThreadError> {
        let mut indices = Vec::new();
        for name in nodes {
            indices.push(node_of(self.plan, name)?);
        }
        indices.sort_unstable();
        indices.dedup();
        for index in &indices {
            if self.plan.takes_item(*index) {
                return Err(ThreadError::Request(format!(
                    "the run cannot continue at node `{}`, because it takes an item that only an edge can deliver",
                    self.plan.name(*index)
                )));
            }
        }
        Ok(indices.into_iter().map(Task::plain).collect())
    }
}

/// Lists the thread as running, unless it is listed so: after a crash, a process that lives for a short time must not spend its only write
/// on what the store has.
async fn list_as_running(storage: &ThreadStorage, due_ms: Option<u64>) -> Result<(), ThreadError> {
    let listed = storage.info().await?;
    let is_listed = listed.is_some_and(|info| {
        (info.status, info.due_ms) == (ThreadStatus::Running, due_ms)
            && *info.flow == *storage.flow
            && info.damage.is_none()
    });
    if !is_listed {
        storage.describe(ThreadStatus::Running, due_ms).await?;
    }
    Ok(())
}

/// The interrupts after nodes that have no decision yet. The run stops at them again.
fn interrupts_after(waiting: Waiting) -> Vec<Interrupt> {
    let waiting = waiting.into_iter().map(|(_, interrupt)| interrupt);
    waiting
        .filter(|interrupt| interrupt.kind == InterruptKind::After)
        .collect()
}

/// The record of the rejection that ended the run here, if there is one.
fn rejection(header: &Header) -> Option<DecisionRecord> {
    let mut records = header.notes.iter();
    let rejected = records.rfind(|record| record.decision == DecisionKind::Rejected);
    rejected
        .filter(|_| header.cause == Cause::Rejected)
        .cloned()
}
