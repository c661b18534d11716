//! Runs that are written down: opened from a thread's checkpoints, and kept there barrier by barrier.
//!
//! `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. A program that stores nothing then does not
//! compile what has no type parameters either, which would double its build.
#![allow(clippy::result_large_err, reason = "made once, when a run ends")]

mod answers;
mod cached;
mod checkpoint_writer;
mod claim;
mod dirty_keys;
mod fingerprint;
mod gates;
mod load;
mod open;
mod persistence;
mod replay;
mod restored_frontier;
mod resume;
mod stored_task;
mod subflow_history;
mod task_entries;
mod thread_ops;

use std::sync::Arc;

pub(crate) use cached::find_cached;
pub(crate) use checkpoint_writer::ParentBarrier;
pub(crate) use claim::ThreadClaim;
pub(crate) use fingerprint::Fingerprint;
pub(crate) use gates::{TaskDisposition, ThreadPersistence};
pub(crate) use subflow_history::copy;
pub(crate) use thread_ops::{edit, fork, prune, snapshot};

use open::{OpenedThread, open};

use crate::checkpoint::{Archive, Durability, OnBusy, Retention};
use crate::event::EventKind;
use crate::exec::{Abort, Driver, Settings, has_input};
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::ids::{Namespace, TaskId};
use crate::interrupt::Resume;
use crate::node::ManagedValues;
use crate::outcome::{RunError, RunErrorKind, ThreadError, check_id};
use crate::state::State;
use crate::superstep::{Planner, Task};
use crate::task_services::Answers;

/// What is asked of a thread.
pub(crate) enum Command<S: State> {
    /// To begin, or to begin a new turn.
    Input(S::Input),
    /// To go on.
    Resume(Box<Resume<S>>),
}

impl<S: State> Command<S> {
    /// The input, if there is one; what stays is to go on.
    pub(crate) fn take_input(&mut self) -> Option<S::Input> {
        match std::mem::replace(self, Command::Resume(Box::default())) {
            Command::Input(input) => Some(input),
            resume @ Command::Resume(_) => {
                *self = resume;
                None
            }
        }
    }
}

/// How a stored run begins.
pub(crate) struct ThreadStart<S: State> {
    pub(crate) archive: Archive,
    pub(crate) namespace: Namespace,
    pub(crate) durability: Durability,
    pub(crate) on_busy: OnBusy,
    pub(crate) command: Command<S>,
    /// How much of the past is kept when the run has ended.
    pub(crate) keep: Retention,
    /// Whether a new input may drop what the thread waits for.
    pub(crate) discard: bool,
    /// For a flow inside another.
    pub(crate) nested: Option<Nested>,
}

/// For which task a flow inside another runs.
pub(crate) struct Nested {
    pub(crate) owner: TaskId,
    pub(crate) answers: Arc<Answers>,
    /// Where that task runs.
    pub(crate) above: ParentBarrier,
    /// Whether its state stays from one call to the next.
    pub(crate) keep: bool,
}

/// The whole of a stored run.
pub(crate) fn run_stored<F: Flow>(
    flow: Arc<F>,
    mut settings: Settings<F::State>,
    start: Box<ThreadStart<F::State>>,
) -> BoxFuture<'static, Result<F::State, RunError>> {
    Box::pin(async move {
        let start = *start;
        let refused = |error: ThreadError| RunError::of_thread(error, flow.name());
        check_id(&start.archive.thread).map_err(refused)?;
        // A flow inside another works under the claim of the outermost.
        let claim = if start.nested.is_some() {
            None
        } else {
            let claimed =
                ThreadClaim::get(&start.archive, start.on_busy, &mut settings.cancel).await;
            Some(claimed.map_err(refused)?)
        };
        if let Some(managed) = &settings.managed {
            let made = ManagedValues::rehydrated(managed, &start.archive.thread).await;
            let failed = |(name, error)| RunError::of_managed(name, error, flow.name());
            settings.managed = Some(made.map_err(failed)?);
        }
        let (archive, keep) = (start.archive.clone(), start.keep);
        let run = run(Arc::clone(&flow), settings, start);
        let Some(claim) = &claim else {
            return run.await;
        };
        let state = claim.hold(run).await?;
        prune(&archive, keep).await.map_err(refused)?;
        Ok(state)
    })
}

async fn run<F: Flow>(
    flow: Arc<F>,
    mut settings: Settings<F::State>,
    start: ThreadStart<F::State>,
) -> Result<F::State, RunError> {
    let plan = flow.plan();
    settings.thread = Some(Arc::clone(&start.archive.thread));
    settings.namespace = start.namespace.clone();
    let opened = open(&*flow, &plan, start).await;
    let opened = opened.map_err(|error| RunError::of_thread(error, flow.name()))?;
    let OpenedThread {
        state,
        written,
        planner,
        frontier,
        superstep,
        writer,
        services,
        finished,
        waiting,
        rejected,
    } = opened;
    // Each call may make as many supersteps as the limit says.
    settings.limit = settings.limit.saturating_add(superstep);
    let mut driver = Driver::new(flow, settings, plan, state, written);
    driver.begin_at(superstep, Arc::new(services));
    let mut book = ThreadPersistence {
        writer,
        finished,
        asked: Vec::new(),
    };
    let result = if let Some(note) = rejected {
        Err(Abort::new(RunErrorKind::Rejected {
            node: note.node,
            by: note.by,
            reason: note.reason,
        }))
    } else if waiting.is_empty() {
        go_on(&mut driver, &mut book, planner, frontier).await
    } else {
        Err(Abort::new(RunErrorKind::Interrupted {
            interrupts: waiting,
        }))
    };
    let closed = book.close(driver.state.as_ref(), driver.lane.written).await;
    book.tell(&driver);
    driver.end(match (result, closed) {
        (Ok(()), Err(error)) => Err(Abort::of_thread(error)),
        // The run's own failure is the cause; one that only waits must not be taken for stored.
        (Err(abort), Err(error)) if abort.is_pause() => {
            let _ = abort;
            Err(Abort::of_thread(error))
        }
        (result, _) => result,
    })
}

/// Runs on from where a thread stopped.
async fn go_on<F: Flow>(
    driver: &mut Driver<F>,
    book: &mut ThreadPersistence<F::State>,
    planner: Planner,
    frontier: Vec<Task>,
) -> Result<(), Abort<F::State>> {
    driver.tell(|| EventKind::RunStarted);
    book.tell(driver);
    if driver.scope.superstep > 0 || book.writer.header.turn > 1 || has_input::<F::State>() {
        driver.tell_values();
    }
    driver.general(book, planner, frontier).await
}
