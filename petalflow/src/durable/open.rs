//! Opens a thread: loads its newest checkpoint and applies an input or a resume to it.

use std::collections::HashMap;
use std::sync::Arc;

use super::answers::only_interrupts;
use super::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use super::fingerprint::{Fingerprint, codec_of};
use super::load::{LoadedCheckpoint, load_checkpoint, waiting};
use super::seq::Origin;
use super::task_results::load_finished;
use super::thread_run::{Command, Nested, ThreadStart};
use crate::checkpoint::{AnswerEntry, DecisionRecord, StoredWrite, WriteName};
use crate::clock::now_ms;
use crate::exec::{Committed, FinishedTask};
use crate::flow::Flow;
use crate::ids::{Namespace, TaskId, task_id};
use crate::interrupt::Resume;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId};
use crate::state::{KeyFlag, KeyMeta, KeySet, State, Update as _};
use crate::superstep::{Planner, Task};
use crate::task_services::{Answers, TaskServices};

/// A thread that is ready to run.
pub(super) struct OpenedThread<S: State> {
    pub(super) state: S,
    /// The keys that have been written.
    pub(super) written: KeySet,
    pub(super) planner: Planner,
    pub(super) frontier: Vec<Task>,
    pub(super) superstep: u64,
    pub(super) writer: CheckpointWriter<S>,
    pub(super) services: TaskServices,
    /// The results of tasks of the frontier that have run already.
    pub(super) finished: HashMap<TaskId, FinishedTask<S>>,
    /// What must be answered before anything runs.
    pub(super) waiting: Vec<Interrupt>,
    /// The decision of a person that ended the run here.
    pub(super) rejected: Option<DecisionRecord>,
}

/// Opens a thread, or the history of a flow inside one, and applies the command to it.
pub(super) async fn open<F: Flow>(
    flow: &F,
    plan: &ExecutionPlan,
    start: ThreadStart<F::State>,
) -> Result<OpenedThread<F::State>, ThreadError> {
    let ThreadStart {
        archive,
        namespace,
        durability,
        command,
        nested,
        discard_pending,
        ..
    } = start;
    let codec = codec_of::<F::State>()?;
    let fingerprint = Fingerprint::of::<F::State>(flow.stored_name(), plan);
    let head = load_checkpoint(&archive, namespace.as_str(), None, &codec, &fingerprint).await?;
    let (address, newest) = (
        namespace.to_string(),
        head.as_ref().map(|head| head.position.seq),
    );
    let mut writer =
        CheckpointWriter::new(archive, address, codec, fingerprint, durability, newest);
    if let Some(head) = &head {
        writer.set_previous_outline(head.outline.clone());
    }
    if let Some(nested) = &nested {
        writer.set_owner(nested.owner);
    }
    let mut opener = ThreadOpener {
        plan,
        planner: Planner::new(plan),
        writer,
        namespace,
    };
    match (command, head) {
        (Command::Input(input), None) => {
            let Some(Nested {
                answers, parent, ..
            }) = nested
            else {
                return opener.begin(input).await;
            };
            opener.writer.set_parent_barrier(parent);
            let mut opened = opener.begin(input).await?;
            opened.services.answers = answers;
            Ok(opened)
        }
        (Command::Input(input), Some(head)) => match nested {
            None => {
                if !discard_pending {
                    opener.check_nothing_waits(&head)?;
                }
                opener.begin_turn(head, input).await
            }
            Some(nested) => opener.open_nested(head, input, nested).await,
        },
        (Command::Resume(resume), Some(head)) => opener.resume(head, *resume).await,
        (Command::Resume(_), None) => Err(ThreadError::Unknown {
            thread: opener.writer.archive().thread.to_string(),
        }),
    }
}

/// A thread while it is opened.
pub(super) struct ThreadOpener<'a, S: State> {
    pub(super) plan: &'a ExecutionPlan,
    pub(super) planner: Planner,
    pub(super) writer: CheckpointWriter<S>,
    pub(super) namespace: Namespace,
}

impl<S: State> ThreadOpener<'_, S> {
    /// Begins a new thread, or a flow inside one that starts from nothing.
    async fn begin(self, input: S::Input) -> Result<OpenedThread<S>, ThreadError> {
        let (state, written) = S::start(input);
        self.start(1, state, written).await
    }

    /// Opens a flow inside a thread that has run before. It resumes if it runs for the same task as before. Otherwise it
    /// begins a turn if it remembers its state, and starts from nothing if it does not.
    async fn open_nested(
        mut self,
        mut head: LoadedCheckpoint<S>,
        input: S::Input,
        nested: Nested,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let Nested {
            owner,
            answers,
            remembers,
            parent,
        } = nested;
        self.writer.set_parent_barrier(parent);
        let mut opened = if head.record.header.owner == Some(owner.to_bytes()) {
            // The outermost flow stores the decisions for the flows inside it as well.
            let decided = answers.iter().map(|(id, (name, bytes))| AnswerEntry {
                id: id.to_bytes(),
                name: name.clone(),
                bytes: bytes.clone(),
            });
            head.record.header.answers.extend(decided);
            self.resume(head, Resume::new()).await?
        } else if remembers && head.record.header.turn > 0 {
            self.begin_turn(head, input).await?
        } else {
            let origin = Origin::new(head.record.header.origin);
            self.writer.set_oldest_results(origin);
            self.begin(input).await?
        };
        let answered = |interrupt: &Interrupt| answers.contains_key(&interrupt.id);
        opened.waiting.retain(|interrupt| !answered(interrupt));
        opened.services.answers = answers;
        Ok(opened)
    }

    /// Refuses an input while the thread waits for an answer: a person may be about to give it.
    fn check_nothing_waits(&self, head: &LoadedCheckpoint<S>) -> Result<(), ThreadError> {
        let archive = self.writer.archive();
        let namespace = self.namespace.as_str();
        let waits = waiting(archive, namespace, self.plan, &head.record, &head.writes)?;
        let now = now_ms();
        let waiting: Vec<Interrupt> = only_interrupts(&waits)
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

    /// Begins a new turn: the state remains, except for the keys that last one turn.
    async fn begin_turn(
        mut self,
        head: LoadedCheckpoint<S>,
        input: S::Input,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let LoadedCheckpoint {
            mut state,
            mut written,
            record,
            position,
            ..
        } = head;
        self.writer.follow(position, &record.header);
        let turn = const { KeyMeta::set(S::KEYS, KeyFlag::Turn) }.union(S::EPHEMERAL);
        let assigned = const { KeyMeta::set(S::KEYS, KeyFlag::Assigned) };
        state.reset(turn);
        written = written.minus(turn).union(assigned);
        self.writer.mark_changed(turn);
        self.write(&mut state, &mut written, S::input(input))?;
        self.start(record.header.turn + 1, state, written).await
    }

    /// Plans the first superstep of a turn.
    async fn start(
        mut self,
        turn: u64,
        state: S,
        written: KeySet,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let mut frontier = Vec::new();
        self.planner.start(self.plan, &mut frontier);
        self.writer.begin_turn(turn);
        self.save_change(&state, written, &frontier, 0).await?;
        self.opened(state, written, frontier, 0, &[])
    }

    /// Applies an update from outside.
    pub(super) fn write(
        &mut self,
        state: &mut S,
        written: &mut KeySet,
        mut update: S::Update,
    ) -> Result<(), ThreadError> {
        let checked = state.validate(&mut std::iter::once(&update));
        checked.map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        let overwritten = update.overwritten();
        self.writer
            .record_writes(std::iter::once(&update), overwritten)?;
        // This is no superstep: values that last one superstep remain.
        state.commit(&mut update, overwritten, written);
        Ok(())
    }

    /// Puts the frontier into the header of the next checkpoint.
    pub(super) fn describe(
        &mut self,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.writer.describe(&PlannedFrontier {
            plan: self.plan,
            planner: &self.planner,
            frontier,
            superstep,
        })
    }

    /// Writes a checkpoint of the change.
    pub(super) async fn save_change(
        &mut self,
        state: &S,
        written: KeySet,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        let planned = PlannedFrontier {
            plan: self.plan,
            planner: &self.planner,
            frontier,
            superstep,
        };
        self.writer
            .save_change(&planned, Committed { state, written })
            .await
    }

    /// The thread, with the records that the tasks of the frontier have left.
    pub(super) fn opened(
        self,
        state: S,
        written: KeySet,
        frontier: Vec<Task>,
        superstep: u64,
        writes: &[StoredWrite],
    ) -> Result<OpenedThread<S>, ThreadError> {
        let ThreadOpener {
            plan,
            planner,
            writer,
            namespace,
        } = self;
        let answers: Answers = writer
            .answers()
            .iter()
            .map(|answer| {
                let answered = (answer.name.clone(), answer.bytes.clone());
                (InterruptId::from_bytes(answer.id), answered)
            })
            .collect();
        let mut services = TaskServices::new(
            writer.archive().clone(),
            writer.durability(),
            namespace,
            writer.origin().get().wrapping_sub(superstep),
            Arc::new(answers),
            writer.stored_mark(),
        );
        writer.mark_stored();
        services
            .restore(writes)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let finished = load_results(plan, &writer, &frontier, writes)?;
        Ok(OpenedThread {
            state,
            written,
            planner,
            frontier,
            superstep,
            writer,
            services,
            finished,
            waiting: Vec::new(),
            rejected: None,
        })
    }
}

/// The results of tasks of the frontier that have run already.
fn load_results<S: State>(
    plan: &ExecutionPlan,
    writer: &CheckpointWriter<S>,
    frontier: &[Task],
    writes: &[StoredWrite],
) -> Result<HashMap<TaskId, FinishedTask<S>>, ThreadError> {
    let mut finished = HashMap::new();
    for task in frontier {
        let id = task_id(
            &writer.archive().thread,
            writer.namespace(),
            writer.origin().get(),
            plan.stored_name(task.node),
            task.send,
        );
        let done = writes.iter().find(|write| write.is(id, WriteName::Done));
        let Some(write) = done else { continue };
        let program = (writer.fingerprint(), writer.previous_outline());
        let loaded =
            load_finished(writer.codec(), program, plan, task.node, &write.bytes).map_err(
                ThreadError::value(format!("what node `{}` left", plan.name(task.node))),
            )?;
        if let Some(loaded) = loaded {
            finished.insert(id, loaded);
        }
    }
    Ok(finished)
}
