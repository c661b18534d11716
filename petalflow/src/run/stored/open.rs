//! From a thread's checkpoints to a run that can go on.

use std::collections::HashMap;
use std::sync::Arc;

use super::changes::{Changes, Entries};
use super::desk::{Answers, Desk};
use super::goes_on::{goes_on, node_of};
use super::head::{Head, read, waiting};
use super::journal::{Barrier, Entered, Journal, header};
use super::program::Program;
use super::said::only;
use super::task::{Finished, load_finished};
use super::{Command, Nested, StoredStart};
use crate::checkpoint::{AnswerEntry, Cause, Header, Note, StoredCheckpoint, StoredWrite};
use crate::clock::now_ms;
use crate::flow::Wiring;
use crate::interrupt::{AnswerError, Decision, Interrupt, InterruptId, InterruptKind, Resume};
use crate::node::task_id;
use crate::state::Trait;
use crate::superstep::{Planner, Task};
use crate::thread::ThreadError;
use crate::{Flow, KeyMeta, KeySet, Namespace, State, TaskId};

/// A run that is ready to go on.
pub(crate) struct Opened<S: State> {
    pub(crate) state: S,
    pub(crate) written: KeySet,
    pub(crate) planner: Planner,
    pub(crate) frontier: Vec<Task>,
    pub(crate) superstep: u64,
    pub(crate) journal: Journal<S>,
    pub(crate) desk: Desk,
    /// What tasks of the frontier have left already.
    pub(crate) finished: HashMap<TaskId, Finished<S>>,
    /// What must be answered before anything runs.
    pub(crate) waiting: Vec<Interrupt>,
    /// A person has ended the run here.
    pub(crate) rejected: Option<Note>,
}

/// Opens a thread, or a flow within one, and does to it what was asked for.
pub(crate) async fn open<F: Flow>(
    flow: &F,
    wiring: &Wiring,
    start: StoredStart<F::State>,
) -> Result<Opened<F::State>, ThreadError> {
    let StoredStart {
        archive,
        namespace,
        durability,
        command,
        nested,
        discard,
        ..
    } = start;
    let codec = F::State::codec().ok_or_else(|| {
        ThreadError::Request(format!("the state `{}` cannot be stored", F::State::NAME))
    })?;
    let program = Program::of::<F::State>(flow.stored_name(), wiring);
    let head = read(&archive, namespace.as_str(), None, &codec, &program).await?;
    let header = header(&program);
    let mut opening = Opening {
        wiring,
        planner: Planner::new(wiring),
        journal: Journal {
            archive,
            namespace: namespace.to_string(),
            codec,
            program,
            durability,
            newest: head.as_ref().map(|head| head.seq),
            parent: None,
            base: 0,
            sizes: (0, 0),
            seq: 0,
            unsettled: 0,
            header,
            frontier: Entered::default(),
            deferred: Entered::default(),
            changes: Changes::default(),
            made: None,
            entries: Entries::default(),
            next: StoredCheckpoint::default(),
            next_sizes: (0, 0),
            begin: Vec::new(),
            saved: true,
            torn: false,
            durable: Arc::default(),
            above: None,
            in_flight: None,
            jotted: 0,
            was: head
                .as_ref()
                .map(|head| head.outline.clone())
                .unwrap_or_default(),
        },
        namespace,
    };
    let owner = nested.as_ref().map(|nested| nested.owner.to_bytes());
    opening.journal.header.owner = owner;
    match (command, head) {
        (Command::Input(input), None) => {
            let Some(Nested { answers, above, .. }) = nested else {
                return opening.begin(input).await;
            };
            opening.journal.above = Some(above);
            let mut opened = opening.begin(input).await?;
            opened.desk.answers = answers;
            Ok(opened)
        }
        (Command::Input(input), Some(head)) => match nested {
            None => {
                if !discard {
                    opening.nothing_waits(&head)?;
                }
                opening.turn(head, input).await
            }
            Some(Nested {
                answers,
                keep,
                above,
                ..
            }) => {
                opening.journal.above = Some(above);
                let own = head.record.header.owner == owner;
                let mut head = head;
                if own {
                    // What people have decided here, too, is kept by the outermost flow.
                    let decided = answers.iter().map(|(id, (name, bytes))| AnswerEntry {
                        id: id.to_bytes(),
                        name: name.clone(),
                        bytes: bytes.clone(),
                    });
                    head.record.header.answers.extend(decided);
                }
                let mut opened = if own {
                    opening.resume(head, Resume::new()).await?
                } else if keep && head.record.header.turn > 0 {
                    opening.turn(head, input).await?
                } else {
                    opening.journal.seq = head.seq;
                    opening.journal.unsettled = head.record.header.origin;
                    opening.begin(input).await?
                };
                // What people say is recorded by the outermost flow.
                let said = |interrupt: &Interrupt| answers.contains_key(&interrupt.id);
                opened.waiting.retain(|interrupt| !said(interrupt));
                opened.desk.answers = answers;
                Ok(opened)
            }
        },
        (Command::Resume(resume), Some(head)) => opening.resume(head, *resume).await,
        (Command::Resume(_), None) => Err(ThreadError::Unknown {
            thread: opening.journal.archive.thread.to_string(),
        }),
    }
}

pub(super) struct Opening<'a, S: State> {
    pub(super) wiring: &'a Wiring,
    pub(super) planner: Planner,
    pub(super) journal: Journal<S>,
    pub(super) namespace: Namespace,
}

impl<S: State> Opening<'_, S> {
    /// A new thread, or a flow within one that starts afresh.
    async fn begin(mut self, input: S::Input) -> Result<Opened<S>, ThreadError> {
        let (state, written) = S::start(input);
        self.journal.header.turn = 1;
        self.start(state, written).await
    }

    /// A question that somebody may be thinking about is not dropped unsaid.
    fn nothing_waits(&self, head: &Head<S>) -> Result<(), ThreadError> {
        let archive = &self.journal.archive;
        let waits = waiting(
            archive,
            self.namespace.as_str(),
            self.wiring,
            &head.record,
            &head.writes,
        )?;
        let now = now_ms();
        let waiting: Vec<Interrupt> = only(&waits)
            .into_iter()
            .filter(|interrupt| interrupt.expires_ms.is_none_or(|at| at > now))
            .collect();
        if waiting.is_empty() {
            return Ok(());
        }
        Err(ThreadError::Waiting {
            thread: archive.thread.to_string(),
            waiting,
        })
    }

    /// A new turn of a thread: what it knows stays, but for the keys of a turn.
    async fn turn(mut self, head: Head<S>, input: S::Input) -> Result<Opened<S>, ThreadError> {
        let Head {
            mut state,
            mut written,
            record,
            ..
        } = head;
        self.follow(head.seq, head.base, head.sizes, &record.header);
        self.journal.header.turn = record.header.turn + 1;
        let turn = const { KeyMeta::set(S::KEYS, Trait::Turn) }.union(S::EPHEMERAL);
        let assigned = const { KeyMeta::set(S::KEYS, Trait::Assigned) };
        state.reset(turn);
        written = written.minus(turn).union(assigned);
        self.journal.changes.touch::<S>(turn);
        self.write(&mut state, &mut written, S::input(input))?;
        self.start(state, written).await
    }

    /// Plans the first superstep of a turn.
    async fn start(mut self, state: S, written: KeySet) -> Result<Opened<S>, ThreadError> {
        let mut frontier = Vec::new();
        self.planner.start(self.wiring, &mut frontier);
        self.journal.seq = self.journal.newest.map_or(0, |newest| newest + 1);
        self.journal.header.origin = self.journal.seq;
        self.journal.header.cause = Cause::Input;
        self.mark(&state, written, &frontier, 0).await?;
        self.opened(state, written, frontier, 0, &[])
    }

    /// Goes on where the thread stopped.
    async fn resume(mut self, head: Head<S>, resume: Resume<S>) -> Result<Opened<S>, ThreadError> {
        let Head {
            mut state,
            mut written,
            record,
            writes,
            ..
        } = head;
        self.follow(head.seq, head.base, head.sizes, &record.header);
        let archive = self.journal.archive.clone();
        let waits = waiting(
            &archive,
            self.namespace.as_str(),
            self.wiring,
            &record,
            &writes,
        )?;
        let origin = record.header.origin;
        let header = record.header;
        let superstep = header.superstep;
        self.journal.header.turn = header.turn;
        self.journal.header.origin = origin;
        self.journal.header.owner = header.owner;
        self.journal.header.gates.clone_from(&header.gates);
        self.journal.header.answers.clone_from(&header.answers);
        let Resume {
            answers,
            approvals,
            updates,
            goto,
        } = resume;
        let mut changed =
            !answers.is_empty() || !approvals.is_empty() || !updates.is_empty() || !goto.is_empty();
        // Whoever asks again after a crash hears the same.
        let mut rejected = (header.cause == Cause::Rejected && !changed)
            .then(|| {
                header
                    .notes
                    .iter()
                    .rfind(|note| note.decision == "rejected")
                    .cloned()
            })
            .flatten();
        // Where a person says where to go on, it need not be known where the run would have.
        let mut frontier = Vec::new();
        if goto.is_empty() {
            let waits = goes_on(self.wiring, &self.journal, header)?;
            frontier = waits.frontier;
            self.planner.restore(waits.deferred, &waits.arrived);
        }
        let mut waiting = waits;
        for answer in answers {
            self.answer(answer, &mut waiting)?;
        }
        changed |= self.expire(&mut waiting);
        for update in updates {
            let update = update.map_err(|error| AnswerError::Value(error.to_string()))?;
            self.write(&mut state, &mut written, update)?;
        }
        for (id, approval) in approvals {
            let decided = self.decide(id, &approval, &mut waiting)?;
            let note = |node: String| Note {
                node,
                decision: approval.decision.word().into(),
                by: approval.by.clone(),
                reason: approval.reason.clone(),
                at_ms: now_ms(),
            };
            for interrupt in &decided {
                self.journal.note(note(interrupt.node.clone()));
            }
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
                    self.write(&mut state, &mut written, update)?;
                }
                Decision::Reject => {
                    rejected = decided
                        .first()
                        .map(|interrupt| note(interrupt.node.clone()));
                }
            }
        }
        if rejected.is_some() {
            frontier.clear();
            self.planner = Planner::new(self.wiring);
            self.journal.header.gates.clear();
            waiting.clear();
        }
        if !goto.is_empty() {
            self.planner = Planner::new(self.wiring);
            frontier = self.go_to(&goto)?;
            self.journal.header.gates.clear();
            self.journal.header.answers.clear();
            self.journal.header.origin = head.seq + 1;
            waiting.clear();
        }
        if changed {
            self.journal.seq = head.seq + 1;
            self.journal.header.cause = if rejected.is_some() {
                Cause::Rejected
            } else {
                Cause::Update
            };
            if rejected.is_some() {
                self.journal.header.origin = self.journal.seq;
            }
            self.mark(&state, written, &frontier, superstep).await?;
        } else {
            self.describe(&frontier, superstep)?;
        }
        let gates: Vec<Interrupt> = waiting
            .into_iter()
            .map(|(_, interrupt)| interrupt)
            .filter(|interrupt| interrupt.kind == InterruptKind::After)
            .collect();
        let mut opened = self.opened(state, written, frontier, superstep, &writes)?;
        opened.waiting = gates;
        opened.rejected = rejected;
        Ok(opened)
    }

    /// The next checkpoint follows this one, which is the newest.
    fn follow(&mut self, seq: u64, base: u64, sizes: (u64, u64), header: &Header) {
        let journal = &mut self.journal;
        let origin = header.origin;
        journal.seq = seq;
        journal.parent = journal.program.wrote(header).then_some(seq);
        journal.header.parent = Some(seq);
        journal.base = base;
        journal.sizes = sizes;
        journal.unsettled = origin;
    }

    fn write(
        &mut self,
        state: &mut S,
        written: &mut KeySet,
        mut update: S::Update,
    ) -> Result<(), ThreadError> {
        use crate::Update as _;
        let checked = state.validate(&mut std::iter::once(&update));
        checked.map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        let overwritten = update.overwritten();
        self.journal.absorb(std::iter::once(&update), overwritten)?;
        // Not a superstep: what lasts one is still there.
        state.commit(&mut update, overwritten, written);
        Ok(())
    }

    fn describe(&mut self, frontier: &[Task], superstep: u64) -> Result<(), ThreadError> {
        self.journal.describe(&Barrier {
            wiring: self.wiring,
            planner: &self.planner,
            frontier,
            superstep,
        })
    }

    /// Writes a checkpoint, unless the run keeps all of them for its end.
    async fn mark(
        &mut self,
        state: &S,
        written: KeySet,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.describe(frontier, superstep)?;
        self.journal.saved = false;
        // What a person said must not be lost, whatever the durability.
        let input = self.journal.header.cause == Cause::Input;
        if input && self.journal.durability == crate::thread::Durability::Exit {
            return Ok(());
        }
        self.journal.save(state, written).await?;
        if input {
            return Ok(());
        }
        self.journal.land().await
    }

    fn go_to(&self, nodes: &[String]) -> Result<Vec<Task>, ThreadError> {
        let mut places = Vec::new();
        for name in nodes {
            places.push(node_of(self.wiring, name)?);
        }
        places.sort_unstable();
        places.dedup();
        for place in &places {
            if self.wiring.takes[*place as usize] {
                return Err(ThreadError::Request(format!(
                    "the run cannot go on at node `{}`, because it takes an item that only an edge can deliver",
                    self.wiring.name(*place)
                )));
            }
        }
        Ok(places.into_iter().map(Task::plain).collect())
    }

    fn opened(
        self,
        state: S,
        written: KeySet,
        frontier: Vec<Task>,
        superstep: u64,
        writes: &[StoredWrite],
    ) -> Result<Opened<S>, ThreadError> {
        let Opening {
            wiring,
            planner,
            journal,
            namespace,
        } = self;
        let answers: Answers = journal
            .header
            .answers
            .iter()
            .map(|answer| {
                let answered = (answer.name.clone(), answer.bytes.clone());
                (InterruptId::from_bytes(answer.id), answered)
            })
            .collect();
        let offset = journal.header.origin.wrapping_sub(superstep);
        let mut desk = Desk::new(
            journal.archive.clone(),
            journal.durability,
            namespace,
            offset,
            Arc::new(answers),
            Arc::clone(&journal.durable),
        );
        journal.note_durable();
        desk.recall(writes)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let mut finished = HashMap::new();
        for task in &frontier {
            let id = task_id(
                &journal.archive.thread,
                &journal.namespace,
                journal.header.origin,
                wiring.stored_name(task.node),
                task.send,
            );
            let done = writes
                .iter()
                .find(|write| write.task == id && write.name == "done");
            if let Some(write) = done
                && let Some(done) = load_finished(
                    &journal.codec,
                    (&journal.program, &journal.was),
                    wiring,
                    task.node,
                    &write.bytes,
                )
                .map_err(ThreadError::value(format!(
                    "what node `{}` left",
                    wiring.name(task.node)
                )))?
            {
                finished.insert(id, done);
            }
        }
        Ok(Opened {
            state,
            written,
            planner,
            frontier,
            superstep,
            journal,
            desk,
            finished,
            waiting: Vec::new(),
            rejected: None,
        })
    }
}
