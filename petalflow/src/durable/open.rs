//! From a thread's checkpoints to a run that can go on.

use std::collections::HashMap;
use std::sync::Arc;

use super::answers::only;
use super::checkpoint_writer::{Barrier, CheckpointWriter};
use super::fingerprint::{Fingerprint, codec_of};
use super::load::{LoadedCheckpoint, read, waiting};
use super::stored_task::{FinishedTask, load_finished};
use super::{Command, Nested, ThreadStart};
use crate::checkpoint::{AnswerEntry, Cause, DecisionRecord, StoredWrite};
use crate::clock::now_ms;
use crate::flow::Flow;
use crate::ids::{Namespace, TaskId, task_id};
use crate::interrupt::Resume;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId};
use crate::state::{KeyFlag, KeyMeta, KeySet, State};
use crate::superstep::{Planner, Task};
use crate::task_services::{Answers, TaskServices};

/// A run that is ready to go on.
pub(crate) struct OpenedThread<S: State> {
    pub(crate) state: S,
    pub(crate) written: KeySet,
    pub(crate) planner: Planner,
    pub(crate) frontier: Vec<Task>,
    pub(crate) superstep: u64,
    pub(crate) writer: CheckpointWriter<S>,
    pub(crate) services: TaskServices,
    /// What tasks of the frontier have left already.
    pub(crate) finished: HashMap<TaskId, FinishedTask<S>>,
    /// What must be answered before anything runs.
    pub(crate) waiting: Vec<Interrupt>,
    /// A person has ended the run here.
    pub(crate) rejected: Option<DecisionRecord>,
}

/// Opens a thread, or a flow within one, and does to it what was asked for.
pub(crate) async fn open<F: Flow>(
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
        discard,
        ..
    } = start;
    let codec = codec_of::<F::State>()?;
    let program = Fingerprint::of::<F::State>(flow.stored_name(), plan);
    let head = read(&archive, namespace.as_str(), None, &codec, &program).await?;
    let (place, newest) = (namespace.to_string(), head.as_ref().map(|head| head.seq));
    let mut writer = CheckpointWriter::new(archive, place, codec, program, durability, newest);
    if let Some(head) = &head {
        writer.was = head.outline.clone();
    }
    let mut opening = ThreadOpener {
        plan,
        planner: Planner::new(plan),
        writer,
        namespace,
    };
    let owner = nested.as_ref().map(|nested| nested.owner.to_bytes());
    opening.writer.header.owner = owner;
    match (command, head) {
        (Command::Input(input), None) => {
            let Some(Nested { answers, above, .. }) = nested else {
                return opening.begin(input).await;
            };
            opening.writer.above = Some(above);
            let mut opened = opening.begin(input).await?;
            opened.services.answers = answers;
            Ok(opened)
        }
        (Command::Input(input), Some(head)) => match nested {
            None => {
                if !discard {
                    opening.nothing_waits(&head)?;
                }
                opening.turn(head, input).await
            }
            Some(nested) => opening.within(head, input, nested).await,
        },
        (Command::Resume(resume), Some(head)) => opening.resume(head, *resume).await,
        (Command::Resume(_), None) => Err(ThreadError::Unknown {
            thread: opening.writer.archive.thread.to_string(),
        }),
    }
}

pub(super) struct ThreadOpener<'a, S: State> {
    pub(super) plan: &'a ExecutionPlan,
    pub(super) planner: Planner,
    pub(super) writer: CheckpointWriter<S>,
    pub(super) namespace: Namespace,
}

impl<S: State> ThreadOpener<'_, S> {
    /// A new thread, or a flow within one that starts afresh.
    async fn begin(mut self, input: S::Input) -> Result<OpenedThread<S>, ThreadError> {
        let (state, written) = S::start(input);
        self.writer.header.turn = 1;
        self.start(state, written).await
    }

    /// A flow within a thread that has run before: it goes on where the task that it runs for is the same; else it begins a turn,
    /// or afresh where it keeps nothing.
    async fn within(
        mut self,
        mut head: LoadedCheckpoint<S>,
        input: S::Input,
        nested: Nested,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let Nested {
            owner,
            answers,
            keep,
            above,
        } = nested;
        self.writer.above = Some(above);
        let mut opened = if head.record.header.owner == Some(owner.to_bytes()) {
            // What people have decided here, too, is kept by the outermost flow.
            let decided = answers.iter().map(|(id, (name, bytes))| AnswerEntry {
                id: id.to_bytes(),
                name: name.clone(),
                bytes: bytes.clone(),
            });
            head.record.header.answers.extend(decided);
            self.resume(head, Resume::new()).await?
        } else if keep && head.record.header.turn > 0 {
            self.turn(head, input).await?
        } else {
            self.writer.unsettled = head.record.header.origin;
            self.begin(input).await?
        };
        // What people say is recorded by the outermost flow.
        let said = |interrupt: &Interrupt| answers.contains_key(&interrupt.id);
        opened.waiting.retain(|interrupt| !said(interrupt));
        opened.services.answers = answers;
        Ok(opened)
    }

    /// A question that somebody may be thinking about is not dropped unsaid.
    fn nothing_waits(&self, head: &LoadedCheckpoint<S>) -> Result<(), ThreadError> {
        let archive = &self.writer.archive;
        let waits = waiting(
            archive,
            self.namespace.as_str(),
            self.plan,
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
    async fn turn(
        mut self,
        head: LoadedCheckpoint<S>,
        input: S::Input,
    ) -> Result<OpenedThread<S>, ThreadError> {
        let LoadedCheckpoint {
            mut state,
            mut written,
            record,
            ..
        } = head;
        self.writer
            .follow(head.seq, head.base, head.sizes, &record.header);
        self.writer.header.turn = record.header.turn + 1;
        let turn = const { KeyMeta::set(S::KEYS, KeyFlag::Turn) }.union(S::EPHEMERAL);
        let assigned = const { KeyMeta::set(S::KEYS, KeyFlag::Assigned) };
        state.reset(turn);
        written = written.minus(turn).union(assigned);
        self.writer.changes.touch::<S>(turn);
        self.write(&mut state, &mut written, S::input(input))?;
        self.start(state, written).await
    }

    /// Plans the first superstep of a turn.
    async fn start(mut self, state: S, written: KeySet) -> Result<OpenedThread<S>, ThreadError> {
        let mut frontier = Vec::new();
        self.planner.start(self.plan, &mut frontier);
        self.writer.seq = self.writer.newest.map_or(0, |newest| newest + 1);
        self.writer.header.origin = self.writer.seq;
        self.writer.header.cause = Cause::Input;
        self.mark(&state, written, &frontier, 0).await?;
        self.opened(state, written, frontier, 0, &[])
    }

    pub(super) fn write(
        &mut self,
        state: &mut S,
        written: &mut KeySet,
        mut update: S::Update,
    ) -> Result<(), ThreadError> {
        use crate::state::Update as _;
        let checked = state.validate(&mut std::iter::once(&update));
        checked.map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        let overwritten = update.overwritten();
        self.writer.absorb(std::iter::once(&update), overwritten)?;
        // Not a superstep: what lasts one is still there.
        state.commit(&mut update, overwritten, written);
        Ok(())
    }

    pub(super) fn describe(
        &mut self,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.writer.describe(&Barrier {
            plan: self.plan,
            planner: &self.planner,
            frontier,
            superstep,
        })
    }

    /// Writes a checkpoint, unless the run keeps all of them for its end.
    pub(super) async fn mark(
        &mut self,
        state: &S,
        written: KeySet,
        frontier: &[Task],
        superstep: u64,
    ) -> Result<(), ThreadError> {
        self.describe(frontier, superstep)?;
        self.writer.saved = false;
        // What a person said must not be lost, whatever the durability.
        let input = self.writer.header.cause == Cause::Input;
        if input && self.writer.durability == crate::checkpoint::Durability::Exit {
            return Ok(());
        }
        self.writer.save(state, written).await?;
        if input {
            return Ok(());
        }
        self.writer.await_in_flight().await
    }

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
            .header
            .answers
            .iter()
            .map(|answer| {
                let answered = (answer.name.clone(), answer.bytes.clone());
                (InterruptId::from_bytes(answer.id), answered)
            })
            .collect();
        let offset = writer.header.origin.wrapping_sub(superstep);
        let mut services = TaskServices::new(
            writer.archive.clone(),
            writer.durability,
            namespace,
            offset,
            Arc::new(answers),
            Arc::clone(&writer.durable),
        );
        writer.note_durable();
        services
            .recall(writes)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
        let mut finished = HashMap::new();
        for task in &frontier {
            let id = task_id(
                &writer.archive.thread,
                &writer.namespace,
                writer.header.origin,
                plan.stored_name(task.node),
                task.send,
            );
            let done = writes
                .iter()
                .find(|write| write.task == id && write.name == "done");
            if let Some(write) = done
                && let Some(done) = load_finished(
                    &writer.codec,
                    (&writer.program, &writer.was),
                    plan,
                    task.node,
                    &write.bytes,
                )
                .map_err(ThreadError::value(format!(
                    "what node `{}` left",
                    plan.name(task.node)
                )))?
            {
                finished.insert(id, done);
            }
        }
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
