//! Going on where a thread stopped, with what people say to it.

use super::load::{LoadedCheckpoint, waiting};
use super::open::{OpenedThread, ThreadOpener};
use super::restored_frontier::{node_of, restore_frontier};
use crate::checkpoint::{Cause, DecisionRecord, Header};
use crate::clock::now_ms;
use crate::ids::TaskId;
use crate::interrupt::{Approval, Decision, Resume};
use crate::outcome::ThreadError;
use crate::question::{AnswerError, Interrupt, InterruptId, InterruptKind};
use crate::state::{KeySet, State};
use crate::superstep::{Planner, Task};

impl<S: State> ThreadOpener<'_, S> {
    /// Goes on where the thread stopped.
    pub(super) async fn resume(
        mut self,
        head: LoadedCheckpoint<S>,
        resume: Resume<S>,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let LoadedCheckpoint {
            mut state,
            mut written,
            record,
            writes,
            seq,
            base,
            sizes,
            ..
        } = head;
        let archive = &self.writer.archive;
        let place = self.namespace.as_str();
        let mut waiting = waiting(archive, place, self.plan, &record, &writes)?;
        let header = record.header;
        let superstep = header.superstep;
        self.writer.follow(seq, base, sizes, &header);
        self.writer.header.turn = header.turn;
        self.writer.header.origin = header.origin;
        self.writer.header.owner = header.owner;
        self.writer.header.gates.clone_from(&header.gates);
        self.writer.header.answers.clone_from(&header.answers);
        let Resume {
            answers,
            approvals,
            updates,
            goto,
        } = resume;
        let mut changed =
            !answers.is_empty() || !approvals.is_empty() || !updates.is_empty() || !goto.is_empty();
        // Whoever asks again after a crash hears the same.
        let mut rejected = if changed { None } else { rejection(&header) };
        // Where a person says where to go on, it need not be known where the run would have.
        let mut frontier = Vec::new();
        if goto.is_empty() {
            let waits = restore_frontier(self.plan, &self.writer, header)?;
            frontier = waits.frontier;
            self.planner.restore(waits.deferred, &waits.arrived);
        }
        for answer in answers {
            self.answer(answer, &mut waiting)?;
        }
        changed |= self.expire(&mut waiting);
        for update in updates {
            let update = update.map_err(|error| AnswerError::Value(error.to_string()))?;
            self.write(&mut state, &mut written, update)?;
        }
        for (id, approval) in approvals {
            let state = (&mut state, &mut written);
            rejected = self
                .approve(id, approval, state, &mut waiting)?
                .or(rejected);
        }
        if rejected.is_some() {
            frontier.clear();
            self.planner = Planner::new(self.plan);
            self.writer.header.gates.clear();
            waiting.clear();
        }
        if !goto.is_empty() {
            self.planner = Planner::new(self.plan);
            frontier = self.go_to(&goto)?;
            self.writer.header.gates.clear();
            self.writer.header.answers.clear();
            self.writer.header.origin = seq + 1;
            waiting.clear();
        }
        if changed {
            self.writer.seq = seq + 1;
            self.writer.header.cause = Cause::Update;
            if rejected.is_some() {
                self.writer.header.cause = Cause::Rejected;
                self.writer.header.origin = self.writer.seq;
            }
            self.mark(&state, written, &frontier, superstep).await?;
        } else {
            self.describe(&frontier, superstep)?;
        }
        let mut opened = self.opened(state, written, frontier, superstep, &writes)?;
        let waiting = waiting.into_iter().map(|(_, interrupt)| interrupt);
        opened.waiting = waiting
            .filter(|interrupt| interrupt.kind == InterruptKind::After)
            .collect();
        opened.rejected = rejected;
        Ok(opened)
    }

    /// Takes a decision, which is noted in the history. If it ends the run, the note that says so.
    fn approve(
        &mut self,
        id: Option<InterruptId>,
        approval: Approval<S>,
        (state, written): (&mut S, &mut KeySet),
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<Option<DecisionRecord>, ThreadError> {
        let decided = self.decide(id, &approval, waiting)?;
        let note = |interrupt: &Interrupt| DecisionRecord {
            node: interrupt.node.clone(),
            decision: approval.decision.word().into(),
            by: approval.by.clone(),
            reason: approval.reason.clone(),
            at_ms: now_ms(),
        };
        for interrupt in &decided {
            self.writer.note(note(interrupt));
        }
        let rejected = decided.first().map(note);
        match approval.decision {
            Decision::Approve => {}
            Decision::Skip => {
                for interrupt in &decided {
                    self.can_skip(interrupt)?;
                }
            }
            Decision::Edit(edit) => {
                for interrupt in &decided {
                    self.can_edit(interrupt)?;
                }
                let update = edit.map_err(|error| AnswerError::Value(error.to_string()))?;
                self.write(state, written, update)?;
            }
            Decision::Reject => return Ok(rejected),
        }
        Ok(None)
    }

    /// The frontier of these nodes.
    fn go_to(&self, nodes: &[String]) -> Result<Vec<Task>, ThreadError> {
        let mut places = Vec::new();
        for name in nodes {
            places.push(node_of(self.plan, name)?);
        }
        places.sort_unstable();
        places.dedup();
        for place in &places {
            if self.plan.takes_item[*place as usize] {
                return Err(ThreadError::Request(format!(
                    "the run cannot go on at node `{}`, because it takes an item that only an edge can deliver",
                    self.plan.name(*place)
                )));
            }
        }
        Ok(places.into_iter().map(Task::plain).collect())
    }
}

/// The note of the rejection that ended the run here, if one has.
fn rejection(header: &Header) -> Option<DecisionRecord> {
    let mut notes = header.notes.iter();
    let rejected = notes.rfind(|note| note.decision == "rejected");
    rejected
        .filter(|_| header.cause == Cause::Rejected)
        .cloned()
}
