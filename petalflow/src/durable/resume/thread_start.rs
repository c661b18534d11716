//! The start of a run on a thread: new input, a new turn, or a resume.

use std::sync::Arc;

use crate::checkpoint::{Durability, OnBusy, Retention, ThreadStorage};
use crate::durable::claim::thread_claim::ClaimedRun;
use crate::durable::write::checkpoint_writer::ParentBarrier;
use crate::erased::InputBox;
use crate::event::LogSettings;
use crate::exec::BeginBarrier;
use crate::ids::Namespace;
use crate::interrupt::{AnyResume, Response};
use crate::task_services::ParentTask;
use crate::task_services::question::answer::AnswerTarget;

/// What a run does to a thread.
pub(crate) enum Command {
    /// Begins the thread, or a new turn of it.
    Input(InputBox),
    /// Resumes it.
    Resume(Box<AnyResume>),
}

impl Command {
    /// What the command answers.
    pub(in crate::durable) fn targets(&self) -> Vec<AnswerTarget> {
        let Command::Resume(resume) = self else {
            return Vec::new();
        };
        let answers = resume.answers.iter();
        let answers = answers.map(|answer| AnswerTarget::Interrupt(answer.id));
        let decisions = resume.decisions.iter();
        let decisions =
            decisions.map(|(id, _)| id.map_or(AnswerTarget::Approvals, AnswerTarget::Interrupt));
        let responses = resume.responses.iter();
        let responses = responses.map(Response::target);
        decisions.chain(answers).chain(responses).collect()
    }
}

/// A run on a thread that has not begun yet.
pub(crate) struct ThreadStart {
    pub(crate) storage: ThreadStorage,
    pub(crate) namespace: Namespace,
    pub(crate) durability: Durability,
    pub(crate) on_busy: OnBusy,
    pub(crate) command: Command,
    /// Which checkpoints remain when the run has ended.
    pub(crate) retention: Retention,
    /// Which events are stored.
    pub(crate) event_log: Option<LogSettings>,
    /// Whether a new input may discard what the thread waits for.
    pub(crate) discard_pending: bool,
    /// Whether the run is refused if a person holds the thread.
    pub(crate) leaves_held: bool,
    /// Where the run stops once, when it has stored what it begins with.
    pub(crate) begin_barrier: Option<Arc<BeginBarrier>>,
    /// The run, once it has claimed the thread.
    pub(crate) claimed: Option<ClaimedRun>,
    /// For a sub-flow.
    pub(crate) nested: Option<Nested>,
}

/// The task of the parent flow for which a sub-flow runs.
pub(crate) struct Nested {
    pub(crate) owner: ParentTask,
    /// The superstep of that task.
    pub(crate) superstep: u64,
    /// Whether the flow retains its state from one call to the next.
    pub(crate) retains_state: bool,
    /// Whether this is a retry: an earlier attempt of the task is not continued.
    pub(crate) is_retry: bool,
}

impl Nested {
    /// The barrier of the parent flow, which must be in the store before anything of the sub-flow is.
    pub(in crate::durable) fn barrier(&self) -> ParentBarrier {
        ParentBarrier {
            services: Arc::clone(&self.owner.services),
            superstep: self.superstep,
        }
    }
}
