//! A run on a thread: its claim, its managed values, and the driver between opening and closing it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::claim::answered::check_unanswered;
use super::claim::due_signal::tell_due;
use super::claim::thread_claim::{Answering, ClaimedRun, ThreadClaim, new_owner};
use super::finished_status::finished_status;
use super::links::{self, record_cause};
use super::ops::stopping::cancel_children;
use super::ops::thread_ops::first_expiry;
use super::resume::document::ThreadDocument;
use super::resume::open_thread::open;
use super::resume::opener::OpenedThread;
use super::resume::thread_start::{Command, ThreadStart};
use super::write::event_log::EventLog;
use super::write::persistence::ThreadPersistence;
use super::write::prune::{NewBase, prune};
use crate::cancel_token::RunToken;
use crate::checkpoint::{DecisionRecord, Durability, ThreadStatus, ThreadStorage};
use crate::erased::{InputBox, StateBox};
use crate::event::LogSink;
use crate::exec::{BeginBarrier, Committed, Restored, Settings, StoredRun, run_restored};
use crate::flow::AnyFlow;
use crate::future::BoxFuture;
use crate::node::ManagedValues;
use crate::outcome::{RunError, RunErrorKind, ThreadError, check_id};
use crate::plan::ExecutionPlan;
use crate::question::{AnswerError, Interrupt};

impl StoredRun for ThreadStart {
    fn thread(&self) -> &Arc<str> {
        &self.storage.thread
    }

    fn take_input(&mut self) -> Option<InputBox> {
        match std::mem::replace(&mut self.command, Command::Resume(Box::default())) {
            Command::Input(input) => Some(input),
            resume @ Command::Resume(_) => {
                self.command = resume;
                None
            }
        }
    }

    fn set_input(&mut self, input: InputBox) {
        self.command = Command::Input(input);
    }

    fn discard_pending(&mut self) {
        self.discard_pending = true;
    }

    fn stop_when_stored(&mut self) -> Arc<BeginBarrier> {
        Arc::clone(self.begin_barrier.get_or_insert_default())
    }

    fn needs_tokio(&self) -> Option<&'static str> {
        if self.durability == Durability::Async {
            return Some("the thread is stored with `Durability::Async`");
        }
        let claims = self.storage.store.claim_lasts();
        claims.map(|_| "the claim of the thread is renewed while it runs")
    }

    fn run(
        self: Box<Self>,
        flow: Arc<dyn AnyFlow>,
        settings: Settings,
    ) -> BoxFuture<'static, Result<StateBox, RunError>> {
        Box::pin(run_claimed(*self, flow, settings))
    }
}

/// Claims the thread, runs the flow, and releases the thread.
async fn run_claimed(
    mut start: ThreadStart,
    flow: Arc<dyn AnyFlow>,
    mut settings: Settings,
) -> Result<StateBox, RunError> {
    let refused = |error: ThreadError| RunError::of_thread(error, flow.name());
    check_id(&start.storage.thread).map_err(refused)?;
    // A sub-flow uses the claim of the outermost flow.
    let claim = if start.nested.is_some() {
        None
    } else {
        let targets = start.command.targets();
        let (storage, on_busy) = (&start.storage, start.on_busy);
        let plan = flow.plan();
        let answers = match &mut start.command {
            Command::Resume(resume) if !targets.is_empty() => Some(Answering {
                plan: &plan,
                targets: &targets,
                resume: &mut *resume,
                begin_barrier: start.begin_barrier.as_deref(),
            }),
            _ => None,
        };
        let owner = new_owner();
        let cancel = &mut settings.cancel;
        // Boxed, as what follows the run below: a sub-flow needs neither, and would have memory for them.
        let claimed = Box::pin(ThreadClaim::acquire(
            owner, storage, on_busy, cancel, answers,
        ));
        let claimed = claimed.await.map_err(refused)?;
        start.storage.claim = claimed.granted();
        start.claimed = claimed.run();
        if start.leaves_held {
            refuse_held(&start.storage).await.map_err(refused)?;
        }
        Some(claimed)
    };
    if let Some(managed) = &settings.managed {
        let made = ManagedValues::restored(managed, &start.storage.thread).await;
        let failed = |(name, error)| RunError::of_managed(name, error, flow.name());
        settings.managed = Some(made.map_err(failed)?);
    }
    let (storage, retention) = (start.storage.clone(), start.retention);
    let (cancel, held) = (settings.cancel.clone(), storage.clone());
    let waits_when = settings.waits_when().cloned();
    let Some(claim) = claim else {
        return run_opened(start, Arc::clone(&flow), settings).await;
    };
    let loading = Box::pin(load(start, Arc::clone(&flow), settings));
    let due_at_once = AtomicBool::new(false);
    let run = async {
        let ended = loading.await?.await;
        let is_held = cancel.as_ref().is_some_and(RunToken::holds);
        let Some((mut status, mut due_ms)) = status(&ended, is_held) else {
            return ended;
        };
        if let (Ok(state), Some(waits)) = (&ended, &waits_when) {
            status = finished_status(waits, &**state);
        }
        let is_paused = is_pause(status);
        if is_paused && cancel.is_some_and(|cancel| cancel.is_told_to_hold()) {
            (status, due_ms) = (ThreadStatus::Held, None);
        }
        let closed = async {
            record_cause(&storage, status, ended.as_ref().err()).await?;
            storage.describe(status, due_ms).await?;
            if status == ThreadStatus::Held {
                Box::pin(cancel_children(&storage)).await?;
            }
            if links::concerns(&storage, due_ms) {
                let is_due = links::run_ended(&storage, status, due_ms).await?;
                due_at_once.store(is_due, Ordering::Relaxed);
            }
            Box::pin(prune(&storage, retention, NewBase::Allowed)).await?;
            Ok(())
        };
        match closed.await {
            // Only the status says when a paused thread is due.
            Err(error) if ended.is_ok() || is_paused => Err(refused(error)),
            _ => ended,
        }
    };
    let ended = claim.hold(&held, run).await;
    drop(claim);
    if due_at_once.into_inner() {
        tell_due(flow.stored_name());
    }
    ended
}

/// Fails if a person holds the thread. Nobody else can begin to hold it, because the run has claimed it.
async fn refuse_held(storage: &ThreadStorage) -> Result<(), ThreadError> {
    let info = storage.info().await?;
    if info.is_some_and(|info| info.status == ThreadStatus::Held) {
        return Err(ThreadError::Held {
            thread: storage.thread.to_string(),
        });
    }
    Ok(())
}

/// What is listed of a thread after a run, and when it is due. `None` if the thread belongs to another run. `is_held`: a person
/// has cancelled the run.
fn status(
    ended: &Result<StateBox, RunError>,
    is_held: bool,
) -> Option<(ThreadStatus, Option<u64>)> {
    let Err(error) = ended else {
        return Some((ThreadStatus::Finished, None));
    };
    Some(match error.kind() {
        RunErrorKind::Interrupted { interrupts } => {
            let due_ms = first_expiry(interrupts).into_iter().chain(error.wakes_ms());
            (ThreadStatus::Waiting, due_ms.min())
        }
        RunErrorKind::Sleeping { .. } => (ThreadStatus::Sleeping, error.wakes_ms()),
        RunErrorKind::Cancelled | RunErrorKind::Drained { .. } if is_held => {
            (ThreadStatus::Held, None)
        }
        RunErrorKind::Cancelled | RunErrorKind::Drained { .. } => (ThreadStatus::Stopped, None),
        RunErrorKind::Thread { .. } => return None,
        _ => (ThreadStatus::Failed, None),
    })
}

/// Whether a run with this status waits for a person or a time.
fn is_pause(status: ThreadStatus) -> bool {
    matches!(status, ThreadStatus::Waiting | ThreadStatus::Sleeping)
}

/// Loads the thread and runs the flow.
///
/// Not an async function: such a function has copies of the futures that it makes on its stack while it awaits them, and
/// flows run inside each other. With these copies, ten levels overflow a stack of 2 MB.
fn run_opened(
    start: ThreadStart,
    flow: Arc<dyn AnyFlow>,
    settings: Settings,
) -> BoxFuture<'static, Result<StateBox, RunError>> {
    let loading = Box::pin(load(start, flow, settings));
    Box::pin(async move { loading.await?.await })
}

/// Loads the thread. The result runs the flow.
async fn load(
    mut start: ThreadStart,
    flow: Arc<dyn AnyFlow>,
    mut settings: Settings,
) -> Result<BoxFuture<'static, Result<StateBox, RunError>>, RunError> {
    let plan = flow.plan();
    settings.thread = Some(Arc::clone(&start.storage.thread));
    settings.namespace = start.namespace.clone();
    let refused = |error| RunError::of_thread(error, flow.name());
    let storage = start.storage.clone();
    let (begin_barrier, log, claimed) = (
        start.begin_barrier.take(),
        start.event_log.take(),
        start.claimed.take(),
    );
    let live = claimed.as_ref().map(ClaimedRun::live);
    let questions = claimed.as_ref().map(ClaimedRun::questions);
    let extras = settings.extras.as_ref();
    // A sub-flow is a part of the thread of its parent.
    let version = extras.and_then(|extras| extras.document.clone());
    let document = match version.filter(|_| start.nested.is_none()) {
        Some(version) => {
            let resumes = matches!(start.command, Command::Resume(_));
            let document = ThreadDocument::open(version, &storage, resumes);
            Some(Box::pin(document).await.map_err(refused)?)
        }
        None => None,
    };
    let opened = open_unanswered(&*flow, &plan, start).await;
    let mut opened = opened.map_err(|error| {
        refused(match &document {
            Some(document) => document.explain(error),
            None => error,
        })
    })?;
    if let Some(document) = document {
        store_beginning(&mut opened).await.map_err(refused)?;
        document.store(&storage).await.map_err(refused)?;
    }
    if let Some(begin_barrier) = begin_barrier {
        store_beginning(&mut opened).await.map_err(refused)?;
        claimed.inspect(ClaimedRun::set_open);
        begin_barrier.pass().await;
        if let Some(sink) = begin_barrier.sink.get() {
            settings.extras_mut().sink = Some(Arc::clone(sink));
        }
    } else if let Some(claimed) = claimed {
        claimed.set_open();
    }
    let log = log.map(|settings| Arc::new(EventLog::new(&storage, settings, live)));
    if let Some(log) = &log {
        if let Some(barrier) = &opened.loaded {
            let completed = log.complete(barrier).await;
            completed.map_err(|error| refused(error.into()))?;
        }
        let extras = settings.extras_mut();
        extras.sink = Some(Arc::new(LogSink {
            log: Arc::clone(&log.buffer),
            listener: extras.sink.take(),
        }));
    }
    let blocked = blocked_reason(opened.rejected, opened.waiting);
    opened.services.live = questions;
    let services = Arc::new(opened.services);
    let restored = Restored {
        state: opened.state,
        written: opened.written,
        planner: opened.planner,
        frontier: opened.frontier,
        superstep: opened.superstep,
        has_history: opened.writer.turn() > 1,
        services: Arc::clone(&services),
        blocked,
    };
    let (finished, lost, inbox) = (opened.finished, opened.lost, opened.inbox);
    let persistence =
        ThreadPersistence::new(opened.writer, services, finished, lost, log.clone(), inbox);
    let name = log.as_ref().map(|_| flow.name().to_string());
    let cancel = settings.cancel.clone();
    let persistence = Box::new(persistence);
    let run = Box::pin(run_restored(flow, settings, plan, restored, persistence));
    let (Some(log), Some(name)) = (log, name) else {
        return Ok(run);
    };
    Ok(Box::pin(async move {
        let ended = run.await;
        let is_held = cancel.is_some_and(|cancel| cancel.holds());
        end_log(&log, &name, is_held, ended).await
    }))
}

/// Opens the thread. If an answer is refused because another caller has answered in the meantime, the error says so.
async fn open_unanswered(
    flow: &dyn AnyFlow,
    plan: &ExecutionPlan,
    start: ThreadStart,
) -> Result<OpenedThread, ThreadError> {
    let (storage, targets) = (start.storage.clone(), start.command.targets());
    match Box::pin(open(flow, plan, start)).await {
        // That an earlier question was answered says nothing about those that are open.
        Err(error @ ThreadError::Answer(AnswerError::Ambiguous { .. })) => Err(error),
        Err(error @ ThreadError::Answer(_)) => {
            Err(match check_unanswered(&storage, plan, &targets).await {
                Err(answered @ ThreadError::Answer(_)) => answered,
                _ => error,
            })
        }
        // Without an error, or with one of a store: a store that failed may have recorded this answer.
        opened => opened,
    }
}

/// Waits until the store has what the run begins with.
async fn store_beginning(opened: &mut OpenedThread) -> Result<(), ThreadError> {
    let committed = Committed {
        state: &*opened.state,
        written: opened.written,
    };
    opened.writer.flush(committed).await
}

/// Why a thread that was opened does not run.
fn blocked_reason(
    rejected: Option<DecisionRecord>,
    waiting: Vec<Interrupt>,
) -> Option<RunErrorKind> {
    if let Some(decision) = rejected {
        return Some(RunErrorKind::rejected(decision));
    }
    (!waiting.is_empty()).then_some(RunErrorKind::Interrupted {
        interrupts: waiting,
    })
}

/// Ends the event log of a run that has ended.
async fn end_log(
    log: &EventLog,
    flow: &str,
    is_held: bool,
    ended: Result<StateBox, RunError>,
) -> Result<StateBox, RunError> {
    let is_end = |status| status == ThreadStatus::Finished || is_pause(status);
    match log.end(ended.as_ref().err(), is_held).await {
        // A failure of the run is the cause. But a pause that is not among the events is not a pause.
        Err(error) if status(&ended, false).is_some_and(|(status, _)| is_end(status)) => {
            Err(RunError::of_thread(error.into(), flow))
        }
        _ => ended,
    }
}
