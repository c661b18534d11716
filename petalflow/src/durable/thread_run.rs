//! A run on a thread: its claim, its managed values, and the driver between opening and closing it.

use std::sync::Arc;

use super::claim::ThreadClaim;
use super::open::open;
use super::opener::OpenedThread;
use super::persistence::ThreadPersistence;
use super::prune::prune;
use super::thread_ops::first_expiry;
use super::thread_start::{Command, ThreadStart};
use crate::checkpoint::ThreadStatus;
use crate::exec::{Restored, Settings, StoredRun, run_restored};
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::node::ManagedValues;
use crate::outcome::{RunError, RunErrorKind, ThreadError, check_id};
use crate::state::State;

impl<F: Flow> StoredRun<F> for ThreadStart<F::State> {
    fn thread(&self) -> &Arc<str> {
        &self.storage.thread
    }

    fn take_input(&mut self) -> Option<<F::State as State>::Input> {
        match std::mem::replace(&mut self.command, Command::Resume(Box::default())) {
            Command::Input(input) => Some(input),
            resume @ Command::Resume(_) => {
                self.command = resume;
                None
            }
        }
    }

    fn set_input(&mut self, input: <F::State as State>::Input) {
        self.command = Command::Input(input);
    }

    fn discard_pending(&mut self) {
        self.discard_pending = true;
    }

    fn run(
        self: Box<Self>,
        flow: Arc<F>,
        settings: Settings<F::State>,
    ) -> BoxFuture<'static, Result<F::State, RunError>> {
        Box::pin(run_claimed(*self, flow, settings))
    }
}

/// Claims the thread, runs the flow, and releases the thread.
async fn run_claimed<F: Flow>(
    mut start: ThreadStart<F::State>,
    flow: Arc<F>,
    mut settings: Settings<F::State>,
) -> Result<F::State, RunError> {
    let refused = |error: ThreadError| RunError::of_thread(error, flow.name());
    check_id(&start.storage.thread).map_err(refused)?;
    // A sub-flow uses the claim of the outermost flow.
    let claim = if start.nested.is_some() {
        None
    } else {
        let claimed = ThreadClaim::get(&start.storage, start.on_busy, &mut settings.cancel).await;
        let claimed = claimed.map_err(refused)?;
        start.storage.lease = claimed.lease();
        Some(claimed)
    };
    if let Some(managed) = &settings.managed {
        let made = ManagedValues::restored(managed, &start.storage.thread).await;
        let failed = |(name, error)| RunError::of_managed(name, error, flow.name());
        settings.managed = Some(made.map_err(failed)?);
    }
    let (storage, retention) = (start.storage.clone(), start.retention);
    let Some(claim) = &claim else {
        return run_opened(start, Arc::clone(&flow), settings).await;
    };
    let loading = Box::pin(load(start, Arc::clone(&flow), settings));
    let run = async {
        let ended = loading.await?.await;
        let Some((status, due_ms)) = status(&ended) else {
            return ended;
        };
        let closed = async {
            let flow = flow.stored_name();
            storage.describe(flow, status, due_ms).await?;
            prune(&storage, retention).await
        };
        match closed.await {
            // Only the status says when a paused thread is due.
            Err(error) if ended.is_ok() || status == ThreadStatus::Waiting => Err(refused(error)),
            _ => ended,
        }
    };
    claim.hold(run).await
}

/// What is listed of a thread after a run, and when it is due. `None` if the thread belongs to another run.
#[inline]
fn status<S>(ended: &Result<S, RunError>) -> Option<(ThreadStatus, Option<u64>)> {
    let Err(error) = ended else {
        return Some((ThreadStatus::Finished, None));
    };
    Some(match error.kind() {
        RunErrorKind::Interrupted { interrupts } => {
            (ThreadStatus::Waiting, first_expiry(interrupts))
        }
        RunErrorKind::Cancelled | RunErrorKind::Drained { .. } => (ThreadStatus::Stopped, None),
        RunErrorKind::Thread { .. } => return None,
        _ => (ThreadStatus::Failed, None),
    })
}

/// Loads the thread and runs the flow.
///
/// Not an async function: such a function has copies of the futures that it makes on its stack while it awaits them, and
/// flows run inside each other. With these copies, ten levels overflow a stack of 2 MB.
fn run_opened<F: Flow>(
    start: ThreadStart<F::State>,
    flow: Arc<F>,
    settings: Settings<F::State>,
) -> BoxFuture<'static, Result<F::State, RunError>> {
    let loading = Box::pin(load(start, flow, settings));
    Box::pin(async move { loading.await?.await })
}

/// Loads the thread. The result runs the flow.
async fn load<F: Flow>(
    start: ThreadStart<F::State>,
    flow: Arc<F>,
    mut settings: Settings<F::State>,
) -> Result<BoxFuture<'static, Result<F::State, RunError>>, RunError> {
    let plan = flow.plan();
    settings.thread = Some(Arc::clone(&start.storage.thread));
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
    let blocked = if let Some(decision) = rejected {
        Some(RunErrorKind::Rejected {
            node: decision.node,
            by: decision.by,
            reason: decision.reason,
        })
    } else if waiting.is_empty() {
        None
    } else {
        Some(RunErrorKind::Interrupted {
            interrupts: waiting,
        })
    };
    let services = Arc::new(services);
    let restored = Restored {
        state,
        written,
        planner,
        frontier,
        superstep,
        has_history: writer.turn() > 1,
        services: Arc::clone(&services),
        blocked,
    };
    let persistence = ThreadPersistence::new(writer, services, finished);
    let run = run_restored(flow, settings, plan, restored, persistence);
    Ok(Box::pin(run))
}
